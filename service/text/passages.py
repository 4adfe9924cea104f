"""A sentence as it was read, and as the model reads it: with stand-ins for what must not change."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

from service.text.blocks import Kept, Span, events_of
from service.text.protection import NUMBER, protected

# Chosen by trial: of 14 spellings it survived best in the middle of sentences of Tatoeba (97 of 100, in the place of
# a name 100), and it may stand in a text in capitals. Training shows it to a model (training/corpora/copies.py).
_STAND_IN = "[X{}X]"
_BREAK = re.compile(r"[\n\r\t\v\f\x1c-\x1e\x85\u2028\u2029]")
_BLANKS = re.compile(rf"\s{{2,}}|{_BREAK.pattern}")  # where a break may be: one blank between words is none


class StandIn(NamedTuple):
    """What the model reads in the place of `source`."""

    text: str
    source: str


class Insertion(NamedTuple):
    """Markup that goes into a translation before its character `place`."""

    place: int
    source: str


@dataclass(frozen=True)
class Masked:
    """What the model reads. `places[i]` is where character i of the passage is in `text`; one more for the end."""

    text: str
    places: tuple[int, ...]
    stand_ins: tuple[StandIn, ...]


@dataclass(frozen=True)
class Passage:
    """One sentence: its text without markup, and what is in it. Places count from its start."""

    text: str
    spans: tuple[Span, ...] = ()
    kept: tuple[Kept, ...] = ()  # what markup says is to be kept
    terms: tuple[Kept, ...] = ()  # words whose translation is settled: `source` is that translation
    spelling: Mapping[int, str] = field(default_factory=dict)  # see Block

    @cached_property
    def protected(self) -> tuple[Kept, ...]:
        """All that must come out as it is, in order and apart, as the format writes it."""
        return protected(self.text, self.kept, self.spelling)

    def written(self, text: str) -> str:
        """Text as the passage's format writes it."""
        return text.translate(self.spelling)

    def masked(self, kept: Sequence[Kept]) -> Masked:
        """With a stand-in for each of `kept`, which are in order and apart, and a blank for each line break."""
        parts: list[str] = []
        places: list[int] = []
        stand_ins: list[StandIn] = []
        at = length = 0
        for start, end, shown in self._changes(kept, stand_ins):
            parts += [self.text[at:start], shown]
            places += range(length, length + start - at)
            length += start - at
            places += [length] * (end - start)
            length += len(shown)
            at = end
        places += range(length, length + len(self.text) - at + 1)
        return Masked("".join([*parts, self.text[at:]]), tuple(places), tuple(stand_ins))

    def _changes(self, kept: Sequence[Kept], stand_ins: list[StandIn]) -> list[tuple[int, int, str]]:
        """Start and end of what is read otherwise than it is written, in order, and how it is read."""
        changes: list[tuple[int, int, str]] = []
        at = 0
        for one in [*kept, None]:
            until = len(self.text) if one is None else one.start
            changes += [
                (match.start(), match.end(), " ")
                for match in _BLANKS.finditer(self.text, at, until)
                if _BREAK.search(match[0])
            ]
            if one is not None:
                stand_ins.append(StandIn(_STAND_IN.format(len(stand_ins)), one.source))
                changes.append((one.start, one.end, stand_ins[-1].text))
                at = one.end
        return changes


def with_whole_strings(passage: Passage) -> Passage:
    """Tags inside a string that must not change become part of it: in `@<span>anna</span>` nothing moves."""
    inside: dict[int, list[Span]] = {}
    strings = [
        one
        for one in passage.protected
        if not any(one.start < kept.end and kept.start < one.end for kept in passage.kept)
    ]
    for span in passage.spans:
        for number, one in enumerate(strings):
            if _is_inside(span, one):
                inside.setdefault(number, []).append(span)
    if not inside:
        return passage
    kept = [
        Kept(strings[number].start, strings[number].end, _tagged(passage, strings[number], spans))
        for number, spans in inside.items()
    ]
    taken = [span for spans in inside.values() for span in spans]
    return replace(
        passage,
        spans=tuple(span for span in passage.spans if span not in taken),
        kept=tuple(sorted((*passage.kept, *kept))),
    )


def _is_inside(span: Span, one: Kept) -> bool:
    if span.start == span.end:
        return one.start < span.start < one.end
    is_whole = (span.start, span.end) == (one.start, one.end)
    return one.start <= span.start and span.end <= one.end and not is_whole


def _tagged(passage: Passage, one: Kept, spans: Sequence[Span]) -> str:
    parts: list[str] = []
    at = one.start
    for place, source, _, _ in events_of(spans):
        parts += [passage.written(passage.text[at:place]), source]
        at = place
    return "".join([*parts, passage.written(passage.text[at : one.end])])


def numbers(text: str, taken: Sequence[Kept]) -> tuple[Kept, ...]:
    """The numbers of a text that are not part of what is `taken`."""
    return tuple(
        Kept(match.start(), match.end(), match[0])
        for match in NUMBER.finditer(text)
        if not any(match.start() < one.end and one.start < match.end() for one in taken)
    )


def rendered(
    translation: str,
    stand_ins: Sequence[StandIn],
    insertions: Sequence[Insertion],
    spelling: Mapping[int, str],
    replacements: Sequence[tuple[int, int, str]] = (),
) -> str:
    """The translation as its format writes it, with what the stand-ins stand for and with its markup.

    `insertions` are in order, and none lies inside a stand-in. `replacements` are apart, and hold no stand-in: for
    each, what is to stand instead of translation[start:end]; markup inside goes behind it.
    """
    source_of = {stand_in.text: stand_in.source for stand_in in stand_ins}
    changes = [(start, end, source.translate(spelling)) for start, end, source in sorted(replacements)]
    for insertion in insertions:
        place = next(
            (end for start, end, _ in replacements if start < insertion.place < end), insertion.place
        )
        changes.append((place, place, insertion.source))
    if source_of:
        pattern = re.compile("|".join(map(re.escape, source_of)))
        changes += [
            (match.start(), match.end(), source_of[match[0]]) for match in pattern.finditer(translation)
        ]
    # At one place: first what is closed or opened there, then what stands there.
    changes.sort(key=lambda change: (change[0], change[0] < change[1]))
    parts: list[str] = []
    at = 0
    for start, end, source in changes:
        parts += [translation[at:start].translate(spelling), source]
        at = end
    return "".join([*parts, translation[at:].translate(spelling)])
