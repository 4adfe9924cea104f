"""What users of other services ask for and complain of, each a fact about this one's way with texts."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.text.blocks import Block
from service.text.reading import Reading
from tests.service.text.echo import Echo, translated, translated_parts

WRAPPED = Reading(sentences="nonewlines")
HTML = Reading(markup="html")
STRINGS = [
    *("{{a.b}}", "{0}", "%1$s", "%(n)s", "${x}", ":name", '<x id="1"/>', '<x id="7"></x>', "[X7X]", "[X12X]"),
    *(
        "https://host.example/a?b=1",
        "anna@mail.example",
        "@user",
        "#tag",
        "`code`",
        "😆",
        "👩‍💻",
        "™",
        "𝄞",
        "\ufffc",
    ),
]


def german(source: str) -> str:
    """Other words, as many of them."""
    return re.sub(r"\b(?<!\[)[a-zA-Z]+\b(?!\])", lambda match: match[0][::-1] + "o", source)


def heard_in(text: str, reading: Reading = WRAPPED) -> list[str]:
    heard: list[str] = []

    def listen(source: str) -> str:
        heard.append(source)
        return german(source)

    translated(text, reading, listen)
    return heard


# --- 2: text cut off


def test_forty_sentences_come_back_as_forty_each_as_it_is_alone() -> None:
    sentences = [f"This is sentence {number}." for number in range(40)]
    together = translated(" ".join(sentences), say=german)
    assert together == " ".join(translated(sentence, say=german) for sentence in sentences)


def test_a_sentence_of_1500_words_without_stops_loses_none() -> None:
    words = [f"word{number}x" for number in range(1500)]
    written = translated_parts([Block(" ".join(words))], Reading(), Echo(str.upper, longest=300))
    assert written.lower().split() == words


# --- 6: layout


@given(
    lines=st.lists(
        st.sampled_from(["", "  ", "\tOne two.", "    three", "Four. Five!", "  six  "]), max_size=8
    ),
    end=st.sampled_from(["\n", "\r\n", "\r", "\u2028"]),
)
def test_the_skeleton_of_lines_and_indentation_stays(lines: list[str], end: str) -> None:
    text = end.join(lines)
    written = translated(text, say=german)
    skeleton = re.compile(r"(?:^|[\r\n\u2028])[ \t]*")
    assert skeleton.findall(written) == skeleton.findall(text)
    assert len(written.split(end)) == len(text.split(end))


def test_a_wrapped_paragraph_is_translated_as_if_it_were_not() -> None:
    flat = "The old man went to the river and sat down. He waited for a long time."
    wrapped = flat.replace("river and", "river\nand").replace("He waited", "He\nwaited")
    assert translated(wrapped, WRAPPED, german) == translated(flat, WRAPPED, german)
    assert heard_in(wrapped) == heard_in(flat)


def test_nonewlines_keeps_paragraphs_apart() -> None:
    assert heard_in("one\ntwo\n\nthree") == ["one two", "three"]


def test_split_sentences_0_leaves_each_line_whole() -> None:
    assert heard_in("One. Two.\nThree.", Reading(sentences="0")) == ["One. Two.", "Three."]


def test_strings_of_programs_may_have_written_line_breaks() -> None:
    assert translated(r"Line one\nLine two", say=str.upper) == r"LINE ONE\nLINE TWO"


# --- 7: placeholders, addresses, code


@pytest.mark.parametrize("string", STRINGS)
@pytest.mark.parametrize(
    "sentence",
    ["Please open {} now.", "{} has arrived.", "You have {}", "Look ({}), and go on!", "{}: see below"],
)
def test_a_string_that_must_not_change_occurs_once_and_unchanged(string: str, sentence: str) -> None:
    written = translated(sentence.replace("{}", string), say=german)
    assert written.count(string) == 1
    assert "[X0X]" not in written


def test_a_sentence_with_every_string_keeps_every_string() -> None:
    text = " and ".join(STRINGS)
    written = translated(text, say=german)
    for string in STRINGS:
        assert written.count(string) == text.count(string)


def test_what_looks_like_our_own_stand_in_is_text_like_any_other() -> None:
    assert translated("see [X1X] and [X0X] here", say=german).count("[X1X]") == 1


# --- 9: digits


def test_the_lines_of_a_numbered_list_keep_their_numbers() -> None:
    text = "\n".join(map(str, range(1, 32)))
    assert translated(text, say=german) == text
    steps = "\n".join(f"{number}. step" for number in range(1, 32))
    assert re.findall(r"\d+", translated(steps, say=german)) == [str(number) for number in range(1, 32)]


def test_a_model_that_changes_numbers_is_made_to_keep_them() -> None:
    def careless(source: str) -> str:
        return source.replace("4711", "4117").replace("parcel", "Paket")

    assert translated("Your parcel 4711 is here.", say=careless) == "Your Paket 4711 is here."


# --- 10: emoji


@pytest.mark.parametrize("symbol", ["😆", "𝄞", "™", "\ufffc", "👍🏽"])
def test_what_follows_a_symbol_is_translated(symbol: str) -> None:
    written = translated(f"The keys are here. {symbol} They came by mail.", say=str.upper)
    assert written == f"THE KEYS ARE HERE. {symbol} THEY CAME BY MAIL."


@pytest.mark.parametrize(
    "text", ["😀", "😀 👍🏽", "|", "...", "？！", "* * *", "12345", "(c)1", "1. ", "::", "#", "&amp;"]
)
def test_text_without_a_word_is_hardly_touched(text: str) -> None:
    assert translated(text, say=lambda source: source) == text


# --- 4 and 5: case, stops, brackets


@pytest.mark.parametrize("word", ["PhoQP", "10 KBps", "iPhone", "McDonald", "Acme Inc."])
def test_nothing_is_recased_or_loses_its_stop(word: str) -> None:
    assert word in translated(f"The new {word}", say=lambda source: source.replace("The new", "Das neue"))


# --- 8: markup


def test_a_mention_in_a_toot_stays_a_link() -> None:
    mention = (
        '<span class="h-card"><a href="https://a.example/@anna" class="u-url">@<span>anna</span></a></span>'
    )
    link = '<a href="https://a.example/x"><span class="invisible">https://</span><span>a.example/x</span></a>'
    source = f"<p>{mention} good morning! See {link} now.</p>"
    assert translated(source, HTML, str.upper) == f"<p>{mention} GOOD MORNING! SEE {link} NOW.</p>"


def test_escaped_markup_stays_escaped() -> None:
    written = translated("<p>Write &lt;script&gt;alert(1)&lt;/script&gt; there</p>", HTML, str.upper)
    assert "<script" not in written.lower()
    assert written.lower().count("&lt;script&gt;") == 1


# --- 24: terms


def test_terms_are_forced_neighbours_untouched_and_other_text_the_same() -> None:
    terms = Reading(terms={"train": "Bahn"})
    without = translated("the trains are old", say=german)
    assert translated("the trains are old", terms, german) == without
    assert "Bahn" in translated("the train is old", terms, german)


def test_a_protected_string_inside_html_with_terms_keeps_its_place() -> None:
    reading = Reading(markup="html", terms={"file": "Datei"})
    written = translated("<p>Open <b>file</b> {name}</p>", reading, german)
    assert "Datei" in written
    assert written.count("{name}") == 1
