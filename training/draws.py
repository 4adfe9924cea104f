"""Which pair is the n-th to be trained on: shuffled, weighted, and computed rather than stored.

An epoch is as long as all corpora together. Each corpus has its share of it, and goes through all of its pairs before
any comes again, over the borders of epochs. So the n-th draw is a function of n, and a run can go on anywhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from training.corpora.hashes import hash_of

ROUNDS = 8
Numbers = NDArray[np.int64]


@dataclass(frozen=True)
class Draws:
    """Pairs of several corpora, numbered one corpus after the other. `shares` add up to 1."""

    sizes: tuple[int, ...]  # pairs of each corpus, none of them zero
    shares: tuple[float, ...]  # of each corpus in the draws
    seed: int

    @property
    def per_epoch(self) -> int:
        return sum(self.sizes)

    @cached_property
    def quotas(self) -> Numbers:
        """Draws of each corpus in an epoch: its share, to within one draw."""
        ends = np.rint(np.cumsum(self.shares) * self.per_epoch).astype(np.int64)
        ends[-1] = self.per_epoch
        return np.diff(ends, prepend=0)

    def pairs(self, epoch: int, places: Numbers) -> Numbers:
        """The numbers of the pairs that are drawn at places 0 … per_epoch − 1 of an epoch."""
        ends = np.cumsum(self.quotas)
        shuffled = permuted(places, self.per_epoch, hash_of(f"{self.seed} epoch {epoch}"))
        corpora = np.searchsorted(ends, shuffled, side="right")
        pairs = np.empty_like(places)
        for corpus, size in enumerate(self.sizes):
            here = corpora == corpus
            quota = self.quotas[corpus]
            rounds, drawn = np.divmod(epoch * quota + shuffled[here] - (ends[corpus] - quota), size)
            for number in np.unique(rounds):  # of passes through this corpus: one or two in most epochs
                key = hash_of(f"{self.seed} corpus {corpus} pass {number}")
                drawn[rounds == number] = permuted(drawn[rounds == number], size, key)
            pairs[here] = drawn + sum(self.sizes[:corpus])
        return pairs


def shares_of(sizes: Sequence[int], weights: Sequence[float] | None) -> tuple[float, ...]:
    """Shares that add up to 1: the weights', or, without, those that make every pair as frequent as any other."""
    given = sizes if weights is None else weights
    return tuple(weight / sum(given) for weight in given)


def permuted(places: Numbers, size: int, key: int) -> Numbers:
    """Where a shuffle of 0 … size − 1 puts these places. The key chooses the shuffle.

    A Feistel network is a bijection of all numbers of some bits, whatever its round function; a result beyond `size`
    goes through again until it is in range, which leaves a bijection of the range (cycle walking: Black and Rogaway,
    Ciphers with Arbitrary Finite Domains, 2002).
    """
    bits = max(1, (size - 1).bit_length())
    low = bits // 2
    result = places.astype(np.uint64)
    beyond = np.ones(len(places), bool)
    while beyond.any():
        result[beyond] = _feistel(result[beyond], low, bits - low, key)
        beyond = result >= size
    return result.astype(np.int64)


def _feistel(numbers: NDArray[np.uint64], low: int, high: int, key: int) -> NDArray[np.uint64]:
    right, left = numbers & np.uint64((1 << low) - 1), numbers >> np.uint64(low)
    for round_ in range(ROUNDS):
        round_key = np.uint64((key + (round_ + 1) * 0x9E3779B97F4A7C15) % 2**64)
        if round_ % 2:
            right ^= _mixed(left ^ round_key) >> np.uint64(64 - low) if low else np.uint64(0)
        else:
            left ^= _mixed(right ^ round_key) >> np.uint64(64 - high)
    return (left << np.uint64(low)) | right


def _mixed(numbers: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The finaliser of SplitMix64."""
    numbers = (numbers ^ (numbers >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    numbers = (numbers ^ (numbers >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return numbers ^ (numbers >> np.uint64(31))
