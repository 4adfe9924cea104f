"""Cutting keeps every character; putting back changes sentences only."""

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tokenizer.segments import Segment, cut, has_letter, put_back, tidy

BREAKS = re.compile(r"[\n\r\v\f\x1c-\x1e\x85\u2028\u2029\t]")
LAYOUT = st.sampled_from(
    ["\n", "\r\n", "\r", "\t", " ", "  ", "    ", "\u00a0", "\u2028", "\x85", "\x1c", "\u3000", "\f"]
)
WORDS = st.sampled_from(
    ["Hello", "Straße", "z. B.", "3.", "Mr. Fox", "…", "?", "!", "你好。", "|", "* * *", "😀", "e\u0301"]
)
TEXTS = st.one_of(st.text(), st.lists(st.one_of(LAYOUT, WORDS, st.text(max_size=5))).map("".join))


def fits(text: str) -> bool:
    return len(text) <= 30


@given(TEXTS)
@example("  name:\tAnna\n\n    indented line  \nlast")
@example("a\r\nb\r\rc\x85d\u2028e")
def test_segments_joined_are_the_text(text):
    segments = cut(text, "en", fits)
    assert "".join(segment.text for segment in segments) == text
    sentences = [segment.text for segment in segments if segment.is_sentence]
    assert put_back(segments, iter(sentences), source_language="en", target_language="de") == text


@given(TEXTS)
def test_sentences_are_bare_have_a_letter_and_fit(text):
    for segment in cut(text, "de", fits):
        if segment.is_sentence:
            assert has_letter(segment.text)
            assert segment.text == segment.text.strip()
            assert fits(segment.text)
            assert len(segment.text.splitlines()) == 1


@given(TEXTS, st.text())
def test_whatever_the_model_says_the_line_breaks_stay(text, translation):
    segments = cut(text, "en", fits)
    translations = iter([translation] * len(segments))
    result = put_back(segments, translations, source_language="en", target_language="de")
    assert BREAKS.findall(result) == BREAKS.findall(text)


@pytest.mark.parametrize(
    "text",
    ["", " ", "\n", "|", "-", "...", "？！", "—", "•", "* * *", "12345", "3.14", "1. ", "::", "#", "😀"],
)
def test_letterless_text_has_no_sentences(text):
    assert not any(segment.is_sentence for segment in cut(text, "en", fits))


def test_tabs_and_columns_separate_sentences():
    assert cut("Name:\tAnna    Smith\n  She lives.  He too.", "en", fits) == [
        Segment("Name:", True),
        Segment("\t", False),
        Segment("Anna", True),
        Segment("    ", False),
        Segment("Smith", True),
        Segment("\n", False),
        Segment("  ", False),
        Segment("She lives.", True),
        Segment("  ", False),
        Segment("He too.", True),
    ]


def test_eight_short_sentences_are_eight_segments_wrapped_or_not():
    numbers = ["one", "two", "three", "four", "five", "six", "seven", "eight"]
    paragraph = " ".join(f"This is number {number}." for number in numbers)
    assert sum(segment.is_sentence for segment in cut(paragraph, "en", fits)) == 8
    wrapped = paragraph.replace("five.", "five.\n")
    assert [s for s in cut(wrapped, "en", fits) if s.is_sentence] == [
        s for s in cut(paragraph, "en", fits) if s.is_sentence
    ]


def test_a_sentence_that_is_too_long_loses_nothing():
    sentence = " ".join(f"word{number}" for number in range(1500))
    parts = [segment.text for segment in cut(sentence, "en", fits) if segment.is_sentence]
    assert " ".join(parts).split() == sentence.split()


def test_sentences_of_a_language_without_blanks_get_one_where_the_other_needs_it():
    segments = cut("你好。你是谁？", "zh", fits)
    assert sum(segment.is_sentence for segment in segments) == 2
    english = put_back(segments, iter(["Hello.", "Who are you?"]), source_language="zh", target_language="en")
    assert english == "Hello. Who are you?"
    japanese = put_back(
        segments, iter(["こんにちは。", "誰ですか？"]), source_language="zh", target_language="ja"
    )
    assert japanese == "こんにちは。誰ですか？"


def test_a_translation_cannot_bring_layout_with_it():
    assert tidy(" a\nb\tc   d \r\n") == "a b c d"
