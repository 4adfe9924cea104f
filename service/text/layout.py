"""A block as what the model translates, with all that belongs to it, and what stands between."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import replace

from service.text.blocks import Block, Event, Kept, Span, events_of
from service.text.passages import Passage, with_whole_strings
from service.text.protection import core_of, without_forms
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


def lay_out(
    block: Block, language: str, reading: Reading, terms: Terms, fits: Callable[[str], bool]
) -> list[str | Passage]:
    """Passages, and what stands between them, written as the format writes it; tags are in the one or the other."""
    sentences = _sentences(block, language, reading, fits)
    events = events_of(block.spans)
    owners = _owners(events, block.spans, sentences)
    pieces: list[str | Passage] = []
    at = 0
    for number, (start, end) in enumerate([*sentences, (len(block.text), len(block.text))]):
        loose = [event for event, owner in zip(events, owners, strict=True) if owner == 2 * number]
        pieces += _between(block, at, start, loose)
        if number < len(sentences):
            owned = {
                (event.span, event.is_opening)
                for event, owner in zip(events, owners, strict=True)
                if owner == 2 * number + 1
            }
            pieces.append(_passage(block, start, end, owned, terms))
        at = end
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
    hidden = without_forms(_WRITTEN_BREAK.sub("\n\n", hidden), _HIDDEN)
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


def _owners(
    events: Sequence[Event], spans: Sequence[Span], sentences: Sequence[tuple[int, int]]
) -> list[int]:
    """Where each tag belongs: 2n + 1 is sentence n, 2n what stands before it.

    Tags stay in their order. One between two words belongs to their sentence; a point at a sentence's edge belongs
    to it, unless what it stands in does not.
    """
    starts = [start for start, _ in sentences]
    owners = [_owner(event, spans[event.span], sentences, starts) for event in events]
    are_points = [spans[event.span].start == spans[event.span].end for event in events]
    earliest = 0
    for number, is_point in enumerate(are_points):
        owners[number] = earliest = max(owners[number], earliest) if is_point else owners[number]
    latest = 2 * len(sentences)
    for number in reversed(range(len(events))):
        owners[number] = latest = min(owners[number], latest) if are_points[number] else owners[number]
    return owners


def _owner(event: Event, span: Span, sentences: Sequence[tuple[int, int]], starts: Sequence[int]) -> int:
    number = bisect_right(starts, event.place) - 1  # the last sentence that begins here or before
    if number < 0:
        return 0
    start, end = sentences[number]
    is_point = span.start == span.end
    if not is_point and not event.is_opening and event.place == start:  # it closes before the sentence
        return 2 * number
    is_inside = event.place <= end if is_point or not event.is_opening else event.place < end
    return 2 * number + 1 if is_inside else 2 * number + 2


def _passage(
    block: Block,
    start: int,
    end: int,
    owned: set[tuple[int, bool]],
    terms: Terms,
) -> Passage:
    spans: list[Span] = []
    for place, span in enumerate(block.spans):
        opens, closes = (place, True) in owned, (place, False) in owned
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
    passage = with_whole_strings(
        Passage(block.text[start:end], tuple(spans), _within(block.kept, start, end), spelling=block.spelling)
    )
    return replace(passage, terms=terms.find(passage.text, passage.protected)) if terms else passage


def _between(block: Block, start: int, end: int, loose: Sequence[Event]) -> list[str]:
    """block.text[start:end] as its format writes it, with the tags and all else that stands there."""
    changes = [(event.place, event.place, event.source) for event in loose]
    changes += [
        (one.start, one.end, one.source) for one in block.kept if start <= one.start and one.end <= end
    ]
    changes.sort(key=lambda change: change[:2])
    parts: list[str] = []
    at = start
    for first, last, source in changes:
        parts += [block.written(block.text[at:first]), source]
        at = max(at, last)
    return [*parts, block.written(block.text[at:end])]
