"""Label-smoothed cross-entropy fused with the output projection, so that all logits never exist at once."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

CHUNK = 512  # rows whose logits exist at the same time: they stay in the processor's cache


class _OutputLoss(torch.autograd.Function):
    """Sum over rows of the smoothed cross-entropy of softmax(hidden · outputᵀ), and of how two passes differ.

    Its gradient is known as soon as the logits are, so both are computed in the forward pass, chunk by chunk.
    """

    @staticmethod
    def forward(
        ctx: Any,
        hidden_PND: Tensor,
        output_VD: Tensor,
        targets_N: Tensor,
        smoothing: float,
        consistency: float,
    ) -> Tensor:
        P, N, _ = hidden_PND.shape
        hidden_gradient = torch.empty_like(hidden_PND)
        output_gradient = torch.zeros_like(output_VD)
        total = torch.zeros((), dtype=torch.float32, device=hidden_PND.device)
        even = smoothing / output_VD.shape[0]
        for start in range(0, N, CHUNK):
            rows = slice(start, start + CHUNK)
            hidden, targets = hidden_PND[:, rows], targets_N[None, rows, None].expand(P, -1, -1)
            log_probs = (hidden @ output_VD.T).float().log_softmax(dim=-1)
            total -= ((1 - smoothing) * log_probs.gather(2, targets).sum() + even * log_probs.sum()) / P
            if P == 2:
                divergence, gradient = _divergence(log_probs, consistency / 4)
                total += divergence
                gradient.add_(log_probs.exp_().sub_(even), alpha=1 / P)
            else:
                gradient = log_probs.exp_().sub_(even)
            # d cross-entropy / d logits = softmax − (smoothed one-hot target)
            gradient.scatter_add_(2, targets, gradient.new_full(targets.shape, (smoothing - 1) / P))
            gradient = gradient.to(hidden.dtype)
            hidden_gradient[:, rows] = gradient @ output_VD
            output_gradient.addmm_(gradient.flatten(0, 1).T, hidden.flatten(0, 1))
        ctx.save_for_backward(hidden_gradient, output_gradient)
        return total

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, Tensor, None, None, None]:
        hidden_gradient, output_gradient = ctx.saved_tensors
        return hidden_gradient * gradients[0], output_gradient * gradients[0], None, None, None


def output_loss(
    hidden_PND: Tensor, output_VD: Tensor, targets_N: Tensor, *, smoothing: float, consistency: float = 0.0
) -> Tensor:
    """Sum over N rows, in nats: cross-entropy against (1 − smoothing) on the target + smoothing spread evenly.

    hidden (P, N, D) are the decoder's outputs at real positions only; output (V, D) the projection (arXiv
    1512.00567, section 7, for the smoothing). P = 2 are two passes with dropout of their own: the mean of their
    losses, and `consistency` / 2 times the mean of their Kullback–Leibler divergences in both directions. That is
    half of R-Drop's loss (arXiv 2106.14448), so that it is of the size of one pass's.
    """
    loss: Tensor = _OutputLoss.apply(hidden_PND, output_VD, targets_N, smoothing, consistency)  # type: ignore[no-untyped-call]
    return loss


def _divergence(log_probs_PNV: Tensor, weight: float) -> tuple[Tensor, Tensor]:
    """`weight` times KL(p‖q) + KL(q‖p), summed over rows, and its gradient by the logits of both (2, N, V)."""
    probs = log_probs_PNV.exp()
    gap = log_probs_PNV[0] - log_probs_PNV[1]
    forwards = (probs[0] * gap).sum(dim=-1, keepdim=True)
    backwards = -(probs[1] * gap).sum(dim=-1, keepdim=True)
    difference = probs[0] - probs[1]
    gradient = torch.stack(
        [probs[0] * (gap - forwards) + difference, probs[1] * (-gap - backwards) - difference]
    )
    return weight * (forwards + backwards).sum(), gradient.mul_(weight)
