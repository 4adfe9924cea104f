"""The position-wise feed-forward network: each position alone, up to F features and back."""

from __future__ import annotations

from torch import Tensor, nn
from torch.nn import functional


class ReluFeedForward(nn.Module):
    """down(relu(up(x))) (arXiv 1706.03762, section 3.3)."""

    def __init__(self, *, width: int, inner_width: int) -> None:
        super().__init__()
        self.up = nn.Linear(width, inner_width)
        self.down = nn.Linear(inner_width, width)

    def forward(self, x: Tensor) -> Tensor:
        """(…, D) to (…, D)."""
        return self.down(functional.relu(self.up(x)))


class GeluFeedForward(ReluFeedForward):
    """down(gelu(up(x))), the exact GELU (arXiv 1606.08415)."""

    def forward(self, x: Tensor) -> Tensor:
        """(…, D) to (…, D)."""
        return self.down(functional.gelu(self.up(x)))


class SiluFeedForward(ReluFeedForward):
    """down(silu(up(x))), silu(x) = x · sigmoid(x) (arXiv 1702.03118); Marian calls it swish."""

    def forward(self, x: Tensor) -> Tensor:
        """(…, D) to (…, D)."""
        return self.down(functional.silu(self.up(x)))


class SwiGluFeedForward(ReluFeedForward):
    """down(silu(gate(x)) · up(x)) (arXiv 2002.05202)."""

    def __init__(self, *, width: int, inner_width: int) -> None:
        super().__init__(width=width, inner_width=inner_width)
        self.gate = nn.Linear(width, inner_width)

    def forward(self, x: Tensor) -> Tensor:
        """(…, D) to (…, D)."""
        return self.down(functional.silu(self.gate(x)) * self.up(x))
