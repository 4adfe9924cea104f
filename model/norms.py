"""LayerNorm and RMSNorm over the features of each position."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional


class LayerNorm(nn.Module):
    """(x − mean) / √(variance + ε) · gain + bias (arXiv 1607.06450)."""

    def __init__(self, *, width: int, epsilon: float) -> None:
        super().__init__()
        self.gain = nn.Parameter(torch.ones(width))
        self.bias = nn.Parameter(torch.zeros(width))
        self.epsilon = epsilon

    def forward(self, x: Tensor) -> Tensor:
        """The same shape, normalised over the last axis."""
        return functional.layer_norm(x, self.gain.shape, self.gain, self.bias, self.epsilon)


class RMSNorm(nn.Module):
    """x / √(mean of squares + ε) · gain (arXiv 1910.07467)."""

    def __init__(self, *, width: int, epsilon: float) -> None:
        super().__init__()
        self.gain = nn.Parameter(torch.ones(width))
        self.epsilon = epsilon

    def forward(self, x: Tensor) -> Tensor:
        """The same shape, normalised over the last axis."""
        return functional.rms_norm(x, self.gain.shape, self.gain, self.epsilon)
