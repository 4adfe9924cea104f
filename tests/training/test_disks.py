"""A disk that is really full, and one that is really read-only: a small file system of the test's own."""

import hashlib
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
from training.run_folder import begin

SIZE = 8 << 20
# Mounts are seen by the process alone and end with it. Without the rights of root, those of its own user space.
OWN_MOUNTS = ["unshare", "--mount", *([] if os.getuid() == 0 else ["--user", "--map-root-user"])]


def can_mount() -> bool:
    try:
        mount = ["mount", "-t", "tmpfs", "none", "/mnt"]
        return subprocess.run([*OWN_MOUNTS, *mount], capture_output=True, check=False).returncode == 0
    except FileNotFoundError:
        return False


@pytest.mark.slow
@pytest.mark.skipif(not can_mount(), reason="this user may not mount a file system, not even one of its own")
def test_a_full_disk_and_a_read_only_one_lose_nothing(
    tmp_path: Path, small_recipe: Recipe, primer: Corpus, quiet: Console
) -> None:
    begin(tmp_path / "run", replace(small_recipe, updates=6), primer, quiet, device=torch.device("cpu"))
    (tmp_path / "disk").mkdir()
    program = [sys.executable, "-c", "from tests.training.test_disks import inside; inside()", str(tmp_path)]
    done = subprocess.run([*OWN_MOUNTS, *program], capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def inside() -> None:
    """What happens where the mounts are seen."""
    place = Path(sys.argv[1])
    disk, run = place / "disk", place / "disk" / "run"
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={SIZE}", "none", disk], check=True)
    subprocess.run(["cp", "-r", place / "run", run], check=True)
    assert train(run, "updates=6").returncode == 0
    before = checksums(run)
    assert any("update-00000006" in name for name in before)

    filler = disk / "filler"
    space = os.statvfs(disk)
    filler.write_bytes(bytes(space.f_bavail * space.f_frsize - 100_000))
    full = train(run, "updates=9")
    assert full.returncode == 1, full.stdout + full.stderr
    assert "No space left on device" in full.stderr and str(run) in full.stderr, full.stderr
    assert "Traceback" not in full.stderr, full.stderr
    assert checksums(run) == before

    filler.unlink()
    subprocess.run(["mount", "-o", "remount,ro", disk], check=True)
    fixed = train(run, "updates=9")
    assert fixed.returncode == 1, fixed.stdout + fixed.stderr
    assert "Read-only file system" in fixed.stderr and str(run) in fixed.stderr, fixed.stderr
    assert checksums(run) == before

    subprocess.run(["mount", "-o", "remount,rw", disk], check=True)
    went_on = train(run, "updates=9")
    assert went_on.returncode == 0, went_on.stdout + went_on.stderr
    assert "going on at update 6" in went_on.stdout


def train(run: Path, setting: str) -> subprocess.CompletedProcess[str]:
    arguments = ["custom", "--resume", "--threads", "1", "--output", str(run), "--set", setting]
    return subprocess.run(
        [sys.executable, "-m", "training.train", *arguments], capture_output=True, text=True, check=False
    )


def checksums(run: Path) -> dict[str, str]:
    """Of the checkpoints and of the best model."""
    files = [*(run / "checkpoints").rglob("*"), *(run / "model").rglob("*")]
    return {str(file): hashlib.sha256(file.read_bytes()).hexdigest() for file in files if file.is_file()}
