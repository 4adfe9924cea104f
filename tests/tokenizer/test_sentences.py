import math
import time
import zlib
from collections.abc import Callable
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokenizer import Tokenizer
from tokenizer.sentences import FIRST_GUESS, WINDOW, split_sentences, split_to_fit

LANGUAGES = ["en", "de", "fr", "zh", "de-AT", "EN", "xx", ""]
FRAGMENTS = [
    *".!?…。？；，:-– \n\r\t\u2028\u2029\x85\x0b\x1c\u00a0\u3000()[]“”„«»『』\"'aZäÄ5漢🚀",
    *["👩\u200d👩\u200d👧", "👍🏽", "🇩🇪", "e\u0301", "क्ष", "\ufeff", "\u200b", "\ud83d", "\r\n"],
    *["1. ", "Dr. ", "z. B. ", "am 3. ", "der 2. ", "Er ", "M. ", "https://a.b/C.D?E ", "word " * 9],
]
TEXTS = st.text() | st.lists(st.sampled_from(FRAGMENTS)).map("".join)

# Each "|" is a boundary; blanks belong to the sentence before it.
SENTENCES = {
    "en": [
        "Dr. Lang and Mrs. Poe met Prof. Hill. |They shook hands.",
        "She moved to the U.S. in May. |He stayed behind.",
        "The shop opens at 9 a.m. on weekdays. |It closes at noon.",
        "Bring fruit, e.g. apples, i.e. something fresh. |Thanks!",
        "Room No. 5 is free. |See Fig. 3 and vol. 2 for the plan.",
        "It weighs 3.14 kg. |Version 2.0 is lighter.",
        "“Come in.” |She sat down.",
        '"Stop!" he said. |"Why?" |Nobody knew.',
        "Wait... what? |I thought... |Never mind.",
        "What?! |No way!! |Really?",
        "1. Wash the rice. |2. Boil it. |3. Serve.",
        "I. Introduction. |II. Methods.",
        "See https://example.org/a.b?c=d and https://a.org/?Q=1 first. |Then ask a.b@example.org. |Done.",
        "We use Node.js and .NET here. |They do not.",
        "It is 20 °C. |It costs 5 %. |Fine.",
        "J. K. Rowling wrote it. |George W. Bush read it.",
        "Hello. |Éva waves. |5 people wave back.",
    ],
    "de": [
        "Dr. Lang und Prof. Hill kamen. |Sie gaben sich die Hand.",
        "Obst, z. B. Äpfel, hilft. |Das gilt z.B. auch für Birnen.",
        "Das ist d. h. richtig, u. a. für Frau Dr. Lang. |Gut.",
        "Zimmer Nr. 5 ist frei. |Siehe Abb. 3 und S. 12.",
        "Am 3. Mai fuhr er los. |Am 3. Oktober kam er an.",
        "Am 31. 12. 2020 war Schluss. |Am 3.10.1990 nicht.",
        "Der 2. Weltkrieg war vorbei. |Im 19. Jahrhundert war alles anders.",
        "Er geht in die 3. Klasse. |Sie ist in der 1. und 2. Stunde krank.",
        "Meine 3. Tochter kam zum 2. Mal. |In der 90. Minute fiel das Tor.",
        "Ich bin 30. |Du bist 20.",
        "Heute ist der 3. |Er kommt morgen.",
        "Das war 1990. |Danach zog sie um.",
        "Es kostet 3.500,50 Euro inkl. Versand. |Gut.",
        "Heinrich VIII. war König. |Ludwig XIV. auch.",
        "Dipl.-Ing. Lang und Hrn. Hill danken wir. |Frl. Poe auch.",
        "Er rief: „Komm!“ |Dann ging er. |„Ich bleibe.“ |Sie blieb.",
        "Er rief: »Komm!« |Dann ging er.",
        "Warte ... |Was? |Ja?! |Nein!",
        "1. Den Reis waschen. |Fertig.",
        "Um 10.30 Uhr bzw. ca. 11 Uhr. |Bis dann.",
        "Siehe https://example.org/a.b?c=d dort. |Oder schreib an a.b@example.org. |Danke.",
        "Ich komme aus St. Gallen. |Österreich ist nah.",
    ],
    "fr": ["M. Lang est là. |Mlle Poe aussi. |« Bonjour ! » dit-il. |Quoi ? |Rien."],
    "zh": [
        "你好。|世界！|你在吗？|在。",
        "“你好。”|他走了。",
        "『好！』|她说。",
        "真的吗？！|真的！！",
        "价格是3.5元。|网址是https://example.org/a。|好。",
        "你好.|再见.",
    ],
    "ja": ["元気ですか。|はい。|「そう。」|と言った。"],
    "xx": ["Hello there. |Who is it? |你好。|Me."],
}


