"""Several trainings, as many at a time as there are cores, each on one thread and resumed if it was stopped."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from training.checkpoint import CheckpointFolder
from training.evaluate import measured
from training.progress import Progress

ROOT = Path(__file__).parents[1]


class TrainingFailed(RuntimeError):
    """A training ended with an error; its log says which."""


@dataclass(frozen=True, eq=False)
class Training:
    """A recipe with settings, in a folder of its own."""

    recipe: str
    folder: Path
    settings: Mapping[str, str] = field(default_factory=dict)

    @property
    def log(self) -> Path:
        return self.folder.with_suffix(".log")

    @property
    def model(self) -> Path:
        """Whose card is written when all is done."""
        return self.folder / "model"

    def command(self, corpora: Path) -> list[str]:
        """Goes on where a stopped one was."""
        settings = [part for name, value in self.settings.items() for part in ("--set", f"{name}={value}")]
        place = ["--output", str(self.folder), "--corpora", str(corpora), "--threads", "1", "--resume"]
        return [sys.executable, "-u", "-m", "training.train", self.recipe, *place, *settings]


def train_all(trainings: Sequence[Training], corpora: Path, *, jobs: int) -> None:
    """Run them all, `jobs` at a time; raises TrainingFailed as soon as one fails, and stops the others."""
    waiting = list(trainings)
    running: dict[Training, subprocess.Popen[bytes]] = {}
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    try:
        while waiting or running:
            while waiting and len(running) < jobs:
                training = waiting.pop(0)
                training.folder.parent.mkdir(parents=True, exist_ok=True)
                with training.log.open("ab") as log:
                    running[training] = subprocess.Popen(
                        training.command(corpora), cwd=ROOT, env=environment, stdout=log, stderr=log
                    )
                print(f"training {training.folder.name}; its log is {training.log}", file=sys.stderr)
            time.sleep(0.5)
            for training, process in list(running.items()):
                if (status := process.poll()) is not None:
                    del running[training]
                    if status:
                        raise TrainingFailed(
                            f"{training.folder.name} ended with {status}; see {training.log}"
                        )
    finally:
        for process in running.values():
            process.terminate()  # it saves a checkpoint and stops
            process.wait()


def evaluate(
    training: Training, direction: tuple[str, str], source: Path, reference: Path, *flags: str
) -> dict[str, Any]:
    """What `training.evaluate` reports of the trained model."""
    languages = ["--source-language", direction[0], "--target-language", direction[1]]
    files = ["--source", str(source), "--reference", str(reference)]
    return measured([str(training.model), *languages, *files, "--threads", "1", *flags])


def progress_of(training: Training) -> Progress:
    """How far it got, and what that took."""
    found = CheckpointFolder(training.folder / "checkpoints").load_newest()
    if found is None:
        raise TrainingFailed(f"{training.folder} has no checkpoint")
    return Progress.from_json(found[1]["progress"])


def machine() -> str:
    """Commit and processor, for below a table."""
    commit = subprocess.run(
        ["git", "describe", "--always", "--dirty"], cwd=ROOT, capture_output=True, text=True
    )
    names = [line for line in Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("model name")]
    return f"commit {commit.stdout.strip()}, {os.cpu_count()} cores, {names[0].partition(': ')[2]}"
