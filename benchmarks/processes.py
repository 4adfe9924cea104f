"""What it costs to train in several processes: `torchrun --nproc-per-node 2 benchmarks/processes.py`.

The gradient of one batch a process, brought together in three ways: in one message after the backward pass, by
DistributedDataParallel while it goes on, by FSDP2. And an update of Muon's, done by every process and shared among
them. All by turns, so that what else the machine does meets all of them; medians over the turns.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

if not __package__:  # a script looks in its own folder, whose http.py would hide Python's
    sys.path[0] = str(Path(__file__).parents[1])

import torch
from torch import Tensor, distributed

from model.config import preset
from model.device import choose_device
from model.transformer import Transformer
from training.batches import Batch
from training.engines import Engine, Objective, build_engine
from training.loss import output_loss
from training.optimiser import Optimiser
from training.recipes import Recipe, recipe_named
from training.world import World, join_world, leave_world

VOCABULARY, PIECES = 8000, 12  # of a side of every sentence
ALONE = World()


def loss(batch: Batch, model: Transformer) -> Tensor:
    """As the trainer's, for sentences without padding."""
    hidden_BTD = model.hidden(batch.source_BS, batch.target_BT[:, :-1])
    hidden_PND = hidden_BTD.flatten(0, 1)[None]
    return output_loss(hidden_PND, model.output_VD, batch.target_BT[:, 1:].flatten(), smoothing=0.1)


class OneMessage(Engine):
    """All gradients in one message after the last pass: the plainest way there is."""

    def __init__(self, model: Transformer) -> None:
        super().__init__(Objective(model, loss))
        self.parameters = list(model.parameters())

    def backward(self, passes: list[tuple[Batch, float]]) -> Tensor:  # type: ignore[override]
        """As every engine's."""
        total = super().backward(passes)
        gradients = [parameter.grad for parameter in self.parameters if parameter.grad is not None]
        flat = torch.cat([gradient.flatten() for gradient in gradients])
        distributed.all_reduce(flat)
        for gradient, part in zip(gradients, torch.split(flat, [g.numel() for g in gradients]), strict=True):
            gradient.copy_(part.view_as(gradient))
        return total


def main() -> None:
    """Prints a line for each way."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--preset", default="small", help="of model/config.py (default: small)")
    parser.add_argument("--sentences", type=int, default=125, help="in a batch (default: 125, of 12 pieces)")
    parser.add_argument("--turns", type=int, default=20)
    parser.add_argument("--device", default="cpu")
    options = parser.parse_args()
    torch.set_num_threads(1)
    device = choose_device(options.device)
    world = join_world(device)
    if world.size == 1:
        parser.error("start it with torchrun --nproc-per-node 2")
    ways = _ways(options.preset, options.sentences, world, device)
    seconds: dict[str, list[float]] = {name: [] for name in ways}
    for turn in range(options.turns + 2):
        for name, way in ways.items():
            taken = _timed(way, world, device)
            if turn >= 2:  # the first ones find their memory, and lay out their buckets
                seconds[name].append(taken)
    if world.is_first:
        for name, taken_in_turns in seconds.items():
            quartiles = statistics.quantiles(taken_in_turns, n=4)
            print(
                f"{name:<42} {1000 * quartiles[1]:8.1f} ms   ({1000 * quartiles[0]:.1f} … {1000 * quartiles[2]:.1f})"
            )
    leave_world(world)


def _ways(name: str, sentences: int, world: World, device: torch.device) -> dict[str, Callable[[], object]]:
    config = preset(name, vocabulary_size=VOCABULARY)
    ids = torch.randint(10, VOCABULARY, (2, sentences, PIECES + 1), device=device)
    batch = Batch(ids[0], ids[1], sentences * PIECES)
    models = [Transformer(config).to(device).train() for _ in range(5)]

    def engine(sharding: str, model: Transformer, averaged: Transformer) -> Engine:
        return build_engine(sharding, model, averaged, loss, world=world, device=device)

    engines = {
        "gradients: this process alone": (Engine(Objective(models[0], loss)), models[0]),
        "gradients: one message": (OneMessage(models[1]), models[1]),
        "gradients: DistributedDataParallel": (engine("none", models[2], models[4]), models[2]),
        "gradients: FSDP2": (engine("full", models[3], models[4]), models[3]),
    }

    def backward(one: Engine, model: Transformer) -> Callable[[], object]:
        def work() -> None:
            one.backward([(batch, 1 / batch.target_pieces)])
            model.zero_grad(set_to_none=True)

        return work

    recipe: Recipe = recipe_named("tiny").with_settings({"optimiser": "muon"})
    muon = Transformer(config).to(device)
    for parameter in muon.parameters():
        parameter.grad = torch.randn_like(parameter)
    optimisers = {"alone": Optimiser(muon, recipe, ALONE), "shared": Optimiser(muon, recipe, world)}
    return {
        **{name: backward(*pair) for name, pair in engines.items()},
        "Muon: every process does all": lambda: optimisers["alone"].step(1e-6),
        "Muon: every process does its share": lambda: optimisers["shared"].step(1e-6),
    }


def _timed(work: Callable[[], object], world: World, device: torch.device) -> float:
    world.wait()
    started = time.perf_counter()
    work()
    if device.type == "cuda":
        torch.cuda.synchronize()
    world.wait()  # the slowest counts
    return time.perf_counter() - started


if __name__ == "__main__":
    main()
