"""What cannot be written is named, with a real limit of the operating system on the size of a file."""

import multiprocessing
import os
import resource
from pathlib import Path

import pytest

from model.durable import naming, sync_file, sync_folder, write_durably


def test_a_file_and_its_folder_are_synced_with_what_was_written(tmp_path: Path) -> None:
    write_durably(tmp_path / "file", b"content")
    sync_file(tmp_path / "file")
    sync_folder(tmp_path)
    assert (tmp_path / "file").read_bytes() == b"content"


def write_too_much(path: Path) -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
    with pytest.raises(OSError, match=f"too large: '{path}'"):
        write_durably(path, bytes(2000))
    os._exit(17)


def test_a_write_that_fails_names_the_file(tmp_path: Path) -> None:
    process = multiprocessing.get_context("forkserver").Process(
        target=write_too_much, args=(tmp_path / "file",)
    )
    process.start()
    process.join(60)
    assert process.exitcode == 17


def test_a_name_that_is_known_already_stays(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="missing"), naming(tmp_path / "other"):
        (tmp_path / "missing" / "file").open("rb")
