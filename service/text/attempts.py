"""How often and in which ways a passage is tried, and what is wrong with what came out."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from service.text.blocks import Kept
from service.text.passages import Masked, Passage, numbers
from service.text.wording import missing

_DIGITS = re.compile(r"\d+")
_WORDS = re.compile(r"[^\W\d_]+")
_FEWEST_WORDS = 3  # of two words or one, both may be names or the same in both languages
_COPIED = 0.7


@dataclass(frozen=True)
class Attempt:
    """What the model is given, and what it has to say."""

    passage: Passage
    masked: Masked
    phrases: tuple[str, ...] = ()
    terms: tuple[Kept, ...] = ()  # in the open, for the model to translate: places of `masked.text`
    shown: tuple[
        str, ...
    ] = ()  # what must not change and has no stand-in: it is in the open, as readers see it


class Faults(NamedTuple):
    """What is wrong with a translation, the worst first: fewer is better."""

    lost: int = 0  # strings that do not occur exactly once
    terms: int = 0  # that are said otherwise
    digits: int = 0  # that are missing or too many
    copied: int = 0  # 1 if the source's words were copied


def first_attempt(passage: Passage) -> Attempt:
    """Stand-ins for what must not change; terms are translated like all else, and reworded where that is needed."""
    masked = passage.masked(passage.protected)
    terms = tuple(
        Kept(masked.places[term.start], masked.places[term.end], term.source) for term in passage.terms
    )
    return Attempt(passage, masked, terms=terms)


def further_attempts(passage: Passage, found: Faults) -> Iterator[Attempt]:
    """Other ways, best first, to mend what was found wrong with the first attempt.

    Terms: they get stand-ins too. Strings that were lost: all stand-ins are forced; then nothing is masked, since a
    model may copy what it sees better than what stands in for it. Digits: numbers get stand-ins as well, free ones
    first, for what is forced is decoded alone. A copy: in small letters, since what a model takes for a name it copies.
    """
    kept = passage.protected
    terms = tuple(term._replace(source=passage.written(term.source)) for term in passage.terms)
    if found.terms:
        yield Attempt(passage, passage.masked(_in_order(kept, terms)))
    if found.lost or found.terms:
        yield _forced(passage, (*kept, *terms))
    if found.digits:
        spelled = [
            Kept(one.start, one.end, passage.written(one.source))
            for one in numbers(passage.text, (*kept, *terms))
        ]
        yield Attempt(passage, passage.masked(_in_order(kept, terms, tuple(spelled))))
        yield _forced(passage, (*kept, *terms, *spelled))
    if found.lost and not passage.kept:
        shown = tuple(passage.text[one.start : one.end] for one in kept)
        yield Attempt(passage, passage.masked(()), shown=shown)
    lower = passage.text.lower()
    if found.copied and lower != passage.text and len(lower) == len(passage.text):
        first = first_attempt(passage)
        yield replace(first, masked=replace(passage, text=lower).masked(kept))


def faults(attempt: Attempt, translation: str) -> Faults:
    """What is wrong with the model's translation of an attempt, which still has its stand-ins."""
    lost = sum(translation.count(stand_in.text) != 1 for stand_in in attempt.masked.stand_ins)
    lost += sum(translation.count(shown) != attempt.masked.text.count(shown) for shown in set(attempt.shown))
    terms = missing(attempt.terms, translation)
    said = [term for term in attempt.terms if term not in terms]
    source = _bare(attempt.masked.text, attempt, [attempt.masked.text[one.start : one.end] for one in said])
    target = _bare(translation, attempt, [one.source for one in said])
    difference = Counter(_DIGITS.findall(source))
    difference.subtract(_DIGITS.findall(target))
    digits = sum(map(abs, difference.values()))
    return Faults(lost, len(terms), digits, int(is_copy(source, target)))


def is_copy(source: str, target: str) -> bool:
    """Whether most words of a source stand in its translation as they were."""
    words = _WORDS.findall(source)
    if len(words) < _FEWEST_WORDS:
        return False
    left = Counter(_WORDS.findall(target))
    same = sum((Counter(words) & left).values())
    return same > _COPIED * len(words)


def _bare(text: str, attempt: Attempt, terms: Sequence[str]) -> str:
    """Without what must not change, and without terms, which may have digits of their own."""
    for taken in (*(stand_in.text for stand_in in attempt.masked.stand_ins), *attempt.shown, *terms):
        text = text.replace(taken, " ")
    return text


def _forced(passage: Passage, kept: tuple[Kept, ...]) -> Attempt:
    masked = passage.masked(_in_order(kept))
    return Attempt(passage, masked, tuple(stand_in.text for stand_in in masked.stand_ins))


def _in_order(*kept: tuple[Kept, ...]) -> list[Kept]:
    return sorted(one for some in kept for one in some)
