"""Checkpoints: one safetensors file each, whole or not there, with facts about the run in its header."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from model.durable import sync_file, sync_folder

NEWEST = 2  # kept whatever they scored: a damaged last file leaves one to resume from
_NAME = re.compile(r"update-(\d{8})\.safetensors")


class CheckpointError(RuntimeError):
    """A checkpoint cannot be written or read; the message names the file and the cause."""


class CheckpointFolder:
    """The checkpoints of one run. Files are written aside, synced and renamed, so a kill leaves no torn one."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @property
    def unfinished(self) -> Path:
        """A place aside, where safetensors' own temporary files are, too."""
        return self.folder / "unfinished"

    def path(self, update: int) -> Path:
        return self.folder / f"update-{update:08d}.safetensors"

    def updates(self) -> list[int]:
        """Of the checkpoints there are, oldest first."""
        if not self.folder.is_dir():
            return []
        matches = (_NAME.fullmatch(path.name) for path in self.folder.iterdir())
        return sorted(int(match[1]) for match in matches if match)

    def save(self, update: int, tensors: Mapping[str, Tensor], facts: Mapping[str, Any]) -> None:
        """Write the checkpoint of `update`; CheckpointError when the disk is full or the folder read-only.

        `tensors` lie on the CPU; `facts` are whatever JSON holds.
        """
        text = json.dumps(facts)
        header = {"facts": text, "sha256": checksum(tensors, text)}
        with self._changing(self.path(update), "not written"):
            try:
                self._clear_unfinished()
                self.unfinished.mkdir(parents=True)
                file = self.unfinished / self.path(update).name
                save_file(dict(tensors), file, metadata=header)
                sync_file(file)
                file.replace(self.path(update))
                sync_folder(self.folder)
            finally:
                self._clear_unfinished()

    def load(self, update: int) -> tuple[dict[str, Tensor], dict[str, Any]]:
        """Tensors and facts of a checkpoint; CheckpointError when it is missing or damaged."""
        try:
            with safe_open(self.path(update), framework="pt") as file:
                tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (no mapping)
                header = file.metadata()
            if header["sha256"] != checksum(tensors, header["facts"]):
                raise ValueError("damaged: its checksum differs")
            return tensors, json.loads(header["facts"])
        except KeyError as error:
            raise CheckpointError(f"{self.path(update)}: {error} is missing from its header") from error
        except (OSError, SafetensorError, TypeError, ValueError) as error:
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
                with self._changing(self.path(update), "not deleted"):
                    self.path(update).unlink()

    def _clear_unfinished(self) -> None:
        shutil.rmtree(self.unfinished, ignore_errors=True)

    @contextmanager
    def _changing(self, path: Path, failure: str) -> Iterator[None]:
        try:
            yield
        except (OSError, SafetensorError) as error:
            cause = os.strerror(error.errno) if isinstance(error, OSError) and error.errno else error
            raise CheckpointError(f"{path}: {failure}: {cause}; earlier checkpoints stand") from error


def checksum(tensors: Mapping[str, Tensor], facts: str) -> str:
    """SHA-256 over all that a checkpoint says: names, types, shapes, values, facts."""
    digest = hashlib.sha256(facts.encode())
    for name in sorted(tensors):
        tensor = tensors[name]
        digest.update(f"\n{name} {tensor.dtype} {tuple(tensor.shape)}\n".encode())
        digest.update(tensor.contiguous().flatten().view(torch.uint8).numpy().data)
    return digest.hexdigest()
