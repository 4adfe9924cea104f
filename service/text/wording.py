"""A term's translation into a sentence that says it otherwise: in the place of the words that were made from it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from model.alignment import Alignment
from service.text.blocks import Kept, Span
from service.text.placement import Node, Stretch, best_stretch, read_words

_LETTER = r"[^\W\u2e80-\u9fff\uac00-\ud7ff\uf900-\ufaff]"  # of a script that divides words
_SURE = 0.7  # share of their attention that the words to be replaced must have on the term


class Replacement(NamedTuple):
    """`source` instead of translation[start:end]."""

    start: int
    end: int
    source: str


def missing(terms: Sequence[Kept], translation: str) -> tuple[Kept, ...]:
    """The terms whose translation is not there as words of its own, or not as often as it should be."""
    lacking: list[Kept] = []
    for wording in dict.fromkeys(term.source for term in terms):
        alike = [term for term in terms if term.source == wording]
        lacking += alike[len(_said(wording).findall(translation)) :]
    return tuple(sorted(lacking))


def _said(wording: str) -> re.Pattern[str]:
    """The wording as words of its own, with a capital where it begins the sentence."""
    begun = re.escape(_as_begun(wording, is_capital=True))
    return re.compile(rf"(?<!{_LETTER})(?:{re.escape(wording)}|^{begun})(?!{_LETTER})")


def replacements(
    terms: Sequence[Kept], alignment: Alignment, source: str, translation: str, taken: Sequence[str]
) -> tuple[Replacement, ...] | None:
    """What to replace so that the terms, places of `source`, are said; None where it is not clear what.

    The strings `taken` stay. Word order, articles and endings around a term stay the model's.
    """
    words = read_words(alignment, len(source), translation)
    whole = Stretch(0, len(words.spans), Node(Span(0, len(source), "")))
    free = [translation[start:end] not in taken for start, end in words.spans]
    found: list[Replacement] = []
    for term in terms:
        if not any(free):
            return None
        first, last = best_stretch(Node(Span(term.start, term.end, "(", ")")), whole, words, free)
        sure = [word for word in range(first, last) if words.inside(word, term.start, term.end) >= _SURE]
        if not sure:
            return None
        first, last = sure[0], sure[-1] + 1  # an article looks at its noun too, and is not replaced
        free[first:last] = [False] * (last - first)
        start, end = words.spans[first][0], words.spans[last - 1][1]
        found.append(
            Replacement(
                start, end, _as_begun(term.source, is_capital=start == 0 and translation[0].isupper())
            )
        )
    return tuple(sorted(found))


def _as_begun(wording: str, *, is_capital: bool) -> str:
    """With a capital where a sentence begins with it; a wording that has capitals of its own stays."""
    return wording[0].upper() + wording[1:] if is_capital and wording.islower() else wording
