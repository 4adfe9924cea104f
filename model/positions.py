"""How a position is told to the model: sinusoids or a learned table added to embeddings, or turned heads."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor, nn

BASE = 10000.0


class Rotation(NamedTuple):
    """Cosines and sines, each (L, K/2) in fp32, of the angles by which L positions turn pairs of features."""

    cos: Tensor
    sin: Tensor


Code = Tensor | Rotation
"""What tells the model where L positions are: (L, D) to be added to embeddings, or a turn of heads."""


class SinusoidalPositions(nn.Module):
    """sin at even, cos at odd features of angles p / 10000^(2i/D) (arXiv 1706.03762, section 3.5)."""

    def __init__(self, *, width: int, max_positions: int) -> None:
        super().__init__()
        self.register_buffer("table_LD", sinusoids(max_positions, width), persistent=False)
        self.table_LD: Tensor

    def forward(self, start: int, length: int) -> Tensor:
        """Codes (L, D) of positions start … start + length − 1."""
        return _rows(self.table_LD, start, length)


class SinusoidalPositionsInHalves(SinusoidalPositions):
    """The same codes with their features in another order: all sines, then all cosines, as Marian has them."""

    def __init__(self, *, width: int, max_positions: int) -> None:
        super().__init__(width=width, max_positions=max_positions)
        self.table_LD = torch.cat([self.table_LD[:, 0::2], self.table_LD[:, 1::2]], dim=1)


class LearnedPositions(nn.Module):
    """A trained table with a row for each position."""

    def __init__(self, *, width: int, max_positions: int) -> None:
        super().__init__()
        self.table_LD = nn.Parameter(torch.empty(max_positions, width))
        nn.init.normal_(self.table_LD, std=width**-0.5)

    def forward(self, start: int, length: int) -> Tensor:
        """Codes (L, D) of positions start … start + length − 1."""
        return _rows(self.table_LD, start, length)


class RotaryPositions(nn.Module):
    """RoPE (arXiv 2104.09864): pair (i, i + K/2) of a head is turned by p / 10000^(2i/K)."""

    def __init__(self, *, head_width: int, max_positions: int) -> None:
        super().__init__()
        angles = torch.outer(torch.arange(max_positions).double(), _frequencies(head_width))
        self.register_buffer("cos_LK", angles.cos().float(), persistent=False)
        self.register_buffer("sin_LK", angles.sin().float(), persistent=False)
        self.cos_LK: Tensor
        self.sin_LK: Tensor

    def forward(self, start: int, length: int) -> Rotation:
        """The turns of positions start … start + length − 1."""
        return Rotation(_rows(self.cos_LK, start, length), _rows(self.sin_LK, start, length))


def sinusoids(length: int, width: int) -> Tensor:
    """The table of sinusoidal codes, (length, width), fp32, computed in fp64."""
    angles = torch.outer(torch.arange(length).double(), _frequencies(width))
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1).float()


def rotate(heads_BHLK: Tensor, rotation: Rotation) -> Tensor:
    """Every head's vector at position l turned by that position's angles; norms are kept."""
    cos, sin = rotation.cos.to(heads_BHLK.dtype), rotation.sin.to(heads_BHLK.dtype)
    first, second = heads_BHLK.chunk(2, dim=-1)
    return torch.cat([first * cos - second * sin, second * cos + first * sin], dim=-1)


def _frequencies(width: int) -> Tensor:
    return BASE ** (-torch.arange(0, width, 2).double() / width)


def _rows(table: Tensor, start: int, length: int) -> Tensor:
    if start + length > len(table):
        raise ValueError(f"{start + length} positions asked for, this model has {len(table)}")
    return table[start : start + length]
