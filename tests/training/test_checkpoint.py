"""Checkpoints: whole or not there, and what is kept of them."""

import os
from pathlib import Path

import pytest
import torch

from training.checkpoint import CheckpointError, CheckpointFolder

TENSORS = {"weight": torch.arange(6.0).view(2, 3), "random": torch.arange(5, dtype=torch.uint8)}


def test_a_checkpoint_comes_back_as_it_was(tmp_path: Path) -> None:
    folder = CheckpointFolder(tmp_path / "checkpoints")
    folder.save(7, TENSORS, {"update": 7, "best": [[1.5, 3]]})
    tensors, progress = folder.load(7)
    assert progress == {"update": 7, "best": [[1.5, 3]]}
    assert all(torch.equal(tensors[name], TENSORS[name]) for name in TENSORS)


def test_pruning_keeps_the_newest_two_and_the_best(tmp_path: Path) -> None:
    folder = CheckpointFolder(tmp_path)
    for update in range(1, 7):
        folder.save(update, TENSORS, {})
    folder.prune(best=[1, 3])
    assert folder.updates() == [1, 3, 5, 6]


def test_a_torn_file_is_passed_over_for_the_one_before(tmp_path: Path) -> None:
    folder = CheckpointFolder(tmp_path)
    folder.save(1, TENSORS, {"update": 1})
    folder.save(2, TENSORS, {"update": 2})
    content = folder.path(2).read_bytes()
    folder.path(2).write_bytes(content[: len(content) // 2])
    found = folder.load_newest()
    assert found is not None
    assert found[1] == {"update": 1}


def test_a_folder_with_nothing_but_torn_files_is_an_error_and_no_fresh_start(tmp_path: Path) -> None:
    folder = CheckpointFolder(tmp_path)
    folder.path(1).write_bytes(b"")
    with pytest.raises(CheckpointError, match="update-00000001"):
        folder.load_newest()


def test_an_unfinished_file_of_a_killed_write_is_no_checkpoint(tmp_path: Path) -> None:
    folder = CheckpointFolder(tmp_path)
    folder.save(1, TENSORS, {})
    folder.path(2).with_suffix(".tmp").write_bytes(b"torn")
    assert folder.updates() == [1]


def test_a_full_disk_is_named_and_earlier_checkpoints_stand(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = CheckpointFolder(tmp_path)
    folder.save(1, TENSORS, {})
    before = folder.path(1).read_bytes()

    def full(_: int) -> None:
        raise OSError(28, os.strerror(28))

    monkeypatch.setattr("training.checkpoint.os.fsync", full)
    with pytest.raises(CheckpointError, match=r"update-00000002.*No space left"):
        folder.save(2, TENSORS, {})
    assert folder.updates() == [1]
    assert folder.path(1).read_bytes() == before
    assert not list(tmp_path.glob("*.tmp"))


def test_a_file_that_holds_code_is_refused_unread(tmp_path: Path) -> None:
    canary = tmp_path / "canary"

    class Trap:
        def __reduce__(self) -> tuple[object, tuple[str]]:
            return os.mkdir, (str(canary),)

    folder = CheckpointFolder(tmp_path)
    torch.save({"weight": Trap()}, folder.path(1))
    with pytest.raises(CheckpointError):
        folder.load(1)
    assert not canary.exists()
