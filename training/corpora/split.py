"""Splitting a corpus into training, validation and test sets that share no text.

Tatoeba holds "Go!" five times with five translations, and each of those with other sources. A random split
would put one of them into the test and the others into training. Here texts are nodes of a graph and pairs
its edges, and a connected component never meets two sets.

Texts are the same when they agree after NFC, case folding, folding of white space and stripping of final
punctuation.
"""

from __future__ import annotations

import unicodedata
from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from training.corpora.hashes import hash_of
from training.corpora.pairs import CorpusError, Pair

TRAIN, VALIDATION, TEST, SET_ASIDE = range(4)

LARGEST_HELD_OUT = 8
"""Larger components, in pairs, stay in training: holding one out would cost many pairs for one sentence."""

Hashes = NDArray[np.uint64]


@dataclass(frozen=True)
class Assignment:
    """Which set each pair of a corpus belongs to."""

    sets: NDArray[np.uint8]  # TRAIN, VALIDATION, TEST or SET_ASIDE, one for each pair, in their order
    components: int
    largest_component: int  # in pairs
    overlap: int  # held-out pairs that share a text with another set; counted afresh, must be 0


@dataclass(frozen=True)
class _Graph:
    """A corpus as numbers. Texts are numbered in the order of their hashes."""

    ends: NDArray[np.uint32]  # the two texts of each pair, shape (pairs, 2)
    pair_hashes: Hashes  # of each pair as it is written
    component_of: NDArray[np.uint32]  # of each pair
    name_of: Hashes  # of each component: the hash of its smallest text
    size_of: NDArray[np.uint32]  # of each component, in pairs


@dataclass(frozen=True)
class Split:
    train: list[Pair]
    validation: list[Pair]
    test: list[Pair]
    set_aside: int  # siblings of held-out pairs, which are in no set
    overlap: int  # as in Assignment: must be 0


def split(pairs: Sequence[Pair], *, validation: int, test: int, seed: int) -> Split:
    """Three lists, in the order of the corpus; see `assign`."""
    assignment = assign(PairHashes(pairs), validation=validation, test=test, seed=seed)
    lists: tuple[list[Pair], ...] = ([], [], [], [])
    for pair, chosen in zip(pairs, assignment.sets.tolist(), strict=True):
        lists[chosen].append(pair)
    return Split(
        train=lists[TRAIN],
        validation=lists[VALIDATION],
        test=lists[TEST],
        set_aside=len(lists[SET_ASIDE]),
        overlap=assignment.overlap,
    )


class PairHashes:
    """What `assign` has to know of pairs: 24 bytes of each."""

    def __init__(self, pairs: Iterable[Pair] = ()) -> None:
        self._texts, self._pairs = array("Q"), array("Q")
        for pair in pairs:
            self.add(pair)

    def add(self, pair: Pair) -> None:
        self._texts.extend(hashes_of_texts(pair))
        self._pairs.append(hash_of("\n".join(pair)))

    @property
    def texts(self) -> Hashes:
        """Of the two text keys of each pair, shape (pairs, 2)."""
        return np.frombuffer(self._texts, np.uint64).reshape(-1, 2)

    @property
    def pairs(self) -> Hashes:
        """Of each pair as it is written."""
        return np.frombuffer(self._pairs, np.uint64)


def assign(pairs: PairHashes, *, validation: int, test: int, seed: int) -> Assignment:
    """Holds out `validation` and `test` pairs, each from a component of its own.

    Of a held-out component one pair is scored and its siblings are set aside: to train on them would leak,
    and to score them would weigh one sentence several times and ask one source for two answers. So a held-out
    set has distinct sources and distinct targets, and serves both directions.

    A component is drawn by a hash of its smallest text and the seed, not by its place. Adding pairs to a
    corpus moves only the few held-out pairs that the new ones push out or join.

    Raises CorpusError when the corpus has too few components that may be held out.
    """
    return assign_hashes(pairs.texts, pairs.pairs, validation=validation, test=test, seed=seed)


