"""Terms of a glossary are found as whole words, in the case they may have."""

from __future__ import annotations

import pytest

from service.text.blocks import Kept
from service.text.terms import Terms

ENTRIES = {"train": "Bahn", "train station": "Bahnhof", "US": "USA", "New York": "Neu-York", "e-mail": "Mail"}


def found(text: str, language: str = "en", entries: dict[str, str] = ENTRIES) -> list[tuple[str, str]]:
    return [(text[one.start : one.end], one.source) for one in Terms(entries, language).find(text, ())]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("the train is late", [("train", "Bahn")]),
        ("Train rides", [("Train", "Bahn")]),
        ("TRAIN!", [("TRAIN", "BAHN")]),
        ("a train-spotter by train.", [("train", "Bahn"), ("train", "Bahn")]),
        ("the train station", [("train station", "Bahnhof")]),
        ("write an e-mail", [("e-mail", "Mail")]),
        ("in New York, US", [("New York", "Neu-York"), ("US", "USA")]),
    ],
)
def test_a_term_is_found_and_the_longest_one_is_meant(text: str, expected: list[tuple[str, str]]) -> None:
    assert found(text) == expected


@pytest.mark.parametrize(
    "text", ["trains", "training", "retrain", "the Train", "tell us", "new york", "e-mails"]
)
def test_inflected_neighbours_and_other_words_are_left_alone(text: str) -> None:
    assert found(text) == []


def test_scripts_without_blanks_have_terms_anywhere() -> None:
    assert found(
        "我坐火车去北京站", "zh", {"火车": "train", "北京": "Beijing", "北京站": "Beijing Station"}
    ) == [
        ("火车", "train"),
        ("北京站", "Beijing Station"),
    ]


def test_no_term_is_found_in_what_must_not_change() -> None:
    assert Terms(ENTRIES, "en").find("see {train} now", [Kept(4, 11, "{train}")]) == ()


def test_a_hundred_thousand_terms_are_no_burden() -> None:
    entries = {f"word{number} of number": f"Wort{number}" for number in range(100_000)}
    terms = Terms(entries, "en")
    [one] = terms.find("a text with word77777 of number inside " + "and more " * 500, ())
    assert one.source == "Wort77777"


def test_blank_entries_are_no_terms() -> None:
    assert not Terms({"": "x", "y": " "}, "en")
