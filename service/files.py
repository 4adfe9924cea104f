"""Files that were translated, until they are fetched or their time is up. In memory only, and bounded."""

from __future__ import annotations

import asyncio
import logging
import math
import secrets
import time
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from service.errors import NotDone, NotFound, QueueFull, ServiceError, whereabouts
from service.keys import Account

logger = logging.getLogger(__name__)

MAX_BYTES = 256 << 20  # of all results together
MAX_FILES = 1000


class FileStatus(Enum):
    QUEUED = "queued"
    TRANSLATING = "translating"
    DONE = "done"
    ERROR = "error"


@dataclass
class File:
    """One file on its way. Whoever has its id and its key may have the result."""

    account: str
    name: str  # of the result, for its receiver; never a path
    media_type: str
    characters: int
    expires: float
    size: int  # bytes it counts for: the upload, then the result
    id: str = field(default_factory=lambda: secrets.token_hex(16).upper())
    key: str = field(default_factory=lambda: secrets.token_hex(32).upper())
    status: FileStatus = FileStatus.QUEUED
    content: bytes = b""
    message: str = ""  # why it failed
    was_fetched: bool = False


class Files:
    """Translates files in the background and keeps the results for `seconds` after they are done.

    Where there is no room for a new one, those that were fetched already make it.
    """

    def __init__(self, *, seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._seconds = seconds
        self._clock = clock
        self._files: dict[str, File] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    def __repr__(self) -> str:
        return f"<Files: {len(self._files)}, {len(self._tasks)} in work>"

    def __len__(self) -> int:
        return len(self._files)

    def start(
        self,
        account: Account,
        name: str,
        media_type: str,
        *,
        characters: int,
        size: int,
        work: Callable[[], Coroutine[Any, Any, bytes]],
    ) -> File:
        """Take a file of `size` bytes in and begin with it; raises QueueFull when too much is kept already."""
        file = self._add(File(account.name, name, media_type, characters, math.inf, size))
        task = asyncio.create_task(self._translate(file, work))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return file

    def keep(self, account: Account, name: str, media_type: str, content: bytes) -> File:
        """Keep a result that is there already; raises QueueFull."""
        file = File(account.name, name, media_type, 0, self._clock() + self._seconds, len(content))
        file.status, file.content = FileStatus.DONE, content
        return self._add(file)

    def get(self, identity: str, key: str | None, account: Account | None = None) -> File:
        """Raises NotFound, also for a wrong key or account: who guesses ids learns nothing.

        Without a key the id is the secret.
        """
        self.forget_expired()
        file = self._files.get(identity)
        if (
            file is None
            or (key is not None and not secrets.compare_digest(file.key.encode(), _bytes_of(key)))
            or (account is not None and file.account != account.name)
        ):
            raise NotFound("There is no such document, or it was fetched or has expired.")
        return file

    def fetch(self, identity: str) -> File:
        """A result that may be fetched again, for as long as there is room; raises NotFound."""
        file = self.get(identity, None)
        file.was_fetched = True
        return file

    def take(self, file: File) -> File:
        """A result, which is gone afterwards; raises NotDone, or NotFound where there will be none."""
        if file.status is FileStatus.ERROR:
            raise NotFound(f"The document could not be translated: {file.message}")
        if file.status is not FileStatus.DONE:
            raise NotDone("The document is still being translated.")
        self._files.pop(file.id, None)
        return file

    def forget_expired(self) -> None:
        now = self._clock()
        for identity in [file.id for file in self._files.values() if file.expires <= now]:
            del self._files[identity]

    async def close(self) -> None:
        """Give up what is in work."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _add(self, file: File) -> File:
        self.forget_expired()
        fetched = (old for old in list(self._files.values()) if old.was_fetched)  # oldest first
        while self._is_too_much(file):
            if (old := next(fetched, None)) is None:
                raise QueueFull("Too many files are waiting to be fetched; please try again later.")
            del self._files[old.id]
        self._files[file.id] = file
        return file

    async def _translate(self, file: File, work: Callable[[], Coroutine[Any, Any, bytes]]) -> None:
        file.status = FileStatus.TRANSLATING
        try:
            file.content = await work()
            file.status = FileStatus.DONE
        except ServiceError as error:
            file.message, file.status = error.message, FileStatus.ERROR
        except Exception as error:
            logger.error("a document could not be translated: %s", whereabouts(error))
            file.message, file.status = "the service failed", FileStatus.ERROR
        file.size = len(file.content)
        file.expires = self._clock() + self._seconds

    def _is_too_much(self, file: File) -> bool:
        size = sum(one.size for one in self._files.values())
        return len(self._files) >= MAX_FILES or size + file.size > MAX_BYTES


def _bytes_of(key: str) -> bytes:
    return key.encode("utf-8", "surrogatepass")
