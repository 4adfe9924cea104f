"""HTML and XML through the whole way: what is markup stays markup, what is text stays text."""

from __future__ import annotations

import html
import re
from random import Random

import pytest

from service.errors import InvalidValue
from service.text.reading import Reading
from tests.service.text.echo import translated
from tests.service.text.markup.pages import block_tags, elements, page, soup, tags

HTML = Reading(markup="html")
XML = Reading(markup="xml")


def backwards(source: str) -> tuple[str, list[int]]:
    """The words of a sentence in reverse, its last mark at the end."""
    words = [(match[0], match.start()) for match in re.finditer(r"\[X\d+X\]|\w+|[^\w\s]", source)]
    end = words[-1:] if words and words[-1][0] in ".!?" else []
    order = [*reversed(words[: len(words) - len(end)]), *end]
    text, places = "", []
    for word, start in order:
        if text and word not in ".!?":
            text += " "
            places.append(start)
        text += word
        places += range(start, start + len(word))
    return text, places


def louder(source: str) -> str:
    return source.upper()


def sentences_of(source: str, reading: Reading) -> list[str]:
    """What the model gets to read."""
    heard: list[str] = []

    def listen(sentence: str) -> str:
        heard.append(sentence)
        return sentence.upper()

    translated(source, reading, listen)
    return heard


def test_500_pages_keep_their_tags_attributes_and_nesting() -> None:
    random = Random(7)
    for _ in range(500):
        source = page(random)
        written = translated(source, HTML, backwards)
        assert tags(written) == tags(source)
        assert block_tags(written) == block_tags(source)
        assert elements(written) == elements(source)


def test_with_a_translator_that_changes_nothing_200_pages_stay_as_they_are_but_for_blanks() -> None:
    random = Random(8)
    for _ in range(200):
        source = page(random)
        assert "".join(translated(source, HTML).split()) == "".join(source.split())


