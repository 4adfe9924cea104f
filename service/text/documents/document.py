"""A file that was read: its units of text, and how it is written with their translations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from service.errors import InvalidValue
from service.text.blocks import Parts, blocks_of

_BYTE_ORDER_MARKS = ((b"\xef\xbb\xbf", "utf-8-sig"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"))


@dataclass(frozen=True)
class Document:
    """Units are translated each for itself; `write` takes their translations, in order, and the target language."""

    media_type: str
    units: Sequence[Parts]
    write: Callable[[Sequence[str], str], bytes] = field(repr=False)

    @property
    def text(self) -> str:
        """All that is to be translated: for counting characters, and for telling the language."""
        return "\n".join(block.text for parts in self.units for block in blocks_of(parts))


def unreadable(kind: str, why: str) -> InvalidValue:
    """The file is not what its name says. `why` quotes nothing of it."""
    return InvalidValue(f"file: this is no {kind} that can be read: {why}.", field="file")


@dataclass(frozen=True)
class Encoded:
    """Text of a file, and how it was encoded."""

    text: str
    encoding: str

    def encode(self, text: str) -> bytes:
        return text.encode(self.encoding)


def decode(content: bytes, kind: str) -> Encoded:
    """UTF-8, or what a byte order mark says; raises InvalidValue for anything else, and for NUL characters."""
    encoding = next((name for mark, name in _BYTE_ORDER_MARKS if content.startswith(mark)), "utf-8")
    try:
        text = content.decode(encoding)
    except UnicodeDecodeError as error:
        raise unreadable(kind, f"byte {error.start} is not {encoding}; save it as UTF-8") from None
    if "\0" in text:
        raise unreadable(kind, "it holds NUL characters, as text never does")
    return Encoded(text, encoding)
