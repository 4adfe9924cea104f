"""What decoding remembers between two steps: a value that goes in and comes out, never kept in a module."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor


@dataclass(frozen=True)
class Cache:
    """Keys and values, each (N, G, M, K), of the positions that self-attention has seen in one layer."""

    keys: Tensor
    values: Tensor

    @property
    def length(self) -> int:
        """M, how many positions are remembered."""
        return self.keys.shape[2]

    def extend(self, keys_NGLK: Tensor, values_NGLK: Tensor) -> Cache:
        """With L more positions at the end."""
        return Cache(torch.cat([self.keys, keys_NGLK], dim=2), torch.cat([self.values, values_NGLK], dim=2))

    def select(self, rows_N: Tensor) -> Cache:
        """The named rows, in that order, repeated where named twice."""
        return Cache(self.keys.index_select(0, rows_N), self.values.index_select(0, rows_N))


class Memory(NamedTuple):
    """Keys and values, each (B, G, S, K), of the encoder's output in one decoder layer."""

    keys: Tensor
    values: Tensor


@dataclass(frozen=True)
class DecoderState:
    """All that a decoder knows about N = B × W unfinished targets of B sources.

    The memory is kept once a sentence however many hypotheses look at it.
    """

    caches: tuple[Cache, ...]  # one a layer; empty before the first position
    memories: tuple[Memory, ...]  # one a layer
    memory_mask_BS: Tensor  # True at real source positions

    @property
    def length(self) -> int:
        """How many target positions have been decoded."""
        return self.caches[0].length if self.caches else 0

    def select(self, rows_BW: Tensor) -> DecoderState:
        """The state whose row (b, w) continues the old row `rows_BW[b, w]`.

        Serves every move of a search: expanding to a beam (more columns), reordering it, and letting finished
        sentences leave (fewer rows). All old rows of one new sentence belong to one old sentence.
        """
        caches = tuple(cache.select(rows_BW.flatten()) for cache in self.caches)
        old_beam = len(self.caches[0].keys) // len(self.memory_mask_BS)
        sentences_B = rows_BW[:, 0] // old_beam
        if len(sentences_B) == len(self.memory_mask_BS):  # nobody left: sentences keep their order
            return DecoderState(caches, self.memories, self.memory_mask_BS)
        memories = tuple(
            Memory(keys.index_select(0, sentences_B), values.index_select(0, sentences_B))
            for keys, values in self.memories
        )
        return DecoderState(caches, memories, self.memory_mask_BS.index_select(0, sentences_B))
