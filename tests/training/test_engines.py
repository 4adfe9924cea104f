"""Replicas (DDP) and shards (FSDP2) do what one process does: two real gloo processes beside one."""

from dataclasses import replace
from functools import cache
from itertools import islice
from pathlib import Path

import pytest
import torch
from torch import Tensor

from tests.training.processes import together
from training.batches import Batch, Batches, Place
from training.checkpoint import CheckpointFolder
from training.preparation import load_run_data
from training.recipes import Recipe
from training.sharding import whole, whole_model
from training.trainer import ALONE, Trainer
from training.world import World

CPU = torch.device("cpu")
SHARDINGS = pytest.mark.parametrize("sharding", ["none", "full"])
# Shared tables, tables of their own, a table in no layer; rows that two processes cannot halve.
VARIANTS: list[dict[str, object]] = [
    dict(),
    dict(tying="output", positions="rope", norm="rms", vocabulary_size=701),
    dict(tying="none", positions="learned", placement="post", feed_forward_width=65),
]


@pytest.fixture
def still(recipe: Recipe) -> Recipe:
    """Without dropout: each process drops out its own."""
    return replace(recipe, model=replace(recipe.model, dropout=0.0), accumulate=3)


data_in = cache(load_run_data)


def trainer(recipe: Recipe, data_folder: Path, world: World = ALONE, device: torch.device = CPU) -> Trainer:
    batches = Batches(data_in(data_folder), recipe)
    return Trainer(recipe, batches, device=device, precision=torch.float32, world=world)


def train(one: Trainer, updates: int) -> Trainer:
    last = one.progress.update + updates
    one.run(lambda _: one.progress.update < last)
    return one


def gradients(one: Trainer, batches: list[Batch]) -> dict[str, Tensor]:
    """Of an update over the batches, before they are clipped."""
    pieces = sum(batch.target_pieces for batch in batches)
    one.engine.backward([(batch, weight / pieces) for batch, weight in one.world.share(batches)])
    return {
        name: whole(parameter.grad)
        for name, parameter in one.model.named_parameters()
        if parameter.grad is not None
    }


def compare_gradients(world: World, recipe: Recipe, data_folder: Path, device: torch.device = CPU) -> None:
    batches = [batch for batch, _ in islice(Batches(data_in(data_folder), recipe).after(Place()), 5)]
    for variant in VARIANTS:
        changed = replace(recipe, model=replace(recipe.model, **variant))  # type: ignore[arg-type]
        for count in (1, 2, 5):  # fewer batches than processes, as many, an odd number
            alone = trainer(changed, data_folder, device=device)
            shared = trainer(changed, data_folder, world, device)
            wanted, got = gradients(alone, batches[:count]), gradients(shared, batches[:count])
            assert set(wanted) == {name for name, _ in alone.model.named_parameters()}
            torch.testing.assert_close(got, wanted, rtol=0, atol=1e-6)


@SHARDINGS
def test_two_processes_have_the_gradients_of_one(still: Recipe, data_folder: Path, sharding: str) -> None:
    together(compare_gradients, replace(still, sharding=sharding), data_folder)


def run_and_save(world: World, recipe: Recipe, data_folder: Path, folder: Path) -> None:
    for optimiser in ("muon", "adam"):
        changed = replace(recipe, optimiser=optimiser)
        two = train(trainer(changed, data_folder, world), 4)
        two.save(CheckpointFolder(folder / optimiser))
        ids = torch.arange(10, 60).view(2, 25)
        logits = whole_model(two.model).eval()(ids, ids)
        if world.is_first:
            one = train(trainer(changed, data_folder), 4)
            torch.testing.assert_close(logits, one.model.eval()(ids, ids), rtol=0, atol=1e-5)
            assert one.progress.place == two.progress.place
            one.save(CheckpointFolder(folder / f"{optimiser}-alone"))
        world.wait()


@SHARDINGS
def test_a_run_of_two_processes_reaches_the_weights_of_one(
    still: Recipe, data_folder: Path, tmp_path: Path, sharding: str
) -> None:
    together(run_and_save, replace(still, sharding=sharding), data_folder, tmp_path)
    for optimiser in ("muon", "adam"):
        one, two = (
            CheckpointFolder(tmp_path / name).load(4)[0] for name in (f"{optimiser}-alone", optimiser)
        )
        assert set(two) == {*one, "random/1"}
        for name, value in one.items():
            if name.startswith(("model/", "average/", "momentum/")):
                torch.testing.assert_close(
                    without_keys(name, two[name]), without_keys(name, value), rtol=1e-4, atol=2e-6
                )


def without_keys(name: str, value: Tensor) -> Tensor:
    """A bias of keys changes no attention: its gradient is rounding, which Adam blows up to full steps."""
    if not name.endswith(("queries_keys_values.bias", "keys_values.bias")):
        return value
    parts = value.chunk(3 if "queries" in name else 2)
    return torch.cat([*parts[:-2], parts[-1]])


def go_on(world: World, recipe: Recipe, data_folder: Path, folder: Path) -> None:
    """Resume what the test saved, and save where it is, and two updates later."""
    one = trainer(recipe, data_folder, world)
    assert one.resume(CheckpointFolder(folder / "before"))
    one.save(CheckpointFolder(folder / "restored"))
    train(one, 2).save(CheckpointFolder(folder / "after"))


def test_a_checkpoint_of_one_process_is_one_of_shards_and_the_other_way_round(
    still: Recipe, data_folder: Path, tmp_path: Path
) -> None:
    one = train(trainer(still, data_folder), 2)
    one.save(CheckpointFolder(tmp_path / "before"))
    together(go_on, replace(still, sharding="full"), data_folder, tmp_path)
    before, restored = (CheckpointFolder(tmp_path / name).load(2)[0] for name in ("before", "restored"))
    assert set(restored) == {*before, "random/1"}
    assert all(torch.equal(value, restored[name]) for name, value in before.items() if name != "random/0")

    back = trainer(still, data_folder)
    assert back.resume(CheckpointFolder(tmp_path / "after"))
    train(one, 2)
    wanted, got = (
        {name: without_keys(name, value) for name, value in run.model.named_parameters()}
        for run in (one, back)
    )
    torch.testing.assert_close(got, wanted, rtol=0, atol=1e-6)


def stop_and_go_on(world: World, recipe: Recipe, data_folder: Path, folder: Path) -> None:
    for sharding in ("none", "full"):
        changed = replace(recipe, sharding=sharding)
        whole_run = train(trainer(changed, data_folder, world), 6)
        train(trainer(changed, data_folder, world), 3).save(CheckpointFolder(folder / sharding))
        world.wait()
        torch.manual_seed(99)  # whatever a new process has drawn before
        second = trainer(changed, data_folder, world)
        assert second.resume(CheckpointFolder(folder / sharding))
        train(second, 3)
        for (name, value), (_, got) in zip(whole_run.state(), second.state(), strict=True):
            assert torch.equal(whole(value), whole(got)), name
        assert replace(second.progress, seconds=0) == replace(whole_run.progress, seconds=0)


def test_three_processes_that_stopped_go_on_bit_for_bit(
    recipe: Recipe, data_folder: Path, tmp_path: Path
) -> None:
    """Three, for their sums depend on the order in which they are added up; those of two do not."""
    together(stop_and_go_on, replace(recipe, accumulate=4), data_folder, tmp_path, size=3)
