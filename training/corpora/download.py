"""One file over HTTP, on lines that break, from servers that err.

A download is written to NAME.part and renamed when it is whole. What a broken line left is used again: the
request asks for the rest with Range, and with If-Range only if the file at the address is still the same one.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Self

import httpx2
from rich.console import Console
from rich.progress import (
    BarColumn,
    DownloadColumn,
    Progress,
    TextColumn,
    TimeRemainingColumn,
    TransferSpeedColumn,
)

from training.corpora.catalogue import RemoteFile
from training.corpora.pairs import CorpusError

ATTEMPTS = 5  # in a row that bring nothing; an attempt that brought bytes starts the count anew
LONGEST_PAUSE = 30.0  # seconds between two attempts, also where the server asks for more
_TIMEOUT = httpx2.Timeout(30.0, connect=10.0)
_TRY_AGAIN = {408, 425, 429, 500, 502, 503, 504}


class DownloadError(CorpusError):
    """A file that cannot be had. The message names the address and the cause."""


class _Interrupted(Exception):
    """An attempt that may be repeated: its cause in words, and how long the server asked to wait."""

    def __init__(self, cause: str, pause: float | None = None) -> None:
        super().__init__(cause)
        self.pause = pause


class Downloader:
    """A client with a progress bar; use it as a context manager."""

    def __init__(self, console: Console, *, sleep: Callable[[float], None] = time.sleep) -> None:
        self._sleep = sleep
        self._client = httpx2.Client(
            timeout=_TIMEOUT,
            follow_redirects=True,
            # Else a server may pack the answer, and lengths and ranges would count packed bytes.
            headers={"User-Agent": "dragoman (corpus fetch)", "Accept-Encoding": "identity"},
        )
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            DownloadColumn(),
            TransferSpeedColumn(),
            TimeRemainingColumn(),
            console=console,
        )

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._progress.stop()
        self._client.close()

    def obtain(self, file: RemoteFile, folder: Path) -> Path:
        """Downloads a file into the folder, unless an earlier run did.

        Raises DownloadError, after ATTEMPTS tries where trying again may help.
        """
        path = folder / file.name
        if path.is_file():
            return path
        part = folder / f"{file.name}.part"
        task = self._progress.add_task(file.name, total=None)
        failures, farthest = 0, _size(part)
        while True:
            try:
                self._attempt(
                    file.address,
                    part,
                    lambda done, total: self._progress.update(task, completed=done, total=total),
                )
                break
            except (_Interrupted, httpx2.TransportError) as error:
                cause = str(error) or type(error).__name__
                failures = 1 if _size(part) > farthest else failures + 1
                farthest = max(farthest, _size(part))
                if failures >= ATTEMPTS:
                    raise DownloadError(
                        f"{file.address}: given up after {failures} attempts: {cause}"
                    ) from error
                asked = error.pause if isinstance(error, _Interrupted) else None
                pause = min(LONGEST_PAUSE, asked if asked is not None else 2.0 ** (failures - 1))
                self._progress.console.print(f"{file.name}: {cause}; again in {pause:.0f} s")
                self._sleep(pause)
            except httpx2.HTTPError as error:
                raise DownloadError(f"{file.address}: {error}") from error
            except OSError as error:
                raise DownloadError(f"{part}: cannot be written: {error.strerror} ({error.errno})") from error
        part.replace(path)
        _validator_file(part).unlink(missing_ok=True)
        return path

    def _attempt(self, address: str, part: Path, show: Callable[[int, int | None], None]) -> None:
        """Brings `part` to its full length, or raises."""
        start, validator = _size(part), _read_validator(part)
        headers = {"Range": f"bytes={start}-", "If-Range": validator} if start and validator else {}
        with self._client.stream("GET", address, headers=headers) as response:
            _refuse_error_pages(response, address)
            if response.status_code == 416:
                part.unlink(missing_ok=True)
                raise _Interrupted("the server has no such range; starting afresh")
            continues = response.status_code == 206 and _range_start(response) == start
            if response.status_code == 206 and not continues:
                part.unlink(missing_ok=True)
                raise _Interrupted("the server sent another range than asked for; starting afresh")
            start = start if continues else 0
            length = response.headers.get("Content-Length")
            total = start + int(length) if length is not None and length.isdigit() else None
            _write_validator(part, response)
            with part.open("ab" if continues else "wb") as out:
                show(start, total)
                for block in response.iter_raw():  # as they come: a fixed size would lose the last on a break
                    out.write(block)
                    show(out.tell(), total)
                out.flush()
                os.fsync(out.fileno())
        if total is not None and _size(part) != total:
            raise _Interrupted(f"{_size(part):,} bytes of {total:,} came")


def _refuse_error_pages(response: httpx2.Response, address: str) -> None:
    status = response.status_code
    if status in _TRY_AGAIN:
        wait = response.headers.get("Retry-After", "")
        raise _Interrupted(f"status {status}", float(wait) if wait.isdigit() else None)
    if status >= 400 and status != 416:
        hint = "; the file has moved or is gone" if status in (404, 410) else ""
        raise DownloadError(f"{address}: the server answered {status} {response.reason_phrase}{hint}")
    if response.headers.get("Content-Type", "").partition(";")[0].strip().lower() == "text/html":
        raise DownloadError(f"{address}: the server answered with an HTML page instead of the file")


def _range_start(response: httpx2.Response) -> int | None:
    """`bytes 100-199/200` → 100"""
    unit, _, span = response.headers.get("Content-Range", "").partition(" ")
    first = span.partition("-")[0]
    return int(first) if unit == "bytes" and first.isdigit() else None


def _read_validator(part: Path) -> str | None:
    path = _validator_file(part)
    return path.read_text(encoding="ascii") if path.is_file() else None


def _write_validator(part: Path, response: httpx2.Response) -> None:
    """What If-Range may ask with: a strong ETag, else the date of the last change (RFC 9110, 13.1.5)."""
    etag = response.headers.get("ETag", "")
    validator = etag if etag.startswith('"') else response.headers.get("Last-Modified", "")
    if validator.isascii() and validator:
        _validator_file(part).write_text(validator, encoding="ascii")
    else:
        _validator_file(part).unlink(missing_ok=True)


def _validator_file(part: Path) -> Path:
    return part.with_name(f"{part.name}.validator")


def _size(path: Path) -> int:
    return path.stat().st_size if path.is_file() else 0
