"""The processes that train one model together. Alone, everything here is a no-op.

An update is the same set of batches however many processes there are: each takes its share of them, and the
gradients are summed. So uneven corpora need no care, and N processes do what one would do.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import TypeVar

import torch
from torch import Tensor, distributed

Item = TypeVar("Item")

PATIENCE = timedelta(minutes=30)  # rank 0 validates and writes while the others wait
BACKENDS = {
    "cpu": "gloo",
    "cuda": "cpu:gloo,cuda:nccl",
}  # what is agreed on lies on the CPU, gradients do not


@dataclass(frozen=True)
class World:
    """This process is number `rank` of `size`."""

    rank: int = 0
    size: int = 1

    @property
    def is_first(self) -> bool:
        """The one that prints, validates and writes."""
        return self.rank == 0

    def share(self, items: Sequence[Item]) -> list[tuple[Item, float]]:
        """This process's items, every size-th one, each with its weight: 1.

        Shares are equally long, for processes meet in every pass. One that would be shorter ends with the first
        item once more, of weight 0.
        """
        mine = [(item, 1.0) for item in items[self.rank :: self.size]]
        longest = -(-len(items) // self.size)
        return mine if len(mine) == longest else [*mine, (items[0], 0.0)]

    def divide(self, work: Callable[[Tensor], Tensor], items: Tensor) -> Tensor:
        """work(items), where `work` keeps shapes and treats each item on its own: all work, and all get all."""
        if self.size == 1:
            return work(items)
        each = -(-len(items) // self.size)
        padded = torch.cat([items, items.new_zeros(each * self.size - len(items), *items.shape[1:])])
        return torch.cat(self.gather(work(padded[self.rank * each :][:each])))[: len(items)]

    def sum_(self, tensor: Tensor) -> None:
        """Replace the tensor by its sum over all processes."""
        if self.size > 1:
            distributed.all_reduce(tensor)

    def agree(self, *claims: bool) -> list[bool]:
        """For each claim whether any process makes it: all stop, or none."""
        if self.size == 1:
            return list(claims)
        counts = torch.tensor(claims, dtype=torch.long)
        distributed.all_reduce(counts)
        return [bool(count) for count in counts]

    def wait(self) -> None:
        """Until every process is here."""
        self.agree(True)

    def gather(self, tensor: Tensor) -> list[Tensor]:
        """The tensor of every process, in the order of their ranks."""
        if self.size == 1:
            return [tensor]
        tensors = [torch.empty_like(tensor) for _ in range(self.size)]
        distributed.all_gather(tensors, tensor.contiguous())
        return tensors


def join_world(device: torch.device) -> World:
    """The world that `torchrun` put this process in; without it, a world of one."""
    size = int(os.environ.get("WORLD_SIZE", "1"))
    if size == 1:
        return World()
    if device.type == "cuda":
        torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))  # "cuda" means this one from here on
    distributed.init_process_group(BACKENDS[device.type], timeout=PATIENCE)
    return World(distributed.get_rank(), size)


def leave_world(world: World) -> None:
    """Close the connections."""
    if world.size > 1:
        distributed.destroy_process_group()


def is_loss_of_another(error: RuntimeError) -> bool:
    """Whether a message between the processes failed: one of them ended, or its machine cannot be reached."""
    return isinstance(error, distributed.DistError) or "gloo" in str(error)
