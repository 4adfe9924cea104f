"""Files of clients: opened aside, told their language, translated as a whole."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath

from model.search.options import DecodingOptions
from service.callers import charging
from service.errors import OverTextLimit
from service.keys import Account
from service.patience import with_patience
from service.sources import Source
from service.state import ServiceState
from service.text.documents import Document, open_document
from service.text.reading import Reading

MAX_CHARACTERS = 1_000_000  # of text in one file
PATIENCE_SECONDS = 600  # that a file in the background waits for room in the queue
_UNSAFE = re.compile(r"[^\w.()\[\] -]+")
_LONGEST_NAME = 100


@dataclass(frozen=True)
class Opened:
    """A file that was read and whose direction is known."""

    document: Document
    content: bytes
    source: Source
    name: str  # fit for a receiver: no path, no control characters

    @property
    def characters(self) -> int:
        return len(self.document.text)


async def open_upload(state: ServiceState, name: str, content: bytes, source: str, target: str) -> Opened:
    """Read a file and tell its direction. A name without an ending is taken for that of plain text.

    Raises InvalidValue for what cannot be read, OverTextLimit, UnsupportedLanguage or UnavailablePair.
    """
    name = safe_name(name)
    document = await asyncio.to_thread(open_document, name, content)
    characters = len(document.text)
    if characters > MAX_CHARACTERS:
        raise OverTextLimit(
            f"file: request ({characters}) exceeds text limit ({MAX_CHARACTERS}).",
            field="file",
            size=characters,
            limit=MAX_CHARACTERS,
        )
    directions = state.models.directions
    [origin] = await state.sources.of([document.text], source, target, directions)
    return Opened(document, content, origin, name)


async def translate(
    state: ServiceState, account: Account, opened: Opened, terms: Mapping[str, str] | None = None
) -> bytes:
    """The translated file; the very bytes where both languages are the same or nothing is to be translated.

    Raises QuotaExceeded and what TextTranslator.translate_document raises.
    """
    source, target = opened.source.direction
    with charging(state, account, [opened.document.text]):
        if source == target:
            return opened.content
        return await state.text_translator.translate_document(
            opened.document,
            opened.source.direction,
            DecodingOptions(strategy="beam"),
            Reading(terms=dict(terms or {})),
        )


async def translate_patiently(
    state: ServiceState, account: Account, opened: Opened, terms: Mapping[str, str]
) -> bytes:
    """As `translate`, for work that nobody is waiting on the line for: it waits while the queue is full."""
    return await with_patience(lambda: translate(state, account, opened, terms), seconds=PATIENCE_SECONDS)


def safe_name(name: str) -> str:
    """The last part of a client's name for a file, without anything that a file system or a header could misread."""
    last = PurePosixPath(name.replace("\\", "/").replace("\0", "")).name
    stem, dot, suffix = _UNSAFE.sub("_", last).strip(" .").rpartition(".")
    if not dot:
        stem, suffix = suffix, "txt"
    return f"{stem[:_LONGEST_NAME] or 'document'}.{suffix[:10]}"
