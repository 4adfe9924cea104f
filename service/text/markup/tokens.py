"""HTML and XML as tokens. Their source texts, joined, are the source: nothing is mended, moved or lost."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum
from html import unescape
from html.entities import html5
from html.parser import HTMLParser
from xml.parsers import expat

from service.errors import InvalidValue

Attributes = dict[str, str]


class Kind(Enum):
    TEXT = "text"
    OPEN = "open"
    CLOSE = "close"
    EMPTY = "empty"  # a tag that never has content: <br>, <img>, <x/>
    VERBATIM = "verbatim"  # comments, declarations, CDATA of XML, text of <script> and <style>


@dataclass(frozen=True)
class Token:
    """`source` is as it was written; `text`, of TEXT alone, is what it says: without entities."""

    kind: Kind
    source: str
    name: str = ""
    text: str = ""
    attributes: tuple[tuple[str, str], ...] = ()


VOID = frozenset(
    {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}
)
RAW_TEXT = frozenset({"script", "style"})


def read_html(source: str) -> list[Token]:
    """HTML, whatever its faults: what is no markup is text. Never raises."""
    reader = _HTMLReader(source)
    return reader.tokens()


def read_xml(source: str) -> list[Token]:
    """A document or a fragment of XML. Raises InvalidValue with line and column where it is not well-formed.

    No entity is ever expanded from a declaration: only &amp; and its four sisters, numbers, and HTML's names.
    """
    return _XMLReader(source).tokens()


_COMMENT = re.compile(r"<!--(?:-?>|.*?--!?>)", re.DOTALL)
_DECLARATION = re.compile(r"<[^>]*>")


class _HTMLReader(HTMLParser):
    """Notes where each token begins; it reaches to the beginning of the next."""

    def __init__(self, source: str) -> None:
        super().__init__(convert_charrefs=True)
        self._source = source
        self._line_starts = [0, *(match.end() for match in re.finditer("\n", source))]
        self._found: list[tuple[int, Kind, str, tuple[tuple[str, str], ...]]] = []
        self._raw_text = ""
        self.feed(source)
        self.close()

    def tokens(self) -> list[Token]:
        found = (
            self._found if self._found and self._found[0][0] == 0 else [(0, Kind.TEXT, "", ()), *self._found]
        )
        ends = [start for start, *_ in found[1:]] + [len(self._source)]
        return [
            Token(kind, piece, name, unescape(piece) if kind is Kind.TEXT else "", attributes)
            for (start, kind, name, attributes), end in zip(found, ends, strict=True)
            if (piece := self._source[start:end])
        ]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._note(Kind.EMPTY if tag in VOID else Kind.OPEN, tag, attrs)
        self._raw_text = tag if tag in RAW_TEXT else ""

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._note(Kind.EMPTY, tag, attrs)

    def handle_endtag(self, tag: str) -> None:
        self._note(Kind.CLOSE, tag)
        self._raw_text = ""

    def handle_data(self, data: str) -> None:
        self._note(Kind.VERBATIM if self._raw_text else Kind.TEXT)

    def parse_html_declaration(self, i: int) -> int:
        """As browsers read it, whatever this Python does: a comment ends where they end it, or never."""
        kind = _COMMENT if self.rawdata.startswith("<!--", i) else _DECLARATION
        match = kind.match(self.rawdata, i)
        self._note(Kind.VERBATIM)
        return match.end() if match else len(self.rawdata)

    def parse_comment(self, i: int, report: int = 1) -> int:
        return self.parse_html_declaration(i)

    def parse_pi(self, i: int) -> int:
        return self.parse_html_declaration(i)

    def parse_bogus_comment(self, i: int, report: int = 1) -> int:
        """Of `</` before anything but a letter."""
        return self.parse_html_declaration(i)

    def _note(
        self, kind: Kind, name: str = "", attributes: list[tuple[str, str | None]] | None = None
    ) -> None:
        line, column = self.getpos()
        start = self._line_starts[line - 1] + column
        known = tuple((key, value or "") for key, value in attributes or ())
        if self._found and self._found[-1][0] >= start:
            return  # the same place twice: one token
        self._found.append((start, kind, name, known))


_ROOT = b"<root>"  # a fragment may have several elements side by side
# Before the root element: what it holds is not translated. A DOCTYPE with declarations of its own is not taken.
_PROLOGUE = re.compile(r"(?:\s|<\?.*?\?>|<!--.*?-->|<!DOCTYPE[^>\[]*>)*", re.DOTALL)
_NAMED = re.compile(r"&([A-Za-z][A-Za-z0-9]*;)")
_XML_NAMES = frozenset({"amp;", "lt;", "gt;", "quot;", "apos;"})


class _XMLReader:
    """Expat says at which byte each token begins; it reaches to the beginning of the next."""

    def __init__(self, source: str) -> None:
        prologue = _PROLOGUE.match(source)
        self._prologue = prologue[0] if prologue else ""
        self._body = source[len(self._prologue) :].encode("utf-8", errors="surrogatepass")
        self._found: list[tuple[int, Kind, str, tuple[tuple[str, str], ...]]] = []
        self._is_cdata = False
        self._parser = expat.ParserCreate("utf-8")
        self._parser.StartElementHandler = self._open
        self._parser.EndElementHandler = self._close
        self._parser.CharacterDataHandler = self._characters
        self._parser.CommentHandler = lambda _: self._note(Kind.VERBATIM)
        self._parser.ProcessingInstructionHandler = lambda *_: self._note(Kind.VERBATIM)
        self._parser.StartCdataSectionHandler = self._begin_cdata
        self._parser.EndCdataSectionHandler = self._end_cdata
        try:
            # Names that only HTML has are read as letters of the same length; what a token says is found out later.
            readable = _NAMED.sub(_as_letters, self._body.decode("utf-8", errors="surrogatepass"))
            self._parser.Parse(_ROOT + readable.encode("utf-8", errors="surrogatepass") + b"</root>", True)
        except expat.ExpatError as error:
            line = self._prologue.count("\n") + error.lineno
            column = error.offset - (len(_ROOT) if error.lineno == 1 else 0)
            raise InvalidValue(
                f"not well-formed XML: {expat.ErrorString(error.code)}, line {line}, column {column}",
                field="text",
            ) from None

    def tokens(self) -> list[Token]:
        found = [one for one in self._found if 0 <= one[0] < len(self._body)]
        ends = [start for start, *_ in found[1:]] + [len(self._body)] * bool(found)
        tokens = [Token(Kind.VERBATIM, self._prologue)] if self._prologue else []
        for (start, kind, name, attributes), end in zip(found, ends, strict=True):
            piece = self._body[start:end].decode("utf-8")
            tokens.append(Token(kind, piece, name, unescape(piece) if kind is Kind.TEXT else "", attributes))
        return tokens

    def _open(self, name: str, attributes: Attributes) -> None:
        self._note(Kind.OPEN, name, tuple(attributes.items()))

    def _close(self, name: str) -> None:
        start, kind, opened, attributes = self._found[-1]
        if kind is Kind.OPEN and self._body[max(start, 0) : self._place()].endswith(b"/>"):
            self._found[-1] = (start, Kind.EMPTY, opened, attributes)
        elif self._place() < len(self._body):  # else it is the root that was put around it
            self._note(Kind.CLOSE, name)

    def _characters(self, _: str) -> None:
        if not self._is_cdata and self._found[-1][1] is not Kind.TEXT:
            self._note(Kind.TEXT)

    def _begin_cdata(self) -> None:
        self._note(Kind.VERBATIM)
        self._is_cdata = True

    def _end_cdata(self) -> None:
        self._is_cdata = False

    def _note(self, kind: Kind, name: str = "", attributes: tuple[tuple[str, str], ...] = ()) -> None:
        self._found.append((self._place(), kind, name, attributes))

    def _place(self) -> int:
        return self._parser.CurrentByteIndex - len(_ROOT)


def _as_letters(entity: re.Match[str]) -> str:
    return entity[0] if entity[1] in _XML_NAMES or entity[1] not in html5 else "x" * len(entity[0])
