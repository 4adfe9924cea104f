"""Inline markup into a translation: each tag around the words that were made from those it was around.

A span of the source becomes that stretch of the translation whose words looked most into the span and least out of
it (a stretch of maximal sum); a point goes where it divides best. Spans stay nested or apart, whatever the model did.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate

from model.alignment import Alignment
from service.text.blocks import Span
from service.text.passages import Insertion

# Never divided: a stand-in, a word. A sign of a script without blanks is a word.
_WORD = re.compile(
    r"\[X\d+X\]|[\u2e80-\u9fff\uac00-\ud7ff\uf900-\ufaff]|[^\W\u2e80-\u9fff\uac00-\ud7ff\uf900-\ufaff]+|[^\w\s]"
)

_NEGLIGIBLE = 1e-4


@dataclass
class Node:
    """A span of the source and those inside it."""

    span: Span
    inner: list[Node] = field(default_factory=list)

    @property
    def is_point(self) -> bool:
        return self.span.start == self.span.end

    @property
    def rank(self) -> int:
        """0 for a span that began before the sentence, 2 for one that goes on after it, 1 for all others."""
        if self.is_point or (self.span.before and self.span.after):
            return 1
        return 2 if self.span.before else 0


@dataclass(frozen=True)
class Words:
    """The words of a translation: where they stand, and where in the source each one's weight lies."""

    spans: list[tuple[int, int]]
    cumulated: list[list[float]]  # [word][i]: weight on what is before character i of the source

    def inside(self, word: int, start: int, end: int) -> float:
        return self.cumulated[word][end] - self.cumulated[word][start]

    def outside(self, word: int, start: int, end: int) -> float:
        return self.cumulated[word][-1] - self.inside(word, start, end)


@dataclass(frozen=True)
class Stretch:
    """Words first … last − 1 of the translation, for a node."""

    first: int
    last: int
    node: Node


@dataclass(frozen=True)
class Placed:
    """A stretch, and from where to where in characters it goes."""

    stretch: Stretch
    start: int
    end: int


def placed(spans: Sequence[Span], alignment: Alignment, source: str, translation: str) -> list[Insertion]:
    """Where the markup of `spans`, which count in characters of `source`, goes in the translation; in order."""
    words = read_words(alignment, len(source), translation)
    root = tree(spans, len(source))
    insertions: list[Insertion] = []
    waiting: list[Insertion | Placed] = [Placed(Stretch(0, len(words.spans), root), 0, len(translation))]
    while waiting:  # no recursion: pages nest as deep as they like
        next_one = waiting.pop()
        if isinstance(next_one, Insertion):
            insertions.append(next_one)
            continue
        steps: list[Insertion | Placed] = []
        place = next_one.start
        for stretch in assigned(next_one.stretch, words):
            inner = positioned(stretch, words, source, at_least=place, at_most=next_one.end)
            place = inner.end
            span = stretch.node.span
            steps += [Insertion(inner.start, span.before), inner, Insertion(inner.end, span.after)]
        waiting += reversed(steps)
    return [insertion for insertion in insertions if insertion.source]


def tree(spans: Sequence[Span], length: int) -> Node:
    """Spans in the order in which they open, by depth, below one node for the whole source."""
    root = Node(Span(0, length, ""))
    path = [root]
    for span in spans:
        while len(path) > 1 and path[-1].span.depth >= span.depth:
            path.pop()
        node = Node(span)
        path[-1].inner.append(node)
        path.append(node)
    return root


def read_words(alignment: Alignment, source_length: int, translation: str) -> Words:
    """The weight of a piece lies evenly on its characters, but not on the blank before it."""
    spans = [match.span() for match in _WORD.finditer(translation)]
    places = [
        range(min(first + (last - first > 1), source_length), min(last, source_length))
        for first, last in alignment.source_spans
    ]
    cumulated: list[list[float]] = []
    for start, end in spans:
        weights = [0.0] * source_length
        for row, (piece_start, piece_end) in zip(alignment.weights_TS, alignment.target_spans, strict=True):
            if piece_start < end and start < piece_end:
                for weight, own in zip(row, places, strict=True):
                    if weight > _NEGLIGIBLE:
                        for character in own:
                            weights[character] += weight / len(own)
        total = sum(weights) or 1.0
        cumulated.append([0.0, *accumulate(weight / total for weight in weights)])
    return Words(spans, cumulated)


