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


Parts = Sequence["str | Block"]


def blocks_of(parts: Parts) -> Iterator[Block]:
    return (part for part in parts if isinstance(part, Block))


def joined(parts: Parts, translations: Iterator[str]) -> str:
    """The whole text, each block replaced by the next translation."""
    return "".join(part if isinstance(part, str) else next(translations) for part in parts)
