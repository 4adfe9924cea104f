"""Office documents: XML in a zip."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable, Mapping

from service.text.documents.document import unreadable
from service.text.documents.inlines import Element, parse_xml, write_xml

MAX_BYTES = 100 << 20  # unpacked, all together
MAX_FILES = 10_000


class Archive:
    """The files of a zip, and those of them that are XML to be translated."""

    def __init__(self, content: bytes, kind: str, wanted: Callable[[str], bool]) -> None:
        """Raises InvalidValue for what is no zip, is encrypted, too large unpacked, or lacks all that is wanted."""
        try:
            with zipfile.ZipFile(io.BytesIO(content)) as packed:
                entries = packed.infolist()
                if len(entries) > MAX_FILES or sum(entry.file_size for entry in entries) > MAX_BYTES:
                    raise unreadable(kind, f"it holds more than {MAX_FILES} files or {MAX_BYTES >> 20} MiB")
                if any(entry.flag_bits & 1 for entry in entries):
                    raise unreadable(kind, "it is encrypted")
                self._files = [(entry, packed.read(entry)) for entry in entries]
        except (zipfile.BadZipFile, NotImplementedError, EOFError, OSError) as error:
            raise unreadable(kind, str(error)) from None
        self.roots: Mapping[str, Element] = {
            entry.filename: parse_xml(data, kind) for entry, data in self._files if wanted(entry.filename)
        }
        if not self.roots:
            raise unreadable(kind, "it has no text part")

    def write(self) -> bytes:
        """In the same order and packed as it was: the first file of an ODT has to be its type, unpacked."""
        out = io.BytesIO()
        with zipfile.ZipFile(out, "w") as packed:
            for entry, data in self._files:
                root = self.roots.get(entry.filename)
                packed.writestr(entry, data if root is None else write_xml(root))
        return out.getvalue()
