"""Fifty times kill -9 at a random moment, a write's among them: the run ends as one that was never stopped."""

import multiprocessing
import time
from dataclasses import replace
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from random import Random

import pytest
import torch
from rich.console import Console

import training.run
from training.checkpoint import CheckpointFolder
from training.corpora.corpus import Corpus
from training.recipes import Recipe
from training.run import Run
from training.run_folder import begin

CPU = torch.device("cpu")
KILLS = 50
UPDATES = 200


def train(folder: Path) -> None:
    """Save after every update, so that many a kill falls into a write."""
    torch.set_num_threads(1)
    training.run.SAVE_SECONDS = 0.0
    assert Run(folder, Console(quiet=True), device=CPU).train()


def start(folder: Path) -> ForkServerProcess:
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["training.run"])
    process = context.Process(target=train, args=(folder,), daemon=True)
    process.start()
    return process


def kill_at_a_random_moment(process: ForkServerProcess, checkpoints: CheckpointFolder, random: Random) -> str:
    """In a start, between two updates, or in the middle of a write; says which."""
    before = checkpoints.updates()[-1:]
    moment = random.choice(["start", "training", "training", "write"])
    if moment != "start":
        while checkpoints.updates()[-1:] == before and process.is_alive():
            time.sleep(0.001)
    if moment == "write":
        while not unfinished(checkpoints) and process.is_alive():
            pass
    time.sleep(random.uniform(0, {"start": 0.5, "training": 0.2, "write": 0.002}[moment]))
    process.kill()
    process.join()
    return moment


def unfinished(checkpoints: CheckpointFolder) -> list[str]:
    try:
        return [path.name for path in checkpoints.unfinished.iterdir()]
    except FileNotFoundError:
        return []


@pytest.mark.slow
def test_fifty_kills_at_random_moments_change_nothing(
    tmp_path: Path, small_recipe: Recipe, primer: Corpus, quiet: Console
) -> None:
    recipe = replace(small_recipe, updates=UPDATES, validate_every=20, keep_best=3, accumulate=1)
    for name in ("whole", "killed"):
        begin(tmp_path / name, recipe, primer, quiet, device=CPU)
    never_stopped = start(tmp_path / "whole")
    never_stopped.join()
    assert never_stopped.exitcode == 0

    random = Random(5)
    checkpoints = CheckpointFolder(tmp_path / "killed" / "checkpoints")
    torn = 0
    for _ in range(KILLS):
        process = start(tmp_path / "killed")
        kill_at_a_random_moment(process, checkpoints, random)
        assert process.exitcode == -9, "the run was over before all kills: give it more updates"
        torn += bool(unfinished(checkpoints))
        for update in checkpoints.updates():
            checkpoints.load(update)  # none is torn
    assert torn > 0  # some kills did fall into a write
    last = start(tmp_path / "killed")
    last.join()
    assert last.exitcode == 0

    whole, killed = (CheckpointFolder(tmp_path / name / "checkpoints") for name in ("whole", "killed"))
    assert killed.updates() == whole.updates()
    names = {killed.path(update).name for update in killed.updates()}
    assert {path.name for path in killed.folder.iterdir()} == names  # no litter
    for update in whole.updates():
        (tensors, facts), (others, other_facts) = whole.load(update), killed.load(update)
        assert tensors.keys() == others.keys()
        assert all(torch.equal(value, others[name]) for name, value in tensors.items())
        for one in (facts, other_facts):
            one["progress"].pop("seconds")  # the one thing that tells them apart
        assert facts == other_facts
    weights = [(tmp_path / name / "model" / "model.safetensors").read_bytes() for name in ("whole", "killed")]
    assert weights[0] == weights[1]
