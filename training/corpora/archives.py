"""Corpus files as streams of bytes, whether plain, gzipped or inside a zip.

The type is taken from the leading bytes: names lie, and an error page saved as `corpus.zip` is the most
common corpus of all.
"""

from __future__ import annotations

import gzip
import logging
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO, Literal

from training.corpora.pairs import CorpusError

Kind = Literal["gzip", "zip", "plain"]
BinaryStream = IO[bytes] | gzip.GzipFile

_GZIP = b"\x1f\x8b"
_ZIP = (b"PK\x03\x04", b"PK\x05\x06")
_OTHER_ARCHIVES = {
    b"BZh": "bzip2",
    b"\xfd7zXZ\x00": "xz",
    b"7z\xbc\xaf": "7-zip",
    b"\x28\xb5\x2f\xfd": "Zstandard",
}
_BLOCK = 1 << 20

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Stream:
    """One readable file: a path, or a member of the zip at that path. `str()` of it names it in messages."""

    path: Path
    member: str | None = None

    def __str__(self) -> str:
        return f"{self.path}:{self.member}" if self.member else str(self.path)

    @property
    def name(self) -> str:
        """The bare file name, without a closing `.gz`."""
        return PurePosixPath(self.member or self.path.name).name.removesuffix(".gz")

    @contextmanager
    def open(self) -> Iterator[BinaryStream]:
        """The unpacked bytes. Damage in the archive is raised as CorpusError with the name of the file."""
        try:
            if self.member is not None:
                with zipfile.ZipFile(self.path) as archive, archive.open(self.member) as packed:
                    yield gzip.GzipFile(fileobj=packed) if self.member.endswith(".gz") else packed
            elif kind_of(self.path) == "gzip":
                with gzip.open(self.path) as unpacked:
                    yield unpacked
            else:
                with self.path.open("rb") as plain:
                    yield plain
        except EOFError as error:
            raise CorpusError(
                f"{self}: the compressed file ends too early; it was cut. Fetch it again."
            ) from error
        except (gzip.BadGzipFile, zipfile.BadZipFile, zlib.error) as error:
            raise CorpusError(f"{self}: the compressed file is damaged ({error}). Fetch it again.") from error
        except (NotImplementedError, RuntimeError) as error:  # zipfile's words for encryption and odd methods
            raise CorpusError(f"{self}: the zip cannot be unpacked ({error})") from error

    def head(self, size: int = 512) -> bytes:
        with self.open() as file:
            return file.read(size)

    def verify(self) -> None:
        """Reads a compressed file to its end, so that its checksum is proved before any line is used."""
        if self.member is None and kind_of(self.path) == "plain":
            return
        with self.open() as file:
            while file.read(_BLOCK):
                pass


def kind_of(path: Path) -> Kind:
    """Raises CorpusError for a missing or empty file, an HTML page and archives that are not read here."""
    if not path.is_file():
        raise CorpusError(f"{path}: no such file")
    with path.open("rb") as file:
        head = file.read(512)
    if not head:
        raise CorpusError(f"{path}: the file is empty")
    if head.startswith(_GZIP):
        return "gzip"
    if head.startswith(_ZIP):
        return "zip"
    for magic, format_name in _OTHER_ARCHIVES.items():
        if head.startswith(magic):
            raise CorpusError(
                f"{path}: a {format_name} archive; unpack it first (read here: plain text, gzip, zip)"
            )
    if head.removeprefix(b"\xef\xbb\xbf").lstrip()[:14].lower().startswith((b"<!doctype html", b"<html")):
        raise CorpusError(f"{path}: an HTML page, not a corpus; the download probably met an error page")
    if path.suffix == ".zip":
        raise CorpusError(f"{path}: named .zip, but it does not start as a zip does")
    if path.suffix == ".gz":
        log.warning("%s: named .gz, but not compressed; read as plain text", path)
    return "plain"


def streams_in(path: Path) -> list[Stream]:
    """The corpus files at a path: itself, or the members of a zip but for notices and hidden files."""
    if kind_of(path) != "zip":
        return [Stream(path)]
    try:
        with zipfile.ZipFile(path) as archive:
            names = [info.filename for info in archive.infolist() if not info.is_dir()]
    except zipfile.BadZipFile as error:
        raise CorpusError(f"{path}: the zip is damaged ({error}). Fetch it again.") from error
    members = [Stream(path, name) for name in names if not _is_notice(name)]
    if not members:
        raise CorpusError(f"{path}: the zip holds no corpus file (it holds: {', '.join(names) or 'nothing'})")
    return members


def _is_notice(member: str) -> bool:
    name = PurePosixPath(member).name.lower()
    folders = PurePosixPath(member).parts[:-1]
    return (
        name.startswith(("_", ".", "readme", "license", "licence"))
        or "__MACOSX" in folders
        or name.endswith((".xml", ".ids", ".scores", ".md"))
    )
