"""Rows of different lengths in one file, each read when it is asked for: parallel text, and its piece ids.

A file NAME holds the rows one after another; NAME.starts holds where each begins, as 64-bit little-endian numbers, and
the end. Nothing is kept in memory, not even the starts: a row is two short reads of what the system has cached
(docs/decisions/0011-rows-are-read-not-mapped.md).
"""

from __future__ import annotations

import os
import weakref
from array import array
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from struct import Struct
from types import TracebackType
from typing import Literal, Self, overload

import numpy as np
from numpy.typing import NDArray

from training.corpora.pairs import CorpusError, Pair

STARTS = ".starts"
_SPAN = Struct("<qq")
_BLOCK = 1 << 16  # rows


class RowWriter:
    """Writes rows, or `goes_on` after those that are there; use it as a context manager."""

    def __init__(self, path: Path, *, goes_on: bool = False) -> None:
        mode: Literal["ab", "wb"] = "ab" if goes_on else "wb"
        self._rows = path.open(mode, buffering=1 << 20)
        self._starts = starts_of(path).open(mode, buffering=1 << 20)
        self._end = self._rows.tell()
        if not goes_on:
            self._starts.write(bytes(8))

    def append(self, row: bytes) -> None:
        self._rows.write(row)
        self._end += len(row)
        self._starts.write(self._end.to_bytes(8, "little"))

    def close(self) -> None:
        self._rows.close()
        self._starts.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class Rows:
    """What a RowWriter wrote. CorpusError where the two files do not belong together."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._rows = _opened(self, path)
        self._starts = _opened(self, starts_of(path))
        self._count = os.fstat(self._starts).st_size // 8 - 1
        end = os.pread(self._starts, 8, 8 * self._count) if self._count >= 0 else b""
        if int.from_bytes(end, "little") != os.fstat(self._rows).st_size or not end:
            raise CorpusError(f"{path}: not as long as {starts_of(path).name} says; it was cut or changed")

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, index: int) -> bytes:
        if not 0 <= index < self._count:
            raise IndexError(f"{self.path}: row {index} of {self._count}")
        start, end = _SPAN.unpack(os.pread(self._starts, 16, 8 * index))
        return os.pread(self._rows, end - start, start)

    def lengths(self) -> Iterator[NDArray[np.int64]]:
        """In bytes, of all rows in their order, some ten thousand at a time."""
        for first in range(0, self._count, _BLOCK):
            rows = min(_BLOCK, self._count - first)
            yield np.diff(np.frombuffer(os.pread(self._starts, 8 * (rows + 1), 8 * first), "<i8"))


class PairWriter:
    """Writes pairs as STEM.LANGUAGE files, a line each: text for people, with starts for the machine."""

    def __init__(self, stem: Path, languages: Sequence[str], *, goes_on: bool = False) -> None:
        self._sides = [RowWriter(path, goes_on=goes_on) for path in _sides(stem, languages)]

    def append(self, pair: Pair) -> None:
        for side, text in zip(self._sides, pair, strict=True):
            side.append(text.encode() + b"\n")

    def close(self) -> None:
        for side in self._sides:
            side.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class StoredPairs(Sequence[Pair]):
    """What a PairWriter wrote, as a sequence that holds nothing in memory."""

    def __init__(self, stem: Path, languages: Sequence[str]) -> None:
        self._sides = [Rows(path) for path in _sides(stem, languages)]
        if len(self._sides[0]) != len(self._sides[1]):
            raise CorpusError(f"{stem}: {' and '.join(str(len(side)) for side in self._sides)} lines")

    def __len__(self) -> int:
        return len(self._sides[0])

    def __iter__(self) -> Iterator[Pair]:
        with self._sides[0].path.open("rb") as source, self._sides[1].path.open("rb") as target:
            for lines in zip(source, target, strict=True):
                yield Pair(*(line[:-1].decode() for line in lines))

    @overload
    def __getitem__(self, index: int) -> Pair: ...
    @overload
    def __getitem__(self, index: slice) -> list[Pair]: ...
    def __getitem__(self, index: int | slice) -> Pair | list[Pair]:
        if isinstance(index, slice):
            return [self[place] for place in range(*index.indices(len(self)))]
        return Pair(*(side[index][:-1].decode() for side in self._sides))


def remove_pairs(stem: Path, languages: Sequence[str]) -> None:
    """What a PairWriter wrote is not wanted any more."""
    for path in _sides(stem, languages):
        path.unlink()
        starts_of(path).unlink()


def write_ids(path: Path, rows: Iterable[Sequence[int]], vocabulary_size: int) -> None:
    """Ids of pieces, two bytes each where that is enough."""
    type_code = _type_code_for(vocabulary_size)
    with RowWriter(path) as writer:
        for ids in rows:
            writer.append(array(type_code, ids).tobytes())


class StoredIds(Sequence[list[int]]):
    """What `write_ids` wrote, for a vocabulary of the same size, as a sequence that holds nothing in memory."""

    def __init__(self, path: Path, vocabulary_size: int) -> None:
        self._rows = Rows(path)
        self._type_code = _type_code_for(vocabulary_size)

    def __len__(self) -> int:
        return len(self._rows)

    @overload
    def __getitem__(self, index: int) -> list[int]: ...
    @overload
    def __getitem__(self, index: slice) -> list[list[int]]: ...
    def __getitem__(self, index: int | slice) -> list[int] | list[list[int]]:
        if isinstance(index, slice):
            return [self[place] for place in range(*index.indices(len(self)))]
        return array(self._type_code, self._rows[index]).tolist()

    def lengths(self) -> Iterator[NDArray[np.int64]]:
        """Pieces of every row, some ten thousand at a time."""
        size = array(self._type_code).itemsize
        return (block // size for block in self._rows.lengths())


def _type_code_for(vocabulary_size: int) -> Literal["H", "I"]:
    return "H" if vocabulary_size <= 1 << 16 else "I"


def starts_of(path: Path) -> Path:
    return path.with_name(path.name + STARTS)


def _sides(stem: Path, languages: Sequence[str]) -> list[Path]:
    return [stem.with_name(f"{stem.name}.{language}") for language in languages]


def _opened(owner: Rows, path: Path) -> int:
    """A file descriptor that is closed when its owner is gone."""
    descriptor = os.open(path, os.O_RDONLY)
    weakref.finalize(owner, os.close, descriptor)
    return descriptor
