"""Several processes train what one would: real gloo processes on this machine."""

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from rich.console import Console

from training.corpora.corpus import Corpus
from training.recipes import Recipe
from training.run import Run, begin
from training.world import World

CPU = torch.device("cpu")


def test_shares_are_disjoint_and_complete_even_when_uneven() -> None:
    shares = [World(rank, 3).share(range(7)) for rank in range(3)]
    assert shares == [[0, 3, 6], [1, 4], [2, 5]]
    assert World(2, 3).share(range(2)) == []


def test_alone_nothing_is_changed() -> None:
    tensor = torch.arange(3.0)
    World().sum_([tensor])
    assert tensor.tolist() == [0, 1, 2]
    assert World().agree(True, False) == [True, False]


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
