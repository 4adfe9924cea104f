"""What outlives a request: JSON values by name, in a folder if the operator gives one, else nowhere."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

_NAME = re.compile(r"[a-z0-9-]{1,64}")


class UnusableFolder(ValueError):
    """The state folder cannot be used; the message names it and says why."""


class Storage:
    """Values are written whole or not at all. Names are the service's own, never a client's."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        if folder is None:
            return
        try:
            folder.mkdir(parents=True, exist_ok=True)
            probe = folder / ".probe"
            probe.write_bytes(b"")
            probe.unlink()
        except OSError as error:
            raise UnusableFolder(
                f"the state folder {folder} cannot be written to ({error.strerror}); "
                "give a folder that this user may write to, or none to keep nothing"
            ) from error

    def __repr__(self) -> str:
        return f"<Storage {self._folder or 'in memory only'}>"

    @property
    def is_kept(self) -> bool:
        return self._folder is not None

    def read(self, name: str) -> Any:
        """The value, or None if there is none; raises UnusableFolder for one that is damaged."""
        if self._folder is None:
            return None
        path = self._path(self._folder, name)
        try:
            return json.loads(path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as error:
            raise UnusableFolder(f"{path} cannot be read: {error}") from error

    def write(self, name: str, value: Any) -> None:
        if self._folder is None:
            return
        path = self._path(self._folder, name)
        unfinished = path.with_suffix(".part")
        with unfinished.open("w", encoding="utf-8") as file:
            json.dump(value, file, ensure_ascii=False)
            file.flush()
            os.fsync(file.fileno())
        unfinished.replace(path)

    def names(self, prefix: str) -> list[str]:
        """The names of all values that begin so, in alphabetical order."""
        if self._folder is None:
            return []
        return sorted(
            path.stem for path in self._folder.glob(f"{prefix}*.json") if _NAME.fullmatch(path.stem)
        )

    def delete(self, name: str) -> None:
        if self._folder is not None:
            self._path(self._folder, name).unlink(missing_ok=True)

    def append(self, name: str, value: Any) -> None:
        """One more line of JSON at the end of a list of them."""
        if self._folder is None:
            return
        with self._lines(self._folder, name).open("a", encoding="utf-8") as file:
            file.write(json.dumps(value, ensure_ascii=False) + "\n")

    def lines_size(self, name: str) -> int:
        """Bytes of a list of lines so far."""
        if self._folder is None:
            return 0
        try:
            return self._lines(self._folder, name).stat().st_size
        except FileNotFoundError:
            return 0

    def _lines(self, folder: Path, name: str) -> Path:
        return self._path(folder, name).with_suffix(".jsonl")

    @staticmethod
    def _path(folder: Path, name: str) -> Path:
        if not _NAME.fullmatch(name):
            raise ValueError(f"{name!r} is no name of a stored value")
        return folder / f"{name}.json"
