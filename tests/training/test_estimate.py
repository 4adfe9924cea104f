"""How long a training will take, in words, and measured without touching the training."""

import pytest
import torch

from training.batches import Batches
from training.estimate import in_words, seconds_to_train
from training.preparation import RunData
from training.recipes import Recipe
from training.trainer import Trainer

CPU = torch.device("cpu")


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0.2, "1 second"),
        (42, "42 seconds"),
        (100, "2 minutes"),
        (5_400, "90 minutes"),
        (6_000, "1.7 hours"),
        (100_000, "27.8 hours"),
        (200_000, "2.3 days"),
    ],
)
def test_a_time_is_told_in_the_unit_that_fits(seconds: float, words: str) -> None:
    assert in_words(seconds) == words


def test_twice_the_updates_take_about_twice_as_long(recipe: Recipe, data: RunData) -> None:
    one = seconds_to_train(recipe, data, device=CPU)
    hundred = seconds_to_train(recipe.with_settings({"updates": "1200"}), data, device=CPU)
    assert 10 < hundred / one < 1000  # a hundred, but for what else the machine does


def test_measuring_changes_nothing_of_what_is_trained_after_it(recipe: Recipe, data: RunData) -> None:
    def weights(*, measured: bool) -> list[torch.Tensor]:
        if measured:
            seconds_to_train(recipe, data, device=CPU)
        trainer = Trainer(recipe, Batches(data, recipe), device=CPU, precision=torch.float32)
        trainer.run(lambda _: trainer.progress.update < 3)
        return list(trainer.model.parameters())

    for one, other in zip(weights(measured=False), weights(measured=True), strict=True):
        assert torch.equal(one, other)
