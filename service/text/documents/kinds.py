"""Which reader a file's name asks for."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import PurePosixPath

from service.errors import InvalidValue, clip
from service.text.documents.catalogue import read_po
from service.text.documents.document import Document
from service.text.documents.markdown import read_markdown
from service.text.documents.odt import read_odt
from service.text.documents.plain import read_csv, read_html_file, read_text
from service.text.documents.subtitles import read_srt
from service.text.documents.word import read_docx
from service.text.documents.xliff import read_xliff

READERS: dict[str, Callable[[bytes], Document]] = {
    ".txt": read_text,
    ".md": read_markdown,
    ".html": read_html_file,
    ".htm": read_html_file,
    ".srt": read_srt,
    ".po": read_po,
    ".pot": read_po,
    ".xliff": read_xliff,
    ".xlf": read_xliff,
    ".docx": read_docx,
    ".odt": read_odt,
    ".csv": read_csv,
}
SUFFIXES = tuple(READERS)


def open_document(name: str, content: bytes) -> Document:
    """Read a file; raises InvalidValue for a kind that is not known, also where the file is not what it says.

    Takes a while for large files: not for the event loop.
    """
    suffix = PurePosixPath(name.replace("\\", "/")).suffix.lower()
    reader = READERS.get(suffix)
    if reader is None:
        raise InvalidValue(
            f"{clip(suffix.lstrip('.') or name)} format is not supported; known are {', '.join(SUFFIXES)}.",
            field="file",
        )
    return reader(content)