def assign_hashes(texts: Hashes, pair_hashes: Hashes, *, validation: int, test: int, seed: int) -> Assignment:
    """`assign`, for hashes that come from elsewhere, such as the shards of many workers."""
    graph = _graph(texts, pair_hashes)
    allowed = graph.size_of <= LARGEST_HELD_OUT
    if validation + test > allowed.sum() or validation + test >= max(len(allowed), 1):
        raise CorpusError(
            f"cannot hold out {validation:,} + {test:,} pairs: the {len(graph.ends):,} pairs form only "
            f"{len(allowed):,} groups that share no text, and {allowed.sum():,} of them are small enough"
        )
    set_of_component = np.full(len(allowed), TRAIN, np.uint8)
    for chosen, count, salt in ((TEST, test, 2 * seed), (VALIDATION, validation, 2 * seed + 1)):
        drawn = _draw(graph.name_of, allowed, count, salt=salt)
        set_of_component[drawn] = chosen
        allowed[drawn] = False
    sets = set_of_component[graph.component_of]
    held_out = np.flatnonzero(sets != TRAIN)
    held_out = held_out[np.argsort(_mixed(graph.pair_hashes[held_out], seed), kind="stable")]
    _, scored = np.unique(graph.component_of[held_out], return_index=True)  # the first of each component
    sets[np.delete(held_out, scored)] = SET_ASIDE
    return Assignment(
        sets=sets,
        components=len(allowed),
        largest_component=int(graph.size_of.max(initial=0)),
        overlap=_overlap(graph.ends, sets),
    )


def count_overlap(held_out: Iterable[Pair], others: Iterable[Pair]) -> int:
    """Pairs of the first set that share a text, on either side, with the second."""
    one, two = PairHashes(held_out).texts, PairHashes(others).texts
    return int(np.isin(one, two).any(axis=1).sum())


def text_key(text: str) -> str:
    """What two texts have in common when they count as the same."""
    words = " ".join(unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).casefold()).split())
    end = len(words)
    while end and (words[end - 1] == " " or unicodedata.category(words[end - 1]).startswith("P")):
        end -= 1
    return words[:end] or words


def hashes_of_texts(pair: Pair) -> tuple[int, int]:
    """Of the keys of both sides."""
    return hash_of(text_key(pair.source)), hash_of(text_key(pair.target))


def _graph(texts: Hashes, pair_hashes: Hashes) -> _Graph:
    known = _distinct(texts)
    ends = np.searchsorted(known, texts).astype(np.uint32)
    roots = _roots(ends, len(known))
    is_root = roots == np.arange(len(known), dtype=np.uint32)
    component_of = (np.cumsum(is_root, dtype=np.uint32) - np.uint32(1))[roots[ends[:, 0]]]
    return _Graph(
        ends=ends,
        pair_hashes=pair_hashes,
        component_of=component_of,
        name_of=known[is_root],
        size_of=np.bincount(component_of, minlength=int(is_root.sum())).astype(np.uint32),
    )


def _distinct(hashes: Hashes) -> Hashes:
    """Sorted, each once. (`np.unique` builds a hash table of five times their size.)"""
    ordered = np.sort(hashes, axis=None)
    return ordered[np.append(True, ordered[1:] != ordered[:-1])[: len(ordered)]]


def _roots(ends: NDArray[np.uint32], texts: int) -> NDArray[np.uint32]:
    """For each text the smallest one in its component, by union-find in which the smaller root wins."""
    parent = array("I", range(texts))

    def root(text: int) -> int:
        while parent[text] != text:
            parent[text] = parent[parent[text]]
            text = parent[text]
        return text

    flat = iter(ends.reshape(-1).data)
    for source, target in zip(flat, flat, strict=True):
        one, two = root(source), root(target)
        parent[max(one, two)] = min(one, two)
    for text in range(texts):
        parent[text] = root(text)
    return np.frombuffer(parent, np.uint32)


def _draw(names: Hashes, allowed: NDArray[np.bool_], count: int, *, salt: int) -> NDArray[np.intp]:
    """`count` of the allowed components, those whose names mix with the salt to the smallest numbers."""
    if not count:
        return np.empty(0, np.intp)
    mixed = _mixed(names, salt)
    mixed[~allowed] = np.iinfo(np.uint64).max
    return np.argpartition(mixed, count)[:count]


def _mixed(hashes: Hashes, salt: int) -> Hashes:
    """Numbers that depend on each hash and the salt alone (the finaliser of SplitMix64)."""
    mixed = hashes + np.uint64((salt + 1) * 0x9E3779B97F4A7C15 % 2**64)
    mixed ^= mixed >> np.uint64(30)
    mixed *= np.uint64(0xBF58476D1CE4E5B9)
    mixed ^= mixed >> np.uint64(27)
    mixed *= np.uint64(0x94D049BB133111EB)
    mixed ^= mixed >> np.uint64(31)
    return mixed


def _overlap(ends: NDArray[np.uint32], sets: NDArray[np.uint8]) -> int:
    overlap = 0
    for held_out, other in ((TEST, TRAIN), (VALIDATION, TRAIN), (VALIDATION, TEST)):
        met = np.zeros(int(ends.max(initial=0)) + 1, bool)
        met[ends[sets == other]] = True
        overlap += int(met[ends[sets == held_out]].any(axis=1).sum())
    return overlap