def assigned(whole: Stretch, words: Words) -> list[Stretch]:
    """A stretch for each inner node of a stretch's node, none overlapping, in the order of the translation."""
    free = [True] * (whole.last - whole.first)
    stretches: dict[int, Stretch] = {}
    inner = list(enumerate(whole.node.inner))
    # Long ones first; those that reach beyond the sentence take what is left at its edge.
    for order, node in sorted(inner, key=lambda one: (one[1].rank != 1, one[1].span.start - one[1].span.end)):
        if not node.is_point:
            first, last = best_stretch(node, whole, words, free)
            free[first - whole.first : last - whole.first] = [False] * (last - first)
            stretches[order] = Stretch(first, last, node)
    for order, node in inner:
        if node.is_point:
            gap = best_gap(node.span.start, whole, words, list(stretches.values()))
            stretches[order] = Stretch(gap, gap, node)
    in_order = sorted(
        stretches.items(), key=lambda one: (one[1].node.rank, one[1].first, one[1].last, one[0])
    )
    return [stretch for _, stretch in in_order]


def best_stretch(node: Node, whole: Stretch, words: Words, free: Sequence[bool]) -> tuple[int, int]:
    """The free words that belong into a span most, at least one if there is any; (place, place) if there is none."""
    start, end = node.span.start, node.span.end
    outer = whole.node.span
    if all(free) and (start, end) == (outer.start, outer.end):
        return whole.first, whole.last
    gains = [
        words.inside(word, start, end) - words.outside(word, start, end)
        for word in range(whole.first, whole.last)
    ]
    best: tuple[float, int, int] | None = None
    for first, last in runs(free):
        if node.rank == 0:
            candidates = [(first, until) for until in range(first + 1, last + 1)] if first == 0 else []
        elif node.rank == 2:
            candidates = [(since, last) for since in range(first, last)] if last == len(free) else []
        else:
            candidates = [maximal_sum(gains, first, last)]
        for since, until in candidates:
            total = sum(gains[since:until])
            if best is None or total > best[0]:
                best = (total, since, until)
    if best is not None:
        return whole.first + best[1], whole.first + best[2]
    edge = whole.first if node.rank == 0 else whole.last
    return edge, edge


def maximal_sum(gains: Sequence[float], first: int, last: int) -> tuple[int, int]:
    """The stretch of gains[first:last] with the largest sum, not empty (Kadane)."""
    best, best_range = gains[first], (first, first + 1)
    running, since = gains[first], first
    for place in range(first + 1, last):
        if running <= 0:
            running, since = gains[place], place
        else:
            running += gains[place]
        if running > best:
            best, best_range = running, (since, place + 1)
    return best_range


def runs(free: Sequence[bool]) -> Iterator[tuple[int, int]]:
    """Stretches of True."""
    since: int | None = None
    for place, is_free in enumerate([*free, False]):
        if is_free and since is None:
            since = place
        elif not is_free and since is not None:
            yield since, place
            since = None


def best_gap(point: int, whole: Stretch, words: Words, taken: Sequence[Stretch]) -> int:
    """The word before which a point goes: most of what is left of it was made from what was left of the point."""
    span = whole.node.span
    if point <= span.start:
        return whole.first
    if point >= span.end:
        return whole.last
    length = len(words.cumulated[0]) - 1 if words.cumulated else 0
    before = [words.inside(word, 0, point) for word in range(whole.first, whole.last)]
    after = [words.inside(word, point, length) for word in range(whole.first, whole.last)]
    best, best_gap = -1.0, whole.first
    for gap in range(whole.first, whole.last + 1):
        if any(is_in_the_way(stretch, gap) for stretch in taken):
            continue
        split = gap - whole.first
        value = sum(before[:split]) + sum(after[split:])
        if value > best:
            best, best_gap = value, gap
    return best_gap


def is_in_the_way(stretch: Stretch, gap: int) -> bool:
    """Whether a gap lies inside a stretch, which may reach beyond the sentence."""
    return (
        (gap > stretch.first or stretch.node.rank == 0)
        and (gap < stretch.last or stretch.node.rank == 2)
        and (stretch.first < stretch.last)
    )


def positioned(stretch: Stretch, words: Words, source: str, *, at_least: int, at_most: int) -> Placed:
    """A stretch begins and ends with its words; a point stands at the word that it stood at in the source."""
    if stretch.first < stretch.last:
        start, end = words.spans[stretch.first][0], words.spans[stretch.last - 1][1]
    else:
        point = stretch.node.span.start
        follows_blank = point == 0 or source[point - 1 : point].isspace()
        is_before_word = stretch.first < len(words.spans) and (follows_blank or stretch.first == 0)
        if is_before_word:
            start = words.spans[stretch.first][0]
        else:
            start = words.spans[stretch.first - 1][1] if stretch.first else 0
        end = start
    start = min(max(start, at_least), at_most)
    return Placed(stretch, start, min(max(end, start), at_most))
