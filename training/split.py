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

from training.hashes import hash_of
from training.pairs import CorpusError, Pair

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
class Split:
    train: list[Pair]
    validation: list[Pair]
    test: list[Pair]
    set_aside: int  # siblings of held-out pairs, which are in no set
    overlap: int  # as in Assignment: must be 0


def split(pairs: Sequence[Pair], *, validation: int, test: int, seed: int) -> Split:
    """Three lists, in the order of the corpus; see `assign`."""
    assignment = assign(pairs, validation=validation, test=test, seed=seed)
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


def assign(pairs: Iterable[Pair], *, validation: int, test: int, seed: int) -> Assignment:
    """Holds out `validation` and `test` pairs, each from a component of its own. Reads the pairs once and
    keeps 24 bytes of each.

    Of a held-out component one pair is scored and its siblings are set aside: to train on them would leak,
    and to score them would weigh one sentence several times and ask one source for two answers. So a held-out
    set has distinct sources and distinct targets, and serves both directions.

    A component is drawn by a hash of its smallest text and the seed, not by its place. Adding pairs to a
    corpus moves only the few held-out pairs that the new ones push out or join.

    Raises CorpusError when the corpus has too few components that may be held out.
    """
    texts, pair_hashes = _hash(pairs)
    component_of, name_of, size_of = _components(texts)
    small = np.flatnonzero(size_of <= LARGEST_HELD_OUT)
    if validation + test > len(small) or validation + test >= max(len(size_of), 1):
        raise CorpusError(
            f"cannot hold out {validation:,} + {test:,} pairs: the {len(texts):,} pairs form only "
            f"{len(size_of):,} groups that share no text, and {len(small):,} of them are small enough"
        )
    for_test = small[_ranks(name_of[small], 2 * seed)[:test]]
    rest = np.setdiff1d(small, for_test)
    for_validation = rest[_ranks(name_of[rest], 2 * seed + 1)[:validation]]

    set_of_component = np.full(len(size_of), TRAIN, np.uint8)
    set_of_component[for_test] = TEST
    set_of_component[for_validation] = VALIDATION
    sets = set_of_component[component_of]
    held_out = np.flatnonzero(sets != TRAIN)
    held_out = held_out[_ranks(pair_hashes[held_out], seed)]
    _, scored = np.unique(component_of[held_out], return_index=True)  # the first of each component, so ranked
    sets[np.delete(held_out, scored)] = SET_ASIDE
    return Assignment(
        sets=sets,
        components=len(size_of),
        largest_component=int(size_of.max(initial=0)),
        overlap=_overlap(texts, sets),
    )


def count_overlap(held_out: Iterable[Pair], others: Iterable[Pair]) -> int:
    """Pairs of the first set that share a text, on either side, with the second."""
    (one, _), (two, _) = _hash(held_out), _hash(others)
    return int(np.isin(one, two).any(axis=1).sum())


def text_key(text: str) -> str:
    """What two texts have in common when they count as the same."""
    words = " ".join(unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).casefold()).split())
    end = len(words)
    while end and (words[end - 1] == " " or unicodedata.category(words[end - 1]).startswith("P")):
        end -= 1
    return words[:end] or words


def _hash(pairs: Iterable[Pair]) -> tuple[Hashes, Hashes]:
    """Hashes of the two text keys of each pair, shape (pairs, 2), and of each pair as it is written."""
    texts, whole = array("Q"), array("Q")
    for pair in pairs:
        texts.extend(hash_of(text_key(text)) for text in pair)
        whole.append(hash_of("\n".join(pair)))
    return np.frombuffer(texts, np.uint64).reshape(-1, 2), np.frombuffer(whole, np.uint64)


def _components(texts: Hashes) -> tuple[NDArray[np.intp], Hashes, NDArray[np.intp]]:
    """Component of each pair; then, for each component, its smallest text and its number of pairs.

    Labels spread along the edges until none changes: a text takes the smallest label that it meets, and then
    the label of that label, so that chains shorten by half in each round.
    """
    known, ends = np.unique(texts, return_inverse=True)
    source, target = ends.reshape(-1, 2).T
    labels = np.arange(len(known))
    while True:
        before = labels.copy()
        smaller = np.minimum(labels[source], labels[target])
        np.minimum.at(labels, source, smaller)
        np.minimum.at(labels, target, smaller)
        labels = labels[labels]
        if np.array_equal(labels, before):
            break
    names, component_of, sizes = np.unique(labels[source], return_inverse=True, return_counts=True)
    return component_of, known[names], sizes


def _ranks(hashes: Hashes, salt: int) -> NDArray[np.intp]:
    """An order that depends on each number and the salt alone (the finaliser of SplitMix64)."""
    mixed = hashes + np.uint64((salt + 1) * 0x9E3779B97F4A7C15 % 2**64)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.argsort(mixed ^ (mixed >> np.uint64(31)), kind="stable")


def _overlap(texts: Hashes, sets: NDArray[np.uint8]) -> int:
    train, validation, test = (texts[sets == chosen] for chosen in (TRAIN, VALIDATION, TEST))
    return sum(
        int(np.isin(held_out, others).any(axis=1).sum())
        for held_out, others in ((test, train), (validation, train), (validation, test))
    )
