"""Label-smoothed cross-entropy fused with the output projection, so that all logits never exist at once."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

CHUNK = 128  # rows whose logits exist at the same time: they stay in the processor's cache
LEAST = -80.0  # log-probability, about: below are numbers that processors multiply a hundred times slower


class _OutputLoss(torch.autograd.Function):
    """Sum over rows of the smoothed cross-entropy of softmax(hidden · outputᵀ), and of how two passes differ.

    Its gradient is known as soon as the logits are, so both are computed in the forward pass, chunk by chunk. What
    fills the caches is gone through as seldom as can be: all but the softmax itself (the target's share, and what
    smoothing spreads evenly) is computed from the hidden rows, which are short.
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
        for start in range(0, N, CHUNK):
            hidden = hidden_PND[:, start : start + CHUNK]
            logits = (hidden @ output_VD.T).float()
            gap = logits[0] - logits[1] if P == 2 else None
            probs, normalisers = _softmax_(logits)
            total += normalisers.sum() / P
            if gap is None:
                gradient = probs
            else:
                gap -= normalisers[0] - normalisers[1]
                divergence, gradient = _divergence_(probs, gap, consistency / 4)
                total += divergence
            gradient = gradient.to(hidden.dtype)
            hidden_gradient[:, start : start + CHUNK] = gradient @ output_VD
            output_gradient.addmm_(gradient.flatten(0, 1).T, hidden.flatten(0, 1))
        # d cross-entropy / d logits = softmax − (smoothed one-hot target): here is the second term.
        wanted_ND = (1 - smoothing) * output_VD[targets_N] + smoothing * output_VD.mean(dim=0)
        hidden_D = hidden_PND.sum(dim=0, dtype=torch.float32)
        total -= (hidden_D * wanted_ND).sum() / P
        hidden_gradient -= wanted_ND / P
        hidden_D = hidden_D.to(output_VD.dtype) / P
        output_gradient.index_add_(0, targets_N, hidden_D, alpha=smoothing - 1)
        output_gradient -= smoothing / len(output_VD) * hidden_D.sum(dim=0)
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


def _softmax_(logits_PNV: Tensor) -> tuple[Tensor, Tensor]:
    """The probabilities, in the place of the logits, and log Σ e^logit (P, N, 1).

    By hand: torch's softmax over long rows takes several times as long on CPU, as long as a matrix product.
    """
    top = logits_PNV.amax(dim=-1, keepdim=True)
    probs = logits_PNV.sub_(top).clamp_min_(LEAST).exp_()
    sums = probs.sum(dim=-1, keepdim=True)
    return probs.div_(sums), sums.log().add_(top)


def _divergence_(probs_PNV: Tensor, gap_NV: Tensor, weight: float) -> tuple[Tensor, Tensor]:
    """`weight` times KL(p‖q) + KL(q‖p), summed over rows, and the gradient by both logits (2, N, V) with that of the
    mean of their normalisers. `gap` is log p − log q. What is given is overwritten.
    """
    first, second = probs_PNV
    forwards = torch.linalg.vecdot(first, gap_NV)[:, None]
    backwards = torch.linalg.vecdot(second, gap_NV)[:, None]
    difference = (first - second).mul_(weight)
    gap_NV *= weight
    first.mul_(gap_NV + (0.5 - weight * forwards)).add_(difference)
    second.mul_(gap_NV.neg_().add_(0.5 + weight * backwards)).sub_(difference)
    return weight * (forwards - backwards).sum(), probs_PNV
