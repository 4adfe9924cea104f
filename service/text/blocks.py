"""What a text of any format is read into: stretches that stay as they are, and blocks that are translated."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import NamedTuple

AS_IT_IS: Mapping[int, str] = MappingProxyType({})
"""The spelling of plain text."""


class Span(NamedTuple):
    """Inline markup around text[start:end]; where both are the same, at a point.

    One that reaches into the block from before has no `before`, one that goes on after it no `after`.
    """

    start: int
    end: int
    before: str
    after: str = ""
    depth: int = 0  # how many others it stands in


class Event(NamedTuple):
    """A tag: it opens or closes a span, or is a point."""

    place: int
    source: str
    span: int  # in the block's list
    is_opening: bool


class Kept(NamedTuple):
    """text[start:end] stands for something that comes out as `source`, once, wherever its place is then."""

    start: int
    end: int
    source: str


OBJECT = "\ufffc"
"""In a block's text what holds no text of its own: `<x id="7"/>`."""


@dataclass(frozen=True)
class Block:
    """Text without markup or entities, and what belongs to which part of it.

    Spans are nested or apart, in the order in which they open; `kept` are in order and apart. `spelling` says how
    single characters are written in this format: & as &amp; in HTML.
    """

    text: str
    spans: tuple[Span, ...] = ()
    kept: tuple[Kept, ...] = ()
    spelling: Mapping[int, str] = field(default_factory=dict)
    is_wrapped: bool = False  # line breaks mean no more than blanks

    def written(self, text: str) -> str:
        """Text as this format writes it."""
        return text.translate(self.spelling)


def events_of(spans: Sequence[Span]) -> list[Event]:
    """All tags in the order in which they stand in the source."""
    events: list[Event] = []
    still_open: list[int] = []

    def close_down_to(depth: int) -> None:
        while still_open and spans[still_open[-1]].depth >= depth:
            closing = still_open.pop()
            events.append(Event(spans[closing].end, spans[closing].after, closing, False))

    for place, span in enumerate(spans):
        close_down_to(span.depth)
        events.append(Event(span.start, span.before, place, True))
        still_open.append(place)
    close_down_to(0)
    return events


Parts = Sequence["str | Block"]


def blocks_of(parts: Parts) -> Iterator[Block]:
    return (part for part in parts if isinstance(part, Block))


def joined(parts: Parts, translations: Iterator[str]) -> str:
    """The whole text, each block replaced by the next translation."""
    return "".join(part if isinstance(part, str) else next(translations) for part in parts)