@pytest.mark.parametrize("count", [300, pytest.param(10_000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("reading", [HTML, XML], ids=lambda reading: reading.markup)
def test_no_soup_raises(count: int, reading: Reading) -> None:
    random = Random(9)
    for _ in range(count):
        source = soup(random)
        try:
            translated(source, reading, backwards)
        except InvalidValue:
            assert reading is XML


def test_markup_that_is_shown_never_becomes_live() -> None:
    random = Random(10)
    for _ in range(300):
        shown = html.escape(soup(random).replace("\0", "").replace("\ud800", ""), quote=False)
        written = translated(f"<p>See {shown} <b>there</b> now.</p>", HTML, backwards)
        assert set(re.findall(r"<[^>]*>?", written)) == {"<p>", "</p>", "<b>", "</b>"}
        assert not re.search(r">(?!$|[^<]*<)", written.replace("&gt;", ""))


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("<p>See <b>one</b> two.</p>", "<p>two <b>one</b> See.</p>"),
        ("<p>a <b>b <i>c</i></b> d.</p>", "<p>d <b><i>c</i> b</b> a.</p>"),
        (
            '<p>the <a href="/x?a=1&amp;b">red car</a> stops.</p>',
            '<p>stops <a href="/x?a=1&amp;b">car red</a> the.</p>',
        ),
        ("<p>one two<img src=x> three.</p>", "<p>three two one<img src=x>.</p>"),
    ],
)
def test_a_tag_stays_around_the_words_it_was_around(source: str, expected: str) -> None:
    assert translated(source, HTML, backwards) == expected


@pytest.mark.parametrize(
    "kept",
    [
        "<!-- a comment -->",
        "<script>let word = '<p>';</script>",
        "<style>p { color: red }</style>",
        "<pre>as  it\n is</pre>",
        "<code>ls -l</code>",
        '<span translate="no">Big Ben</span>',
        '<span class="a notranslate">Big <b>Ben</b></span>',
        '<svg viewBox="0 0 1 1"><text>word</text></svg>',
        '<img alt="a word" src="x">',
        "<textarea>typed</textarea>",
    ],
)
def test_what_is_not_to_be_translated_comes_back_byte_for_byte(kept: str) -> None:
    written = translated(f"<p>before</p>{kept}<p>and {kept} after</p>", HTML, louder)
    assert written.count(kept) == 2
    assert written.startswith("<p>BEFORE</p>")
    assert "AND" in written
    assert "AFTER" in written


@pytest.mark.parametrize(
    "source", ["<p></p>", "<ul>\n  <li> 12 </li>\n</ul>", "<br><hr/>", "&nbsp;", "<p>&#128512; 1 &lt; 2</p>"]
)
def test_markup_without_a_letter_comes_back_byte_for_byte(source: str) -> None:
    assert translated(source, HTML, louder) == source


def test_inline_tags_do_not_cut_a_sentence_and_blocks_do() -> None:
    assert sentences_of("<div>One <b>two <i>three</i></b> four<p>five</p>six<br>seven</div>", HTML) == [
        "One two three four",
        "five",
        "six",
        "seven",
    ]


def test_line_breaks_of_a_page_are_blanks() -> None:
    assert sentences_of("<p>one\n   two</p>", HTML) == ["one two"]


def test_a_tag_that_opens_in_one_block_and_closes_in_another_stays_at_their_edges() -> None:
    source = "<p>one <b>two<p>three</b> four."
    assert translated(source, HTML, louder) == "<p>ONE <b>TWO<p>THREE</b> FOUR."
    assert tags(translated(source, HTML, backwards)) == tags(source)


@pytest.mark.parametrize(
    "source", ["it&#39;s &quot;so&quot;", 'it\'s "so"', "a&nbsp;b", "AT&amp;T", "Caf&eacute; bar"]
)
def test_entities_are_written_as_the_source_writes_them(source: str) -> None:
    written = translated(f"<p>{source}</p>", HTML)
    assert written in (f"<p>{source}</p>", f"<p>{html.unescape(source)}</p>".replace("&T", "&amp;T"))
    assert ("&#39;" in written) == ("&#39;" in source)
    assert ("&quot;" in written) == ("&quot;" in source)


@pytest.mark.parametrize("placeholder", ['<x id="7"></x>', '<x id="7"/>', "<x/>"])
@pytest.mark.parametrize("reading", [HTML, XML, Reading(markup="xml", ignore_tags=frozenset({"x"}))])
def test_a_placeholder_tag_stands_for_a_word(placeholder: str, reading: Reading) -> None:
    assert translated(f"Hello {placeholder}, you there.", reading, backwards) in (
        f"there you , {placeholder} Hello.",
        f"there you, {placeholder} Hello.",
    )


def test_ignored_tags_keep_what_they_hold() -> None:
    reading = Reading(markup="xml", ignore_tags=frozenset({"keep"}))
    assert (
        translated("one <keep a='1'>two</keep> three", reading, louder) == "ONE <keep a='1'>two</keep> THREE"
    )


def test_splitting_tags_end_a_sentence_and_non_splitting_tags_do_not() -> None:
    splitting = Reading(markup="xml", splitting_tags=frozenset({"s"}))
    assert sentences_of("one <s/>two <t>three</t>", splitting) == ["one", "two three"]
    frame = "<d><u>one</u> <u>two</u></d>"
    assert sentences_of(frame, XML) == ["one", "two"]
    assert sentences_of(frame, Reading(markup="xml", non_splitting_tags=frozenset({"u"}))) == ["one two"]
    joined = Reading(markup="html", non_splitting_tags=frozenset({"div"}))
    assert sentences_of("<p>one <div>two</div></p>", joined) == ["one two"]


def test_without_an_outline_only_splitting_tags_split() -> None:
    frame = "<d><u>one</u> <u>two</u></d>"
    assert sentences_of(frame, Reading(markup="xml", finds_outline=False)) == ["one two"]


def test_sentences_0_leaves_a_block_whole() -> None:
    reading = Reading(markup="html", sentences="0")
    assert sentences_of("<p>One. Two.</p>", reading) == ["One. Two."]


def test_tags_nested_as_deep_as_a_request_may_be_large_do_not_raise() -> None:
    depth = 5_000
    source = "<b>" * depth + "deep" + "</b>" * depth
    assert translated(source, HTML, louder) == source.replace("deep", "DEEP")
