"""Checkpoints: whole or not there, and what is kept of them."""

import os
import resource
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
import torch

from tests.training.processes import together
from training.checkpoint import CheckpointError, CheckpointFolder
from training.world import World

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
    folder.unfinished.mkdir()
    (folder.unfinished / folder.path(2).name).write_bytes(b"torn")
    assert folder.updates() == [1]


@pytest.mark.parametrize("position", [0.2, 0.5, 0.9, 0.99])
def test_a_file_with_a_bit_turned_is_refused(tmp_path: Path, position: float) -> None:
    folder = CheckpointFolder(tmp_path)
    folder.save(1, TENSORS, {"update": 1})
    content = bytearray(folder.path(1).read_bytes())
    content[int(position * len(content))] ^= 1
    folder.path(1).write_bytes(content)
    with pytest.raises(CheckpointError, match=r"update-00000001"):
        folder.load(1)


def test_what_a_killed_writer_left_is_cleared_away(tmp_path: Path) -> None:
    folder = CheckpointFolder(tmp_path)
    folder.unfinished.mkdir()
    (folder.unfinished / ".tmp123").write_bytes(b"torn")
    folder.save(5, TENSORS, {})
    assert [path.name for path in tmp_path.iterdir()] == [folder.path(5).name]


LARGE = {"weight": torch.zeros(100_000)}


@pytest.fixture
def place() -> Iterator[Path]:
    """A folder that others than its owner can reach: pytest's own are closed to them."""
    with TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


def save_beyond_a_limit(_: World, place: Path) -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))  # a quarter of the checkpoint
    with pytest.raises(CheckpointError, match=r"update-00000002.*File too large.*earlier checkpoints stand"):
        CheckpointFolder(place).save(2, LARGE, {})


def save_without_the_right_to(_: World, place: Path) -> None:
    place.chmod(0o555)
    if os.getuid() == 0:
        os.setuid(65534)  # nobody: a read-only folder does not stop root
    with pytest.raises(
        CheckpointError, match=r"update-00000002.*Permission denied.*earlier checkpoints stand"
    ):
        CheckpointFolder(place).save(2, LARGE, {})


@pytest.mark.parametrize("try_to_save", [save_beyond_a_limit, save_without_the_right_to])
def test_a_write_that_fails_is_named_and_earlier_checkpoints_stand(
    place: Path, try_to_save: Callable[..., None]
) -> None:
    folder = CheckpointFolder(place)
    folder.save(1, LARGE, {})
    before = folder.path(1).read_bytes()
    together(try_to_save, place, size=1)
    assert [path.name for path in place.iterdir()] == [folder.path(1).name]
    assert folder.path(1).read_bytes() == before
    assert folder.load_newest() is not None


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
