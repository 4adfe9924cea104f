"""What decoding remembers, at addresses that never change, and the step that writes it in place."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor

from model.graphs.shape import Shape
from model.positions import Code, Rotation
from model.state import Cache, DecoderState, Memory
from model.transformer import Transformer


@dataclass(frozen=True)
class FixedCache(Cache):
    """A cache with room for T positions from the start; one more is written to where `position_1` says."""

    position_1: Tensor

    def extend(self, keys_NG1K: Tensor, values_NG1K: Tensor) -> FixedCache:
        """The same cache, written in place."""
        self.keys.index_copy_(2, self.position_1, keys_NG1K)
        self.values.index_copy_(2, self.position_1, values_NG1K)
        return self


class Buffers:
    """The state of a batch of one shape, and what a step reads and writes besides."""

    def __init__(self, model: Transformer, shape: Shape) -> None:
        config, device, dtype = model.config, model.output_VD.device, model.output_VD.dtype
        heads = (config.key_value_heads, config.head_width)

        def zeros(count: int, length: int) -> Tensor:
            return torch.zeros(count, heads[0], length, heads[1], device=device, dtype=dtype)

        N, T = shape.rows, shape.target
        self.shape = shape
        self.tokens_N = torch.zeros(N, dtype=torch.long, device=device)
        self.position_1 = torch.zeros(1, dtype=torch.long, device=device)
        self.positions_T = torch.arange(T, device=device)
        self.caches = tuple(FixedCache(zeros(N, T), zeros(N, T), self.position_1) for _ in model.decoder)
        self.memories = tuple(
            Memory(zeros(shape.sentences, shape.source), zeros(shape.sentences, shape.source))
            for _ in model.decoder
        )
        self.memory_mask_BS = torch.zeros(shape.sentences, shape.source, dtype=torch.bool, device=device)
        self.log_probs_NV = torch.zeros(N, config.vocabulary_size, device=device)

    @cached_property
    def nbytes(self) -> int:
        """Of all of them together."""
        others = (self.tokens_N, self.positions_T, self.memory_mask_BS, self.log_probs_NV)
        return sum(tensor.nbytes for tensor in (*self._pasts(), *self._memories(), *others))

    def begin(self, start: DecoderState) -> None:
        """Hold the sources of a state before its first position, in the first places."""
        self._clear()
        B, S = start.memory_mask_BS.shape
        self.memory_mask_BS[:B, :S] = start.memory_mask_BS
        for new, old in zip(self.memories, start.memories, strict=True):
            new.keys[:B, :, :S] = old.keys
            new.values[:B, :, :S] = old.values

    def take_over(self, other: Buffers, sentences_B: Tensor, places_B: Tensor) -> None:
        """Hold the named sources of other buffers, at these places."""
        self._clear()
        self.memory_mask_BS[places_B] = other.memory_mask_BS[sentences_B]
        for new, old in zip(self._memories(), other._memories(), strict=True):
            new[places_B] = old[sentences_B]

    def take_rows(self, other: Buffers, origins_N: Tensor, rows_N: Tensor, length: int) -> None:
        """Go on, in `rows_N`, with the `length` positions of other rows: of other buffers, or of these."""
        for new, old in zip(self._pasts(), other._pasts(), strict=True):
            # Selected whole before any is written: a row may both go on elsewhere and be overwritten.
            new[:, :, :length].index_copy_(0, rows_N, old[:, :, :length].index_select(0, origins_N))

    def _clear(self) -> None:
        """Nothing of who was here before. Masks would hide numbers, but not what is none: 0 · NaN is NaN."""
        for tensor in (*self._pasts(), *self._memories(), self.memory_mask_BS):
            tensor.zero_()

    def _pasts(self) -> Iterator[Tensor]:
        for cache in self.caches:
            yield from (cache.keys, cache.values)

    def _memories(self) -> Iterator[Tensor]:
        for memory in self.memories:
            yield from memory


def step(model: Transformer, buffers: Buffers) -> None:
    """One position more in every row: from `tokens_N` at `position_1` to `log_probs_NV`, all in place.

    Nothing here may depend on a number that the host knows and that changes: a captured step repeats these
    operations on these addresses, and runs no Python.
    """
    state = DecoderState(buffers.caches, buffers.memories, buffers.memory_mask_BS)
    code = _at(buffers.position_1, model.target_positions(0, buffers.shape.target))
    mask_T = buffers.positions_T <= buffers.position_1
    hidden_N1D, _ = model.decode_at(buffers.tokens_N[:, None], state, code, mask_T)
    logits_NV = model.logits(hidden_N1D[:, 0])
    torch.log_softmax(logits_NV.float(), dim=-1, out=buffers.log_probs_NV)


def _at(position_1: Tensor, code: Code) -> Code:
    if isinstance(code, Rotation):
        return Rotation(code.cos.index_select(0, position_1), code.sin.index_select(0, position_1))
    return code.index_select(0, position_1)
