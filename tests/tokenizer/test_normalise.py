import time
import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tokenizer import normalise
from tokenizer.normalise import FEW_CHARACTERS

MARKS = st.text(st.sampled_from("\u0301\u0327\u0344\u05b0\u093c\u0f71\u0f73\u0f75\u0f81\u3099"))


@given(st.text())
@example("\r\x00\n")
@example("e\u200b\u0301")
def test_normalising_twice_changes_nothing_more(text: str) -> None:
    assert normalise(normalise(text)) == normalise(text)


@given(st.text(st.characters(exclude_categories=["Cc", "Cs"], exclude_characters="\ufeff\u200b\u2060")))
def test_text_without_control_characters_is_only_composed(text: str) -> None:
    assert normalise(text) == unicodedata.normalize("NFC", text)


@pytest.mark.parametrize(
    "text", ["10½", "x²", "H₂O", "ﬁn", "№ 5", "Ａ１", "，？！；：（）", "ſ", "…", "™", "㎏"]
)
def test_compatibility_characters_stay(text: str) -> None:
    assert normalise(text) == text != unicodedata.normalize("NFKC", text)


def test_letters_and_their_accents_are_composed() -> None:
    assert normalise("u\u0308ber cafe\u0301") == "über café"
    assert normalise("\u1112\u1161\u11ab") == "한"


@pytest.mark.parametrize("text", ["می\u200cخواهم", "ශ්\u200dරී", "👩\u200d👩\u200d👧", "క్\u200cష"])
def test_joiners_and_non_joiners_stay(text: str) -> None:
    assert normalise(text) == text


@pytest.mark.parametrize("mark", ["\ufeff", "\u200b", "\u2060", "\x00", "\x1b", "\x7f", "\x9f"])
def test_invisible_marks_vanish_without_leaving_a_space(mark: str) -> None:
    assert normalise(f"{mark}zero{mark}width{mark}") == "zerowidth"


@pytest.mark.parametrize("end", ["\r\n", "\r", "\n", "\x0b", "\x0c"])
def test_every_line_end_becomes_one_line_feed(end: str) -> None:
    assert normalise(f"one{end}two{end}{end}three") == "one\ntwo\n\nthree"


def test_tabs_and_runs_of_spaces_stay() -> None:
    assert normalise("  name:\tAnna  \u00a0\u3000 ") == "  name:\tAnna  \u00a0\u3000 "


def test_half_a_surrogate_pair_becomes_a_replacement_character() -> None:
    assert normalise("hi \ud83d there") == "hi \ufffd there"


@given(st.text(), MARKS, st.text())
def test_marks_on_one_letter_are_ordered_in_long_texts_as_in_short_ones(
    before: str, marks: str, after: str
) -> None:
    short, rest = f"{before}{marks}{after}", " x" * FEW_CHARACTERS
    assert normalise(short + rest) == normalise(short) + rest


@pytest.mark.parametrize("marks", ["\u0301\u0327", "\u0f73"])
def test_a_hundred_thousand_marks_on_one_letter_take_less_than_a_second(marks: str) -> None:
    start = time.perf_counter()
    normalise("a" + marks * (100_000 // len(marks)))
    assert time.perf_counter() - start < 1
