"""How gradients become new weights: Muon for the matrices inside the layers, Adam for everything else."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import torch
from torch import Tensor, nn

from model.attention import CrossAttention, SelfAttention
from model.transformer import Transformer
from training.recipes import Recipe
from training.sharding import fill, part_of, whole
from training.world import World

ADAM_MOMENTS = ("exp_avg", "exp_avg_sq")  # torch's names of them
MOMENTUM = 0.95
LIKE_ADAM = 0.2  # root mean square of an update of Adam's, relative to the learning rate
# A quintic whose iteration pulls all singular values towards 1, fast though not exactly (Jordan et al. 2024).
STEPS, A, B, C = 5, 3.4445, -4.7750, 2.0315


class Optimiser:
    """Updates a model's weights from their gradients.

    `adam` (arXiv 1412.6980, weight decay decoupled: 1711.05101) moves every number by its own history. `muon`
    (arXiv 2502.16982) moves a matrix by its momentum with all singular values made equal, so that rare directions
    learn as fast as common ones; tables, norms and biases stay with Adam. Updates are scaled to the size of
    Adam's: one learning rate serves both.
    """

    def __init__(self, model: Transformer, recipe: Recipe, world: World) -> None:
        self.recipe, self.world = recipe, world
        self.names: dict[Tensor, str] = {parameter: name for name, parameter in model.named_parameters()}
        self.matrices = dict(_matrices(model)) if recipe.optimiser == "muon" else {}
        self.momentum = {parameter: torch.zeros_like(parameter) for parameter in self.matrices}
        self.adam = torch.optim.AdamW(
            [parameter for parameter in model.parameters() if parameter not in self.matrices],
            lr=0.0,
            betas=(0.9, 0.98),
            eps=1e-9,
            weight_decay=recipe.weight_decay,
            fused=True,
        )

    @torch.no_grad()
    def step(self, rate: float) -> None:
        """One update with learning rate `rate`."""
        for group in self.adam.param_groups:
            group["lr"] = rate
        self.adam.step()
        if self.matrices:
            self._step_matrices(rate)

    def state(self) -> dict[str, Tensor]:
        """All that the next update depends on, as `kind/parameter`."""
        tensors = {f"momentum/{self.names[parameter]}": value for parameter, value in self.momentum.items()}
        for parameter, moments in self.adam.state.items():
            tensors |= {f"{kind}/{self.names[parameter]}": value for kind, value in moments.items()}
        return tensors

    def restore(self, tensors: dict[str, Tensor]) -> None:
        """The inverse of `state`."""
        for parameter, value in self.momentum.items():
            fill(value, tensors[f"momentum/{self.names[parameter]}"])
        for parameter in self.adam.param_groups[0]["params"]:
            name = self.names[parameter]
            if f"exp_avg/{name}" in tensors:
                step = tensors[f"step/{name}"].to(parameter.device)
                moments = {kind: torch.zeros_like(parameter) for kind in ADAM_MOMENTS}
                for kind, value in moments.items():
                    fill(value, tensors[f"{kind}/{name}"])
                self.adam.state[parameter] = {"step": step, **moments}

    def _step_matrices(self, rate: float) -> None:
        wanted = {}
        for parameter in self.matrices:
            assert parameter.grad is not None
            momentum = self.momentum[parameter].lerp_(parameter.grad, 1 - MOMENTUM)
            wanted[parameter] = whole(parameter.grad.lerp(momentum, MOMENTUM))  # Nesterov's look ahead
        self._orthogonalise(
            [
                block
                for parameter, height in self.matrices.items()
                for block in torch.split(wanted[parameter], height)
            ]
        )
        parameters = list(wanted)
        torch._foreach_mul_(parameters, 1 - rate * self.recipe.weight_decay)
        torch._foreach_sub_(parameters, [part_of(wanted[one], one) for one in parameters], alpha=rate)

    def _orthogonalise(self, blocks: Sequence[Tensor]) -> None:
        """In place, and scaled to the size of Adam's updates; the processes share the work."""
        by_shape: dict[tuple[int, ...], list[Tensor]] = {}
        for block in blocks:
            by_shape.setdefault(tuple(block.shape), []).append(block)
        for shape, alike in by_shape.items():
            results = self.world.divide(orthogonalised, torch.stack(alike))
            torch._foreach_copy_(alike, list(results.mul_(LIKE_ADAM * max(shape) ** 0.5).unbind()))


def orthogonalised(blocks_NRC: Tensor) -> Tensor:
    """Each matrix with its singular vectors kept and its singular values brought near 1 (0.7 to 1.2)."""
    is_tall = blocks_NRC.shape[1] > blocks_NRC.shape[2]
    x = blocks_NRC.mT if is_tall else blocks_NRC
    x = x / (x.norm(dim=(1, 2), keepdim=True) + 1e-7)
    for _ in range(STEPS):
        gram = x @ x.mT
        x = torch.baddbmm(x, torch.baddbmm(gram, gram, gram, beta=B, alpha=C), x, beta=A)
    return x.mT if is_tall else x


def _matrices(model: Transformer) -> Iterator[tuple[Tensor, int]]:
    """Each matrix of a layer, with the height of the blocks that it is made of.

    Queries, keys and values are matrices of their own, laid above each other only for speed.
    """
    fused: dict[nn.Module, int] = {}
    for module in model.modules():
        if isinstance(module, SelfAttention):
            fused[module.queries_keys_values] = module.key_value_heads * module.head_width
        elif isinstance(module, CrossAttention):
            fused[module.keys_values] = module.key_value_heads * module.head_width
    for module in model.modules():
        if isinstance(module, nn.Linear):
            yield module.weight, fused.get(module, len(module.weight))
