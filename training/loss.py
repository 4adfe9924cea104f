"""Label-smoothed cross-entropy fused with the output projection, so that all logits never exist at once."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

CHUNK = 512  # rows whose logits exist at the same time: they stay in the processor's cache


class _OutputLoss(torch.autograd.Function):
    """Sum over rows of the smoothed cross-entropy of softmax(hidden · outputᵀ).

    Its gradient is known as soon as the logits are, so both are computed in the forward pass, chunk by chunk.
    """

    @staticmethod
    def forward(
        ctx: Any, hidden_ND: Tensor, output_VD: Tensor, targets_N: Tensor, smoothing: float
    ) -> Tensor:
        hidden_gradient = torch.empty_like(hidden_ND)
        output_gradient = torch.zeros_like(output_VD)
        total = torch.zeros((), dtype=torch.float32, device=hidden_ND.device)
        even = smoothing / output_VD.shape[0]
        for start in range(0, len(hidden_ND), CHUNK):
            rows = slice(start, start + CHUNK)
            hidden, targets = hidden_ND[rows], targets_N[rows, None]
            log_probs = (hidden @ output_VD.T).float().log_softmax(dim=-1)
            total -= (1 - smoothing) * log_probs.gather(1, targets).sum() + even * log_probs.sum()
            # d loss / d logits = softmax − (smoothed one-hot target)
            gradient = log_probs.exp_().sub_(even)
            gradient.scatter_add_(1, targets, gradient.new_full((len(targets), 1), smoothing - 1))
            gradient = gradient.to(hidden.dtype)
            hidden_gradient[rows] = gradient @ output_VD
            output_gradient.addmm_(gradient.T, hidden)
        ctx.save_for_backward(hidden_gradient, output_gradient)
        return total

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, Tensor, None, None]:
        hidden_gradient, output_gradient = ctx.saved_tensors
        return hidden_gradient * gradients[0], output_gradient * gradients[0], None, None


def output_loss(hidden_ND: Tensor, output_VD: Tensor, targets_N: Tensor, *, smoothing: float) -> Tensor:
    """Sum over N rows, in nats: cross-entropy against (1 − smoothing) on the target + smoothing spread evenly.

    hidden (N, D) are the decoder's outputs at real positions only; output (V, D) the projection (arXiv 1512.00567,
    section 7, for the smoothing).
    """
    return _OutputLoss.apply(hidden_ND, output_VD, targets_N, smoothing)  # type: ignore[no-untyped-call]
