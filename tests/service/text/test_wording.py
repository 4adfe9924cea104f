"""Terms are said where the model said what they mean."""

from __future__ import annotations

import re
from collections.abc import Sequence

import pytest

from model.alignment import Alignment
from service.text.blocks import Kept
from service.text.wording import Replacement, missing, replacements

_WORD = re.compile(r"\[X\d+X\]|\w+|[^\w\s]")


def aligned(source: str, translation: str, pairs: dict[str, str], share: float = 1.0) -> Alignment:
    """Each word of the translation with `share` on its word of the source, and the rest on the source's first."""
    source_spans = [match.span() for match in _WORD.finditer(source)]
    rows: list[list[float]] = []
    targets = list(_WORD.finditer(translation))
    for target in targets:
        row = [0.0] * len(source_spans)
        row[[source[start:end] for start, end in source_spans].index(pairs[target[0]])] += share
        row[0] += 1 - share
        rows.append(row)
    return Alignment(rows, source_spans, [match.span() for match in targets])


def term(source: str, word: str, wording: str) -> Kept:
    start = source.index(word)
    return Kept(start, start + len(word), wording)


def reworded(
    source: str, translation: str, terms: Sequence[Kept], pairs: dict[str, str], share: float = 1.0
) -> str | None:
    found = replacements(terms, aligned(source, translation, pairs, share), source, translation, ["[X0X]"])
    if found is None:
        return None
    for start, end, wording in reversed(found):
        translation = translation[:start] + wording + translation[end:]
    return translation


BUY = "where did you buy this bread ?"
GEKAUFT = "wo hast du dieses Brot gekauft ?"
PAIRS = {
    "wo": "where",
    "hast": "did",
    "du": "you",
    "dieses": "this",
    "Brot": "bread",
    "gekauft": "buy",
    "?": "?",
}


def test_a_term_takes_the_place_of_the_word_that_was_made_from_it() -> None:
    terms = [term(BUY, "bread", "Backwerk")]
    assert reworded(BUY, GEKAUFT, terms, PAIRS) == "wo hast du dieses Backwerk gekauft ?"


def test_several_terms_are_placed_apart() -> None:
    terms = [term(BUY, "buy", "erstanden"), term(BUY, "bread", "Backwerk")]
    assert reworded(BUY, GEKAUFT, terms, PAIRS) == "wo hast du dieses Backwerk erstanden ?"


def test_a_term_of_several_words_becomes_one_of_several_words() -> None:
    source, translation = "the bill of last month", "die Rechnung vom letzten Monat"
    pairs = dict(die="the", Rechnung="bill", vom="of", letzten="last", Monat="month")
    assert reworded(source, translation, [term(source, "last month", "des Vormonats")], pairs) == (
        "die Rechnung vom des Vormonats"
    )


def test_it_is_not_placed_where_the_words_look_elsewhere_too() -> None:
    """A word made from two: replacing it would lose the other."""
    terms = [term(BUY, "bread", "Backwerk")]
    assert reworded(BUY, GEKAUFT, terms, PAIRS, share=0.6) is None


def test_the_article_before_it_stays() -> None:
    source, translation = "in einem Krankenhaus", "in a hospital"
    alignment = Alignment(
        [[1.0, 0.0, 0.0], [0.0, 0.4, 0.6], [0.0, 0.0, 1.0]],
        [(0, 2), (3, 8), (9, 20)],
        [(0, 2), (3, 4), (5, 13)],
    )
    terms = [term(source, "Krankenhaus", "clinic")]
    assert replacements(terms, alignment, source, translation, []) == (Replacement(5, 13, "clinic"),)


def test_a_stand_in_is_never_replaced() -> None:
    source, translation = "open [X0X] now", "[X0X]"
    assert reworded(source, translation, [term(source, "now", "sofort")], {"[X0X]": "now"}) is None


def test_nothing_said_has_no_place() -> None:
    assert replacements([term(BUY, "bread", "Brot")], Alignment([], [], []), BUY, "", []) is None


@pytest.mark.parametrize(
    ("wording", "begun"), [("loaf", "Loaf"), ("iPhone", "iPhone"), ("Loaf", "Loaf"), ("état", "État")]
)
def test_a_sentence_begins_with_a_capital_unless_the_wording_has_its_own(wording: str, begun: str) -> None:
    source, translation = "Brot schmeckt", "Bread tastes"
    pairs = {"Bread": "Brot", "tastes": "schmeckt"}
    assert reworded(source, translation, [term(source, "Brot", wording)], pairs) == f"{begun} tastes"


@pytest.mark.parametrize(
    ("wording", "translation", "is_said"),
    [
        ("Haus", "das Haus.", True),
        ("Haus", "im Hause", False),
        ("Haus", "die Haustür", False),
        ("haus", "Haus und Hof", True),
        ("haus", "das Haus", False),
        ("statement of account", "the statement of account came", True),
        ("C++", "in C++ geschrieben", True),
        ("银行", "他在银行工作", True),
        ("银行", "他在商店工作", False),
    ],
)
def test_a_term_is_said_as_words_of_its_own_in_its_own_case(
    wording: str, translation: str, is_said: bool
) -> None:
    terms = (Kept(0, 3, wording),)
    assert missing(terms, translation) == (() if is_said else terms)


def test_a_term_that_stands_twice_is_said_twice() -> None:
    terms = (Kept(0, 3, "Haus"), Kept(10, 13, "Haus"))
    assert missing(terms, "ein Haus") == terms[1:]
    assert missing(terms, "ein Haus, noch ein Haus") == ()


def test_replacements_come_in_the_order_of_the_translation() -> None:
    terms = [term(BUY, "buy", "erstanden"), term(BUY, "bread", "Backwerk")]
    found = replacements(terms, aligned(BUY, GEKAUFT, PAIRS), BUY, GEKAUFT, [])
    assert found == (Replacement(18, 22, "Backwerk"), Replacement(23, 30, "erstanden"))
