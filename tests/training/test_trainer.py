"""The loop: accumulation, exact resume, refusal of what is not finite, and that it learns."""

from dataclasses import replace
from itertools import islice
from pathlib import Path

import pytest
import torch

from tokenizer import Tokenizer
from tokenizer.train import train_tokenizer
from training.batches import Batches, Place
from training.checkpoint import CheckpointError, CheckpointFolder
from training.preparation import RunData
from training.recipes import Recipe
from training.trainer import MOST_SKIPPED, Trainer, TrainingDiverged, UpdateReport

CPU = torch.device("cpu")


def trainer(recipe: Recipe, data: RunData) -> Trainer:
    return Trainer(recipe, Batches(data, recipe), device=CPU, precision=torch.float32)


def run(one: Trainer, updates: int) -> list[UpdateReport]:
    reports: list[UpdateReport] = []
    last = one.progress.update + updates

    def after_update(report: UpdateReport) -> bool:
        reports.append(report)
        return one.progress.update < last

    one.run(after_update)
    return reports


def everything(one: Trainer, folder: Path) -> dict[str, torch.Tensor]:
    checkpoints = CheckpointFolder(folder)
    one.save(checkpoints)
    return checkpoints.load(one.progress.update)[0]


def test_a_run_with_a_kill_between_equals_one_without_bit_for_bit(
    recipe: Recipe, data: RunData, tmp_path: Path
) -> None:
    whole = trainer(recipe, data)
    losses = [report.loss for report in run(whole, 10)]

    first = trainer(recipe, data)
    before = [report.loss for report in run(first, 4)]
    first.save(CheckpointFolder(tmp_path / "killed"))
    run(first, 3)  # goes on after the save and is killed: these updates are lost
    del first
    torch.manual_seed(99)  # whatever the new process has drawn before
    second = trainer(recipe, data)
    assert second.resume(CheckpointFolder(tmp_path / "killed"))
    after = [report.loss for report in run(second, 6)]

    assert before + after == losses
    wanted, got = everything(whole, tmp_path / "whole"), everything(second, tmp_path / "second")
    assert wanted.keys() == got.keys()
    for name, value in wanted.items():
        assert torch.equal(value, got[name]), name
    assert replace(second.progress, seconds=0) == replace(whole.progress, seconds=0)


def test_four_batches_accumulated_weigh_what_one_four_times_as_long_weighs(
    recipe: Recipe, data: RunData
) -> None:
    still = replace(recipe, model=replace(recipe.model, dropout=0.0), clip=1e9)
    batches = [batch for batch, _ in islice(Batches(data, still).after(Place()), 4)]
    pieces = sum(batch.target_pieces for batch in batches)

    accumulated = trainer(still, data)
    for batch in batches:
        (accumulated.loss(batch, accumulated.model) / pieces).backward()
    at_once = trainer(still, data)
    total = torch.stack([at_once.loss(batch, at_once.model) for batch in batches]).sum()
    (total / pieces).backward()

    for (name, one), (_, other) in zip(
        accumulated.model.named_parameters(), at_once.model.named_parameters(), strict=True
    ):
        torch.testing.assert_close(one.grad, other.grad, rtol=1e-5, atol=1e-6, msg=name)


def test_the_loss_falls(recipe: Recipe, data: RunData) -> None:
    reports = run(trainer(replace(recipe, updates=80, warmup=20), data), 80)
    assert reports[-1].loss < 0.8 * reports[0].loss


def test_the_average_follows_the_weights_with_its_decay(recipe: Recipe, data: RunData) -> None:
    one = trainer(recipe, data)
    wanted = [parameter.detach().clone() for parameter in one.model.parameters()]
    for update in range(1, 4):
        run(one, 1)
        decay = min(recipe.average_decay, (1 + update) / (10 + update))
        for mean, parameter in zip(wanted, one.model.parameters(), strict=True):
            mean.mul_(decay).add_(parameter.detach(), alpha=1 - decay)
    for mean, got in zip(wanted, one.averaged.parameters(), strict=True):
        torch.testing.assert_close(got, mean)


def poison(one: Trainer, monkeypatch: pytest.MonkeyPatch, updates: set[int]) -> None:
    """Makes the loss of the named updates NaN."""
    true_loss = one.loss

    def loss(batch, model):
        value = true_loss(batch, model)
        return value * float("nan") if one.progress.update + 1 in updates else value

    monkeypatch.setattr(one, "loss", loss)


def test_an_update_with_a_gradient_that_is_not_finite_is_skipped_and_counted(
    recipe: Recipe, data: RunData, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = trainer(recipe, data)
    poison(one, monkeypatch, {2, 4})
    run(one, 5)
    assert one.progress.skipped == 2
    assert all(bool(parameter.isfinite().all()) for parameter in one.model.parameters())


def test_a_run_whose_gradients_stay_not_finite_stops(
    recipe: Recipe, data: RunData, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = trainer(replace(recipe, updates=100), data)
    poison(one, monkeypatch, set(range(3, 100)))
    with pytest.raises(TrainingDiverged, match=str(2 + MOST_SKIPPED)):
        run(one, 100)


def test_weights_that_are_not_finite_are_never_saved(recipe: Recipe, data: RunData, tmp_path: Path) -> None:
    one = trainer(recipe, data)
    with torch.no_grad():
        next(one.model.parameters())[0, 0] = float("nan")
    with pytest.raises(CheckpointError, match="not finite"):
        one.save(CheckpointFolder(tmp_path))
    assert CheckpointFolder(tmp_path).updates() == []


def test_a_checkpoint_that_learnt_with_another_tokenizer_is_refused(
    recipe: Recipe, data: RunData, tmp_path: Path
) -> None:
    trainer(recipe, data).save(CheckpointFolder(tmp_path))
    foreign = train_tokenizer(
        [f"{side}." for pair in data.train for side in pair], size=data.tokenizer.size, languages=["de", "en"]
    )
    others = replace(data, tokenizer=Tokenizer(foreign))
    assert others.tokenizer.size == data.tokenizer.size  # it would fit, and turn every text into nonsense
    with pytest.raises(CheckpointError, match="learnt with a tokenizer of SHA-256"):
        trainer(recipe, others).resume(CheckpointFolder(tmp_path))


def test_a_checkpoint_of_another_shape_is_refused_by_name(
    recipe: Recipe, data: RunData, tmp_path: Path
) -> None:
    trainer(recipe, data).save(CheckpointFolder(tmp_path))
    deeper = replace(recipe, model=replace(recipe.model, encoder_layers=2))
    with pytest.raises(CheckpointError, match=r"encoder\.1"):
        trainer(deeper, data).resume(CheckpointFolder(tmp_path))
    broader = replace(recipe, model=replace(recipe.model, feed_forward_width=65))
    with pytest.raises(CheckpointError, match=r"up\.weight is \(64, 32\) in the checkpoint, \(65, 32\)"):
        trainer(broader, data).resume(CheckpointFolder(tmp_path))
