"""Two processes under the real torchrun: they end as one would, they stop together, and they fail together."""

import os
import re
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from rich.console import Console

from training.checkpoint import CheckpointFolder
from training.corpora.corpus import Corpus
from training.recipes import Recipe
from training.run import Run
from training.run_folder import begin

CPU = torch.device("cpu")
ENOUGH = 1_000_000  # updates: such a run ends by what the test does to it


def torchrun(folder: Path, module: str = "training.train", **environment: str) -> subprocess.Popen[str]:
    """Two processes that go on with the run in the folder."""
    launcher = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", "-m", module]
    return subprocess.Popen(
        [sys.executable, *launcher, "custom", "--resume", "--threads", "1", "--output", str(folder)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1", **environment},
    )


def members(launcher: subprocess.Popen[str]) -> dict[int, int]:
    """Process ids by rank, of those that run."""
    found = {}
    for place in Path("/proc").glob("[0-9]*"):
        try:
            parent = int((place / "stat").read_text().rpartition(")")[2].split()[1])
            rank = re.search(r"\0RANK=(\d+)\0", (place / "environ").read_text())
        except (OSError, ValueError):
            continue  # it has ended meanwhile
        if parent == launcher.pid and rank:
            found[int(rank[1])] = int(place.name)
    return found


def wait_for_checkpoint(folder: Path, launcher: subprocess.Popen[str]) -> None:
    deadline = time.monotonic() + 120
    while not CheckpointFolder(folder / "checkpoints").updates():
        assert launcher.poll() is None and time.monotonic() < deadline, launcher.communicate()[0]
        time.sleep(0.05)


def ended_within(seconds: float, launcher: subprocess.Popen[str], ranks: dict[int, int]) -> str:
    """Its output; fails where the launcher or a process is alive after so long."""
    output, _ = launcher.communicate(timeout=seconds)
    assert not any(Path(f"/proc/{process}").exists() for process in ranks.values()), output
    return output


@pytest.fixture
def folder(tmp_path: Path, small_recipe: Recipe, primer: Corpus, quiet: Console) -> Path:
    begin(
        tmp_path / "run", replace(small_recipe, updates=ENOUGH, validate_every=3), primer, quiet, device=CPU
    )
    return tmp_path / "run"


def test_an_exception_in_one_process_ends_all_within_a_minute(folder: Path) -> None:
    launcher = torchrun(folder, "tests.training.faulty", FAULTY_RANK="1", FAULTY_UPDATE="10")
    wait_for_checkpoint(folder, launcher)
    output = ended_within(60, launcher, members(launcher))
    assert launcher.returncode != 0
    assert "injected into update 10" in output
    assert CheckpointFolder(folder / "checkpoints").updates()[-1] == 9


@pytest.mark.slow
@pytest.mark.parametrize("rank", [0, 1])
def test_a_killed_process_ends_the_other_within_a_minute(folder: Path, rank: int) -> None:
    launcher = torchrun(folder)
    wait_for_checkpoint(folder, launcher)
    ranks = members(launcher)
    os.kill(ranks[rank], signal.SIGKILL)
    output = ended_within(60, launcher, ranks)
    assert launcher.returncode != 0
    assert "another process of this run is gone" in output
    assert "--resume" in output
    assert CheckpointFolder(folder / "checkpoints").load_newest() is not None


@pytest.mark.slow
@pytest.mark.parametrize("rank", [0, 1])
def test_sigterm_to_one_process_saves_and_stops_both(folder: Path, rank: int) -> None:
    launcher = torchrun(folder)
    wait_for_checkpoint(folder, launcher)
    ranks = members(launcher)
    os.kill(ranks[rank], signal.SIGTERM)
    output = ended_within(60, launcher, ranks)
    assert launcher.returncode == 0, output
    found = CheckpointFolder(folder / "checkpoints").load_newest()
    assert found is not None
    assert {"random/0", "random/1"} <= set(found[0])


@pytest.mark.slow
@pytest.mark.parametrize("sharding", ["none", "full"])
def test_two_processes_go_through_an_odd_number_of_batches_three_times_and_end_as_one(
    tmp_path: Path, small_recipe: Recipe, primer: Corpus, quiet: Console, sharding: str
) -> None:
    still = replace(small_recipe.model, dropout=0.0)
    recipe = replace(
        small_recipe, model=still, batch_tokens=12_000, accumulate=3, updates=40, validate_every=20
    )
    begin(tmp_path / "one", recipe, primer, quiet, device=CPU)
    begin(tmp_path / "two", replace(recipe, sharding=sharding), primer, quiet, device=CPU)
    one = Run(tmp_path / "one", quiet, device=CPU)
    assert one.train()
    launcher = torchrun(tmp_path / "two")
    output, _ = launcher.communicate(timeout=300)
    assert launcher.returncode == 0, output
    assert ("FSDP2" if sharding == "full" else "DistributedDataParallel") in output

    two = Run(tmp_path / "two", quiet, device=CPU)  # one process, which finds whole weights
    assert two.trainer.progress.place == one.trainer.progress.place
    assert one.trainer.progress.place.epoch >= 3
    ids = torch.arange(10, 60).view(2, 25)
    for model in ("model", "averaged"):
        logits = [getattr(run.trainer, model).eval()(ids, ids) for run in (one, two)]
        torch.testing.assert_close(logits[1], logits[0], rtol=1e-3, atol=1e-3)
    assert (tmp_path / "two" / "model" / "MODEL_CARD.md").exists()
    assert len(list((tmp_path / "two" / "tensorboard").glob("events.*"))) == 1
