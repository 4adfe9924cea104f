"""Tensors that several processes hold a part of each (DTensor), and the whole tensors that they stand for.

Where nothing is sharded, a tensor is its own whole, so callers need not ask.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.distributed.tensor import DTensor

from model.transformer import Transformer


def whole(tensor: Tensor) -> Tensor:
    """All of it; every process must ask at the same time."""
    return tensor.full_tensor() if isinstance(tensor, DTensor) else tensor


def part_of(complete: Tensor, like: Tensor) -> Tensor:
    """What this process holds of a whole tensor, laid out like `like`. Nothing is sent."""
    if not isinstance(like, DTensor):
        return complete
    mesh = like.device_mesh
    rows = complete.chunk(mesh.size())  # as FSDP lays them out: the last processes may have fewer, or none
    rank = mesh.get_local_rank()
    mine = rows[rank] if rank < len(rows) else complete[:0]
    return DTensor.from_local(
        mine.to(like.device), mesh, like.placements, run_check=False, shape=like.shape, stride=like.stride()
    )


@torch.no_grad()
def fill(tensor: Tensor, complete: Tensor) -> None:
    """Write into `tensor` what it holds of a whole one. Nothing is sent."""
    tensor.copy_(part_of(complete, tensor))


def whole_model(model: Transformer) -> Transformer:
    """The model itself or, of a sharded one, a copy in every process; all must ask at the same time."""
    if not any(isinstance(parameter, DTensor) for parameter in model.parameters()):
        return model
    with torch.random.fork_rng(devices=[]):  # a measurement must not change what is drawn after it
        copy = Transformer(model.config)
    copy.to(next(model.parameters()).device).requires_grad_(False)
    for parameter, sharded in zip(copy.parameters(), model.parameters(), strict=True):
        fill(parameter, whole(sharded.detach()))
    return copy.eval()
