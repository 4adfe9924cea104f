"""Checkpoints: one safetensors file each, whole or not there, with the run's progress in its header."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

NEWEST = 2  # kept whatever they scored: a damaged last file leaves one to resume from
_NAME = re.compile(r"update-(\d{8})\.safetensors")


class CheckpointError(RuntimeError):
    """A checkpoint cannot be written or read; the message names the file and the cause."""


class CheckpointFolder:
    """The checkpoints of one run. Files are written aside, synced and renamed, so a kill leaves no torn one."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def path(self, update: int) -> Path:
        return self.folder / f"update-{update:08d}.safetensors"

    def updates(self) -> list[int]:
        """Of the checkpoints there are, oldest first."""
        if not self.folder.is_dir():
            return []
        matches = (_NAME.fullmatch(path.name) for path in self.folder.iterdir())
        return sorted(int(match[1]) for match in matches if match)

    def save(self, update: int, tensors: Mapping[str, Tensor], progress: Mapping[str, Any]) -> None:
        """Write the checkpoint of `update`; CheckpointError when the disk is full or the folder read-only."""
        unfinished = self.path(update).with_suffix(".tmp")
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            save_file(dict(tensors), unfinished, metadata={"progress": json.dumps(progress)})
            with unfinished.open("rb") as file:
                os.fsync(file.fileno())
            unfinished.replace(self.path(update))
            _sync_folder(self.folder)
        except (OSError, SafetensorError) as error:
            cause = os.strerror(error.errno) if isinstance(error, OSError) and error.errno else error
            with suppress(OSError):  # the first error is the one to tell
                unfinished.unlink(missing_ok=True)
            raise CheckpointError(
                f"{self.path(update)}: not written: {cause}; earlier checkpoints stand"
            ) from error

    def load(self, update: int) -> tuple[dict[str, Tensor], dict[str, Any]]:
        """Tensors and progress of a checkpoint; CheckpointError when it is missing or damaged."""
        try:
            with safe_open(self.path(update), framework="pt") as file:
                tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (no mapping)
                return tensors, json.loads(file.metadata()["progress"])
        except (OSError, SafetensorError, KeyError, TypeError, ValueError) as error:
            raise CheckpointError(f"{self.path(update)}: cannot be read: {error}") from error

    def load_newest(self) -> tuple[dict[str, Tensor], dict[str, Any]] | None:
        """The newest checkpoint that is whole, or None where there is none at all."""
        updates = self.updates()
        for update in reversed(updates):
            try:
                return self.load(update)
            except CheckpointError as error:
                if update == updates[0]:
                    raise
                print(f"{error}; trying the one before")
        return None

    def prune(self, best: Iterable[int]) -> None:
        """Delete all but the NEWEST ones and the `best` updates."""
        kept = {*self.updates()[-NEWEST:], *best}
        for update in self.updates():
            if update not in kept:
                self.path(update).unlink()


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
