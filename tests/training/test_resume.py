"""N updates and N more are 2N, bit for bit: with all that is random, and all that a validation decides."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from rich.console import Console
from torch import Tensor

from training.checkpoint import CheckpointFolder
from training.corpora.augment import AugmentShares
from training.corpora.corpus import Corpus
from training.recipes import Recipe
from training.run import Run
from training.run_folder import begin, read_recipe, write_recipe

CPU = torch.device("cpu")
N = 6


def checkpoints_of(folder: Path) -> dict[int, tuple[dict[str, Tensor], dict[str, Any]]]:
    checkpoints = CheckpointFolder(folder / "checkpoints")
    return {update: checkpoints.load(update) for update in checkpoints.updates()}


def test_n_updates_and_n_more_are_2n_bit_for_bit(
    tmp_path: Path, small_recipe: Recipe, primer: Corpus, quiet: Console
) -> None:
    recipe = replace(
        small_recipe,
        optimiser="muon",  # and Adam for what is no matrix
        updates=2 * N,
        validate_every=3,
        keep_best=2,
        sampling=0.5,  # of segmentations, of variants of the text, of two passes' dropout
        augment=AugmentShares(),
        consistency=1.0,
    )

    def begun(folder: Path, one: Recipe) -> Path:
        begin(folder, one, primer, quiet, device=CPU)
        return folder

    assert Run(begun(tmp_path / "at once", recipe), quiet, device=CPU).train()
    in_two = begun(tmp_path / "in two", replace(recipe, updates=N))
    assert Run(in_two, quiet, device=CPU).train()
    write_recipe(in_two, replace(read_recipe(in_two), updates=2 * N))
    torch.manual_seed(99)  # whatever a new process has drawn before
    assert Run(in_two, quiet, device=CPU).train()

    once, twice = checkpoints_of(tmp_path / "at once"), checkpoints_of(in_two)
    assert once.keys() == twice.keys()
    for update, (tensors, facts) in once.items():
        others, other_facts = twice[update]
        assert tensors.keys() == others.keys()
        assert all(torch.equal(value, others[name]) for name, value in tensors.items())
        assert {**facts["progress"], "seconds": 0} == {**other_facts["progress"], "seconds": 0}
    parts = {name.partition("/")[0] for name in tensors}
    assert {"model", "average", "random", "momentum", "exp_avg", "exp_avg_sq"} <= parts
