"""Training on GPUs: bfloat16 products, NCCL, and a resume. Where there is none, these tests say so."""

from dataclasses import replace
from itertools import islice
from pathlib import Path

import pytest
import torch

from tests.training.processes import together
from tests.training.test_engines import compare_gradients
from training.batches import Batches, Place
from training.checkpoint import CheckpointFolder
from training.preparation import RunData
from training.recipes import Recipe
from training.sharding import whole
from training.trainer import Trainer, UpdateReport

needs_a_gpu = pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no CUDA device here")
needs_two_gpus = pytest.mark.skipif(
    torch.cuda.device_count() < 2, reason="there are no two CUDA devices here"
)


def trainer(recipe: Recipe, data: RunData) -> Trainer:
    return Trainer(recipe, Batches(data, recipe), device=torch.device("cuda"), precision=torch.bfloat16)


@needs_a_gpu
def test_a_run_on_a_gpu_learns_in_bfloat16_with_float32_weights(recipe: Recipe, data: RunData) -> None:
    one = trainer(replace(recipe, updates=80, warmup=20), data)
    losses: list[float] = []

    def after_update(report: UpdateReport) -> bool:
        losses.append(report.loss)
        return True

    one.run(after_update)
    assert losses[-1] < 0.8 * losses[0]
    assert {(value.dtype, value.device.type) for value in one.model.parameters()} == {(torch.float32, "cuda")}


@needs_a_gpu
def test_a_gpu_has_the_gradients_of_the_cpu(recipe: Recipe, data: RunData) -> None:
    still = replace(recipe, model=replace(recipe.model, dropout=0.0))
    batch, _ = next(islice(Batches(data, still).after(Place()), 1))
    found = []
    for device in ("cpu", "cuda"):
        one = Trainer(still, Batches(data, still), device=torch.device(device), precision=torch.float32)
        one.engine.backward([(batch, 1 / batch.target_pieces)])
        found.append({name: value.grad.cpu() for name, value in one.model.named_parameters()})  # type: ignore[union-attr]
    torch.testing.assert_close(found[1], found[0], rtol=1e-3, atol=1e-5)


@needs_a_gpu
def test_a_run_on_a_gpu_goes_on_with_all_that_it_had(recipe: Recipe, data: RunData, tmp_path: Path) -> None:
    one = trainer(recipe, data)
    one.run(lambda _: one.progress.update < 3)
    one.save(CheckpointFolder(tmp_path))
    drawn = torch.rand(3, device="cuda")
    second = trainer(recipe, data)
    assert second.resume(CheckpointFolder(tmp_path))
    assert torch.equal(torch.rand(3, device="cuda"), drawn)
    for (name, value), (_, got) in zip(one.state(), second.state(), strict=True):
        assert torch.equal(whole(value), whole(got)), name


@needs_two_gpus
@pytest.mark.parametrize("sharding", ["none", "full"])
def test_two_gpus_have_the_gradients_of_one(recipe: Recipe, data_folder: Path, sharding: str) -> None:
    still = replace(recipe, sharding=sharding, model=replace(recipe.model, dropout=0.0))
    together(compare_gradients, still, data_folder, torch.device("cuda"), device="cuda")
