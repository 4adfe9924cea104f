"""A block as what the model translates, with all that belongs to it, and what stands between."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

from service.text.blocks import Block, Kept, Span
from service.text.passages import Passage
from service.text.protection import FORMS, core_of
from service.text.reading import Reading
from service.text.terms import Terms
from tokenizer.segments import (
    AT_BREAKS,
    AT_STOPS,
    AT_STOPS_ALONE,
    AT_STOPS_AND_BLANK_LINES,
    NOWHERE,
    Cuts,
    cut,
)

_HIDDEN = "\ue000"
_WRITTEN_BREAK = re.compile(r"\\[nrt]")  # two characters, in the strings of programs
_HIDDEN_RUN = re.compile(f"{_HIDDEN}+")
_LONGEST_STAND_IN = "[X888X]"


class Event(NamedTuple):
    """A tag: it opens or closes a span, or is a point."""

    place: int
    source: str
    span: int  # in the block's list
    is_opening: bool


def lay_out(
    block: Block, language: str, reading: Reading, terms: Terms, fits: Callable[[str], bool]
) -> list[str | Passage]:
    """Passages, and what stands between them, written as the format writes it; tags are in the one or the other."""
    sentences = _sentences(block, language, reading, fits)
    events = _events(block.spans)
    owners = [_owner(event, block.spans[event.span], sentences) for event in events]
    loose = [event for event, owner in zip(events, owners, strict=True) if owner is None]
    owned = {
        (event.span, event.is_opening): owner
        for event, owner in zip(events, owners, strict=True)
        if owner is not None
    }
    pieces: list[str | Passage] = []
    at = 0
    for number, (start, end) in enumerate(sentences):
        pieces += _between(block, at, start, loose)
        pieces.append(_passage(block, start, end, number, owned, terms))
        at = end
    pieces += _between(block, at, len(block.text), loose, is_last=True)
    return pieces


def cuts_of(block: Block, reading: Reading) -> Cuts:
    """Where a block is cut, by what its client and its format say."""
    if block.is_wrapped:
        return NOWHERE if reading.sentences == "0" else AT_STOPS_ALONE
    return {"0": AT_BREAKS, "nonewlines": AT_STOPS_AND_BLANK_LINES}.get(reading.sentences, AT_STOPS)


def _sentences(
    block: Block, language: str, reading: Reading, fits: Callable[[str], bool]
) -> list[tuple[int, int]]:
    """Start and end of each sentence. What is protected is hidden, so that nothing is cut inside it."""
    hidden = block.text
    for start, end, _ in block.kept:
        hidden = hidden[:start] + _HIDDEN * (end - start) + hidden[end:]
    hidden = _WRITTEN_BREAK.sub("\n\n", hidden)
    hidden = FORMS.sub(lambda match: _HIDDEN * len(match[0]), hidden)
    segments = cut(
        hidden,
        language,
        lambda part: fits(_HIDDEN_RUN.sub(_LONGEST_STAND_IN, part)),
        cuts_of(block, reading),
    )
    found: list[tuple[int, int]] = []
    at = 0
    for text, is_sentence in segments:
        if is_sentence:
            inside = _within(block.kept, at, at + len(text))
            first, last = core_of(block.text[at : at + len(text)], inside)
            found.append((at + first, at + last))
        at += len(text)
    return found


def _within(kept: Sequence[Kept], start: int, end: int) -> tuple[Kept, ...]:
    return tuple(
        Kept(one.start - start, one.end - start, one.source)
        for one in kept
        if start <= one.start and one.end <= end
    )


def _events(spans: Sequence[Span]) -> list[Event]:
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


def _owner(event: Event, span: Span, sentences: Sequence[tuple[int, int]]) -> int | None:
    """The sentence that a tag belongs to; None for one that stands between two."""
    is_point = span.start == span.end
    for number, (start, end) in enumerate(sentences):
        if is_point:
            before = sentences[number - 1][1] if number else -1
            if start <= event.place <= end and event.place != before:
                return number
        elif (start <= event.place < end) if event.is_opening else (start < event.place <= end):
            return number
    return None


def _passage(
    block: Block,
    start: int,
    end: int,
    number: int,
    owned: dict[tuple[int, bool], int],
    terms: Terms,
) -> Passage:
    spans: list[Span] = []
    for place, span in enumerate(block.spans):
        opens = owned.get((place, True)) == number
        closes = owned.get((place, False)) == number
        if opens or closes:
            spans.append(
                Span(
                    span.start - start if opens else 0,
                    span.end - start if closes else end - start,
                    span.before if opens else "",
                    span.after if closes else "",
                    span.depth,
                )
            )
    passage = Passage(
        block.text[start:end], tuple(spans), _within(block.kept, start, end), spelling=block.spelling
    )
    return replace(passage, terms=terms.find(passage.text, passage.protected)) if terms else passage


def _between(block: Block, start: int, end: int, loose: list[Event], *, is_last: bool = False) -> list[str]:
    """block.text[start:end] as its format writes it, with the tags that stand there. Takes them off `loose`."""
    changes = [
        (one.start, one.end, one.source) for one in block.kept if start <= one.start and one.end <= end
    ]
    while loose and (loose[0].place <= end or is_last):
        event = loose.pop(0)
        changes.append((event.place, event.place, event.source))
    changes.sort(key=lambda change: change[:2])
    parts: list[str] = []
    at = start
    for first, last, source in changes:
        parts += [block.written(block.text[at:first]), source]
        at = last
    return [*parts, block.written(block.text[at:end])]