# --- split_sentences


@pytest.mark.parametrize(
    ("language", "marked"), [(language, marked) for language, rows in SENTENCES.items() for marked in rows]
)
def test_sentences_end_where_a_reader_ends_them(language: str, marked: str) -> None:
    assert split_sentences(marked.replace("|", ""), language) == marked.split("|")


@given(TEXTS, st.sampled_from(LANGUAGES))
def test_joined_sentences_are_the_text(text: str, language: str) -> None:
    sentences = split_sentences(text, language)
    assert "".join(sentences) == text
    assert all(sentences)


@given(TEXTS, st.lists(TEXTS))
def test_no_text_is_lost_when_the_library_loses_or_moves_some(text: str, answer: list[str]) -> None:
    with patch("sentencex.segment", return_value=answer):
        assert "".join(split_sentences(text, "en")) == text


@given(TEXTS, st.sampled_from(LANGUAGES))
def test_a_line_end_always_ends_a_sentence(text: str, language: str) -> None:
    assert not [sentence for sentence in split_sentences(text, language) if len(sentence.splitlines()) != 1]


def test_blank_lines_and_indentation_stay_where_they_are() -> None:
    text = "  One. Two.\n\n\n\tThree\r\n\r\n"
    assert split_sentences(text, "en") == ["  One. ", "Two.\n", "\n", "\n", "\tThree\r\n", "\r\n"]


def test_a_region_does_not_change_the_language() -> None:
    for language in ("de", "DE", "de-AT", "de_CH"):
        assert split_sentences("Am 3. Mai. Ja.", language) == ["Am 3. Mai. ", "Ja."]


def test_a_line_of_many_windows_is_split_as_a_short_one() -> None:
    sentence = "The gardener, e.g. at 5 p.m., finds the bridge. "
    count = 5 * WINDOW // len(sentence)
    assert split_sentences(count * sentence, "en") == count * [sentence]


@pytest.mark.parametrize(
    "text", ["a", "漢", "“", "(", ". ", "A. ", "“a. ", "1. ", "der 2. ", '"', "\n", "!", "\u0301"]
)
@pytest.mark.parametrize("language", ["en", "de"])
def test_splitting_a_hundred_thousand_characters_takes_less_than_two_seconds(
    text: str, language: str
) -> None:
    text *= 100_000 // len(text)
    start = time.perf_counter()
    assert "".join(split_sentences(text, language)) == text
    assert time.perf_counter() - start < 2


# --- split_to_fit


def at_most(characters: int) -> Callable[[str], bool]:
    return lambda text: len(text) <= characters


@given(TEXTS, st.integers(1, 30))
def test_parts_fit_and_make_up_the_sentence(sentence: str, characters: int) -> None:
    parts = split_to_fit(sentence, at_most(characters))
    assert "".join(parts) == sentence
    assert all(0 < len(part) <= characters for part in parts)


@given(TEXTS, st.integers(13, 40))
def test_parts_fit_when_a_shorter_text_may_have_more_pieces(
    tokenizer: Tokenizer, sentence: str, pieces: int
) -> None:
    # One character can have 13 pieces: NFC takes U+1D160 apart into three, of four bytes each.
    parts = split_to_fit(sentence, lambda text: len(tokenizer.encode(text)) <= pieces)
    assert "".join(parts) == sentence
    assert all(len(tokenizer.encode(part)) <= pieces for part in parts)


