"""Several processes train what one would: real gloo processes on this machine."""

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from rich.console import Console
from torch import Tensor

from tests.training.processes import together
from training.corpora.corpus import Corpus
from training.recipes import Recipe
from training.run import Run
from training.run_folder import begin
from training.world import World

CPU = torch.device("cpu")


def test_every_item_is_in_one_share_and_shares_are_equally_long_even_when_uneven() -> None:
    shares = [World(rank, 3).share(range(7)) for rank in range(3)]
    assert shares == [[(0, 1), (3, 1), (6, 1)], [(1, 1), (4, 1), (0, 0)], [(2, 1), (5, 1), (0, 0)]]
    assert World(2, 3).share(range(2)) == [(0, 0)]


def double(items: Tensor) -> Tensor:
    return 2 * items


def divide_and_compare(world: World) -> None:
    for count in range(1, 6):
        items = torch.arange(3.0 * count).view(count, 3)
        assert torch.equal(world.divide(double, items), 2 * items)


def test_divided_work_gives_all_processes_all_results() -> None:
    assert World().divide(double, torch.ones(2, 3)).tolist() == [[2, 2, 2], [2, 2, 2]]
    together(divide_and_compare)


def stop_one(world: World) -> None:
    assert world.agree(world.rank == 1, False) == [True, False]


def test_what_one_process_claims_all_agree_on() -> None:
    together(stop_one)
    assert World().agree(True, False) == [True, False]


def test_alone_a_sum_is_what_it_was() -> None:
    tensor = torch.arange(3.0)
    World().sum_(tensor)
    assert tensor.tolist() == [0, 1, 2]


@pytest.mark.slow
@pytest.mark.parametrize("accumulate", [2, 3])
def test_two_processes_reach_the_weights_of_one(
    tmp_path: Path, small_recipe: Recipe, primer: Corpus, quiet: Console, accumulate: int
) -> None:
    recipe = replace(
        small_recipe, accumulate=accumulate, updates=5, model=replace(small_recipe.model, dropout=0.0)
    )
    for name in ("one", "two"):
        begin(tmp_path / name, recipe, primer, quiet, device=CPU)
    assert Run(tmp_path / "one", quiet, device=CPU).train()

    torchrun = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    command = [
        "-m",
        "training.train",
        "tiny",
        "--output",
        str(tmp_path / "two"),
        "--resume",
        "--threads",
        "1",
    ]
    done = subprocess.run(
        [*torchrun, *command],
        capture_output=True,
        text=True,
        timeout=300,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    # Logits and not weights: a bias of keys has no gradient but rounding, which Adam blows up to full steps.
    source, target = torch.randint(10, 300, (4, 9)), torch.randint(10, 300, (4, 7))
    one, two = (Run(tmp_path / name, quiet, device=CPU) for name in ("one", "two"))
    assert one.trainer.progress.place == two.trainer.progress.place
    for model in ("model", "averaged"):
        logits = [getattr(run.trainer, model).eval()(source, target) for run in (one, two)]
        torch.testing.assert_close(logits[1], logits[0], rtol=1e-3, atol=1e-3)
