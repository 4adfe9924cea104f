"""Splitting a corpus into training, validation and test sets that share no text.

Tatoeba holds "Go!" five times with five translations, and each of those with other sources. A random split
would put one of them into the test and the others into training. Here pairs are nodes of a graph, joined
where they share a text on either side, and a connected component never meets two sets.

Texts are the same when they agree after NFC, case folding, folding of white space and stripping of final
punctuation.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b

from training.pairs import CorpusError, Pair

LARGEST_HELD_OUT = 8
"""Larger components, in pairs, stay in training: holding one out would cost many pairs for one sentence."""


@dataclass(frozen=True)
class Split:
    """Three lists in the order of the corpus, and what became of the rest."""

    train: list[Pair]
    validation: list[Pair]
    test: list[Pair]
    components: int  # connected components of the corpus
    largest_component: int  # in pairs
    set_aside: int  # siblings of held-out pairs: in no set
    overlap: int  # held-out pairs that share a text with another set; counted afresh, must be 0


def split(pairs: Sequence[Pair], *, validation: int, test: int, seed: int) -> Split:
    """Holds out `validation` and `test` pairs, each from a component of its own.

    Of a held-out component one pair is scored and its siblings are set aside: to train on them would leak,
    and to score them would weigh one sentence several times and ask one source for two answers. So a held-out
    set has distinct sources and distinct targets, and serves both directions.

    A component is drawn by a hash of its smallest text and the seed, not by its place. Adding pairs to a
    corpus moves only the few held-out pairs that the new ones push out or join.

    Raises CorpusError when the corpus has too few components that may be held out.
    """
    component_of = _components(pairs)
    members: dict[int, list[int]] = {}
    for index, component in enumerate(component_of):
        members.setdefault(component, []).append(index)
    names = {
        component: min(_key(text) for index in indices for text in pairs[index])
        for component, indices in members.items()
        if len(indices) <= LARGEST_HELD_OUT
    }
    if validation + test >= len(members) or validation + test > len(names):
        raise CorpusError(
            f"cannot hold out {validation:,} + {test:,} pairs: the {len(pairs):,} pairs form only "
            f"{len(members):,} groups that share no text, and {len(names):,} of them are small enough"
        )
    for_test = _draw(names, test, f"{seed} test")
    rest = {component: name for component, name in names.items() if component not in for_test}
    for_validation = _draw(rest, validation, f"{seed} validation")

    chosen = {component: _scored(pairs, members[component], seed) for component in for_test | for_validation}
    sets: dict[str, list[Pair]] = {"train": [], "validation": [], "test": []}
    for index, component in enumerate(component_of):
        if component not in chosen:
            sets["train"].append(pairs[index])
        elif chosen[component] == index:
            sets["test" if component in for_test else "validation"].append(pairs[index])
    return Split(
        **sets,
        components=len(members),
        largest_component=max(map(len, members.values())),
        set_aside=len(pairs) - sum(map(len, sets.values())),
        overlap=count_overlap(sets["test"], sets["train"])
        + count_overlap(sets["validation"], sets["train"])
        + count_overlap(sets["validation"], sets["test"]),
    )


def count_overlap(held_out: Sequence[Pair], others: Sequence[Pair]) -> int:
    """Pairs of the first set that share a text, on either side, with the second."""
    known = {_key(text) for pair in others for text in pair}
    return sum(any(_key(text) in known for text in pair) for pair in held_out)


def text_key(text: str) -> str:
    """What two texts have in common when they count as the same."""
    words = " ".join(unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).casefold()).split())
    end = len(words)
    while end and (words[end - 1] == " " or unicodedata.category(words[end - 1]).startswith("P")):
        end -= 1
    return words[:end] or words


def _components(pairs: Sequence[Pair]) -> list[int]:
    """For each pair the number of its component, by union-find over the pairs that first held each text."""
    parent = list(range(len(pairs)))

    def root(index: int) -> int:
        while parent[index] != index:
            parent[index] = parent[parent[index]]
            index = parent[index]
        return index

    first_with: dict[bytes, int] = {}
    for index, pair in enumerate(pairs):
        for text in pair:
            other = first_with.setdefault(_key(text), index)
            one, two = root(index), root(other)
            parent[max(one, two)] = min(one, two)
    return [root(index) for index in range(len(pairs))]


def _draw(names: dict[int, bytes], count: int, salt: str) -> set[int]:
    ranked = sorted(names, key=lambda component: _digest(salt.encode() + names[component]))
    return set(ranked[:count])


def _scored(pairs: Sequence[Pair], indices: Sequence[int], seed: int) -> int:
    return min(indices, key=lambda index: _digest(f"{seed} {pairs[index]}".encode()))


def _key(text: str) -> bytes:
    return _digest(text_key(text).encode())


def _digest(data: bytes) -> bytes:
    return blake2b(data, digest_size=8).digest()
