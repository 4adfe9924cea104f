"""Corpus folders on disk: written aside, described, and put in their place when they are whole."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from training.corpora.archives import Stream

SOURCE_FILE = "source.json"


class FileRecord(NamedTuple):
    name: str
    address: str  # where the file is to be had, or how it was made


@contextmanager
def unfinished(folder: Path) -> Iterator[Path]:
    """A folder to fill. It takes the place of `folder` when the block ends well; otherwise it stays aside,
    and a later try finds what was there already."""
    place = folder.with_name(f".{folder.name}.unfinished")
    place.mkdir(parents=True, exist_ok=True)
    yield place
    if folder.exists():
        shutil.rmtree(folder)
    place.replace(folder)


def describe(
    folder: Path,
    *,
    name: str,
    source_language: str,
    target_language: str,
    licence: str,
    attribution: str,
    parts: Mapping[str, Sequence[str]],
    texts: Mapping[str, str],
    files: Sequence[FileRecord],
    is_clean: bool = False,
) -> None:
    """Writes source.json: terms, origin, and size and SHA-256 of each file."""
    description = {
        "name": name,
        "source_language": source_language,
        "target_language": target_language,
        "licence": licence,
        "attribution": attribution,
        "parts": parts,
        "texts": texts,
        "is_clean": is_clean,
        "files": [
            {
                "name": file.name,
                "address": file.address,
                "bytes": (folder / file.name).stat().st_size,
                "sha256": sha256_of(folder / file.name),
            }
            for file in files
        ],
    }
    text = json.dumps(description, ensure_ascii=False, indent=2)
    (folder / SOURCE_FILE).write_text(f"{text}\n", encoding="utf-8")


def sha256_of(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def sha256_of_text(stream: Stream) -> str:
    """Of the unpacked bytes: the same text may be packed in many ways."""
    digest = hashlib.sha256()
    with stream.open() as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()
