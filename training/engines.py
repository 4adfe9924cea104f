"""How the gradient of an update comes together: in one process, in replicas (DDP) or in shards (FSDP2).

Whatever the engine, the trainer hands it this process's passes, and then every parameter's gradient is the sum
over the passes of all processes.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext

import torch
from torch import Tensor, distributed, nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard, register_fsdp_forward_method
from torch.nn.parallel import DistributedDataParallel

from model.config import ModelConfig
from model.transformer import Transformer
from training.batches import Batch
from training.world import World

Loss = Callable[[Batch, Transformer], Tensor]
Pass = tuple[Batch, float]  # a batch, and what its loss is multiplied by


class Objective(nn.Module):
    """The loss as a module: wrappers do their work around `forward`, and the model's own never runs in training.

    The output table is part of the loss, so it has to be inside of what is wrapped.
    """

    def __init__(self, model: Transformer, loss: Loss) -> None:
        super().__init__()
        self.model, self.loss = model, loss

    def forward(self, batch: Batch) -> Tensor:
        """Sum over the batch's target pieces."""
        return self.loss(batch, self.model)


class Engine:
    """One process, which has nobody to exchange with; what the others are built on."""

    def __init__(self, objective: nn.Module, *, processes: int = 1) -> None:
        self.objective, self.processes = objective, processes

    def __str__(self) -> str:
        return "one process"

    def backward(self, passes: Sequence[Pass]) -> Tensor:
        """Leaves the gradients in the parameters; returns this process's sum of the losses."""
        *first, last = passes
        with self._keeping_to_itself():
            losses = [self._backward(one) for one in first]
        return torch.stack([*losses, self._backward(last)]).sum()

    def _keeping_to_itself(self) -> AbstractContextManager[None]:
        """In it, gradients are only added up here: what is sent once, after the last pass, is their sum."""
        return nullcontext()

    def _backward(self, one: Pass) -> Tensor:
        batch, weight = one
        loss = self.objective(batch) * weight
        (loss * self.processes).backward()  # wrappers send the MEAN over processes; the sum is wanted
        return loss.detach()


class Replicated(Engine):
    """Every process holds the whole model; gradients are summed in buckets while the backward pass goes on."""

    def __init__(self, objective: Objective, world: World) -> None:
        self.replica = DistributedDataParallel(
            objective, forward_sync_buffers=False, gradient_as_bucket_view=True
        )
        super().__init__(self.replica, processes=world.size)
        self._settle(objective.model.config)

    def _settle(self, config: ModelConfig) -> None:
        """Have the buckets laid out for good, by a pass over one word that leaves nothing else behind.

        After its first pass, DDP lays them out anew, in the order in which gradients came. Three processes and more
        add up a number in an order that depends on its place in a bucket: a run that goes on would then not be the
        one that never stopped, bit for bit.
        """
        word = Batch(torch.tensor([[config.eos_id]]), torch.tensor([[config.start_id, config.eos_id]]), 1)
        self.backward([(word, 0.0)])
        self.replica.zero_grad(set_to_none=True)

    def __str__(self) -> str:
        return f"{self.processes} processes with a replica each (DistributedDataParallel, {_backend()})"

    def _keeping_to_itself(self) -> AbstractContextManager[None]:
        return self.replica.no_sync()


class Sharded(Engine):
    """Every process holds a share of all weights, averages and moments; layers are put together as they are used.

    Gradients are sent after every pass: adding whole ones up here would need the memory that sharding saves.
    """

    def __init__(
        self, objective: Objective, averaged: Transformer, world: World, device: torch.device
    ) -> None:
        mesh = init_device_mesh(device.type, (world.size,))
        for model in (objective.model, averaged):
            for layer in [*model.encoder, *model.decoder]:
                fully_shard(layer, mesh=mesh)
            for layer in model.decoder:  # its keys and values of the memory are made outside of its forward
                register_fsdp_forward_method(layer, "remember")
        fully_shard(objective, mesh=mesh)  # what is in no layer: the tables, which stay together for the loss
        fully_shard(averaged, mesh=mesh)
        super().__init__(objective, processes=world.size)

    def __str__(self) -> str:
        return f"{self.processes} processes with a shard of the model each (FSDP2, {_backend()})"

    def _backward(self, one: Pass) -> Tensor:
        with warnings.catch_warnings():
            # A layer gives its keys and values away as views. FSDP warns of writing into such in place; nobody does.
            warnings.filterwarnings(
                "ignore", r"FSDP2-wrapped module \(\w+\) returned a view tensor", UserWarning
            )
            return super()._backward(one)


def build_engine(
    sharding: str,
    model: Transformer,
    averaged: Transformer,
    loss: Loss,
    *,
    world: World,
    device: torch.device,
) -> Engine:
    """`sharding` is none or full, as the recipe has it; a process that is alone has nothing to shard."""
    objective = Objective(model, loss)
    if world.size == 1:
        return Engine(objective)
    if sharding == "full":
        return Sharded(objective, averaged, world, device)
    return Replicated(objective, world)


def _backend() -> str:
    return str(distributed.get_backend())
