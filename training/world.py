"""The processes that train one model together. Alone, everything here is a no-op.

An update is the same set of batches however many processes there are: each takes its share of them, and the
gradients are summed. So uneven corpora need no care, and N processes do what one would do.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

import torch
from torch import Tensor, distributed

PATIENCE = timedelta(minutes=30)  # rank 0 validates and writes while the others wait


@dataclass(frozen=True)
class World:
    """This process is number `rank` of `size`."""

    rank: int = 0
    size: int = 1

    @property
    def is_first(self) -> bool:
        """The one that prints, validates and writes."""
        return self.rank == 0

    def share(self, items: Sequence[int]) -> list[int]:
        """Which of the items are this process's: every size-th one."""
        return list(items[self.rank :: self.size])

    def sum_(self, tensors: Sequence[Tensor]) -> None:
        """Replace each tensor by its sum over all processes; one message for all of them."""
        if self.size == 1:
            return
        flat = torch.cat([tensor.flatten() for tensor in tensors])
        distributed.all_reduce(flat)
        parts = torch.split(flat, [tensor.numel() for tensor in tensors])
        for tensor, part in zip(tensors, parts, strict=True):
            tensor.copy_(part.view_as(tensor))

    def agree(self, *claims: bool) -> list[bool]:
        """For each claim whether any process makes it: all stop, or none."""
        if self.size == 1:
            return list(claims)
        counts = torch.tensor(claims, dtype=torch.long)
        distributed.all_reduce(counts)
        return [bool(count) for count in counts]

    def wait(self) -> None:
        """Until every process is here."""
        if self.size > 1:
            distributed.barrier()

    def gather(self, tensor: Tensor) -> list[Tensor]:
        """The tensor of every process, in the order of their ranks."""
        if self.size == 1:
            return [tensor]
        tensors = [torch.empty_like(tensor) for _ in range(self.size)]
        distributed.all_gather(tensors, tensor)
        return tensors


def join_world(device: torch.device) -> World:
    """The world that `torchrun` put this process in; without it, a world of one."""
    size = int(os.environ.get("WORLD_SIZE", "1"))
    if size == 1:
        return World()
    distributed.init_process_group("nccl" if device.type == "cuda" else "gloo", timeout=PATIENCE)
    return World(distributed.get_rank(), size)


def leave_world(world: World) -> None:
    """Close the connections."""
    if world.size > 1:
        distributed.destroy_process_group()
