"""Dropout with cheap masks: on CPU, drawing them is what costs."""

from __future__ import annotations

import torch
from torch import Tensor, nn


class Dropout(nn.Module):
    """Zeroes a share of the features while training and scales the rest up, so that the mean stays.

    Eight masks come out of each 64-bit random number, one a byte; the share is therefore the nearest
    256th to the `rate` asked for, and the scale is that of the share really dropped.
    """

    def __init__(self, rate: float) -> None:
        super().__init__()
        self.rate = rate
        self.threshold = min(round(rate * 256), 255)  # some share is always kept, so the mean can stay

    def forward(self, x: Tensor) -> Tensor:
        """The same shape; `x` itself unless training."""
        if not self.training or self.threshold == 0:
            return x
        return x * keep_mask(x, self.threshold) * (256 / (256 - self.threshold))

    def extra_repr(self) -> str:
        return f"rate={self.rate}"


def keep_mask(x: Tensor, threshold: int) -> Tensor:
    """True where a random byte reaches the threshold: kept with probability 1 − threshold/256."""
    words = torch.empty((x.numel() + 7) // 8, dtype=torch.int64, device=x.device)
    words.random_(-(2**63), None)
    return (words.view(torch.uint8)[: x.numel()] >= threshold).view(x.shape)