@given(TEXTS)
def test_parts_fit_whatever_fits(sentence: str) -> None:
    def fits(text: str) -> bool:
        return len(text) == 1 or zlib.crc32(text.encode(errors="surrogatepass")) % 2 == 0

    parts = split_to_fit(sentence, fits)
    assert "".join(parts) == sentence
    assert all(map(fits, parts))


@pytest.mark.parametrize(
    ("characters", "marked"),
    [
        (40, "It fits as it is."),
        (20, "When it rains, |we stay; |when the sun |shines, we go."),
        (20, "Er sagt: |„Ich komme.“ Dann, |um 10:30 Uhr, |geht er – |meist allein."),
        (12, "Seiten 3–5, |3,5 kg, |ein Wort—|und das."),
        (10, "no marks |here at |all, see"),
        (6, "一二，三四；|五六：七。|八九十一二三|四"),
        (5, "wordl|essne|ss"),
        (5, "  |a    |     | b"),
    ],
)
def test_a_part_ends_after_a_clause_or_else_after_a_word(characters: int, marked: str) -> None:
    assert split_to_fit(marked.replace("|", ""), at_most(characters)) == marked.split("|")


@pytest.mark.parametrize(
    "character",
    [
        "👩\u200d👩\u200d👧",
        "👍🏽",
        "🇩🇪",
        "e\u0301",
        "क्ष",
        "❤\ufe0f",
        "🏴\U000e0067\U000e0062\U000e007f",
        "\r\n",
        "م\u200c",
    ],
)
def test_a_visible_character_stays_whole(character: str) -> None:
    for characters in range(len(character), 3 * len(character)):
        parts = split_to_fit(20 * character, at_most(characters))
        assert set(parts) <= {count * character for count in range(1, 3)}


def test_a_visible_character_that_does_not_fit_is_cut() -> None:
    assert split_to_fit("xe\u0301\u0327", at_most(2)) == ["x", "e\u0301", "\u0327"]


def test_what_can_never_fit_is_an_error() -> None:
    with pytest.raises(ValueError, match="single character '漢'"):
        split_to_fit("a漢", lambda text: len(text.encode()) <= 2)


def test_an_empty_sentence_has_no_parts() -> None:
    assert split_to_fit("", at_most(1)) == []


@given(st.integers(1, 400))
def test_parts_without_blanks_are_as_long_as_they_can_be(characters: int) -> None:
    parts = split_to_fit("a" * 1000, at_most(characters))
    assert len(parts) == math.ceil(1000 / characters)


def test_a_sentence_that_fits_costs_one_call() -> None:
    calls: list[str] = []
    split_to_fit("a" * 10_000, lambda text: not calls.append(text))  # type: ignore[func-returns-value]
    assert len(calls) == 1


@pytest.mark.parametrize("text", ["a", "word ", "A clause, "])
@pytest.mark.parametrize("characters", [10, 100, 1000])
def test_a_part_costs_a_number_of_calls_that_grows_with_the_logarithm_of_its_length(
    text: str, characters: int
) -> None:
    asked: list[int] = []

    def fits(part: str) -> bool:
        asked.append(len(part))
        return len(part) <= characters

    parts = split_to_fit(text * (20_000 // len(text)), fits)
    assert len(asked) <= len(parts) * (2 * math.log2(characters) + 4) + 10
    assert max(asked[1:]) <= max(FIRST_GUESS, 2 * characters)


@pytest.mark.parametrize(
    "text", ["a", "_", "漢", "🚀", "a\u0301\u0327", "word, and ", "▁", " ", ";”", "🇩🇪", "\u0301"]
)
def test_cutting_up_fifty_thousand_characters_takes_less_than_two_seconds(
    tokenizer: Tokenizer, text: str
) -> None:
    text *= 50_000 // len(text)
    start = time.perf_counter()
    parts = split_to_fit(text, lambda part: len(tokenizer.encode(part)) <= 256)
    assert "".join(parts) == text
    assert time.perf_counter() - start < 2
