"""Markdown: paragraphs, headings, list items, quotes and table cells; code and HTML stay as they are."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from markdown_it import MarkdownIt
from markdown_it.token import Token

from service.text.blocks import OBJECT, Block, Kept, Parts, Span
from service.text.documents.document import Document, decode
from tokenizer.segments import has_letter

_FRONT_MATTER = re.compile(r"---[ \t]*\r?\n.*?\n(?:---|\.\.\.)[ \t]*(?:\r?\n|$)", re.DOTALL)
_HARD_BREAK = re.compile(r"((?: {2,}|\\)\n)")
_INLINE = re.compile(
    r"""
      (?P<code>(?P<ticks>`+)(?!`).+?(?<!`)(?P=ticks)(?!`) | !\[[^\]]*\](?:\([^)]*\)|\[[^\]]*\])
             | <[^<>\s][^<>]*> | \\[^\w\s])
    | (?P<link>\[)(?=[^\[\]]+\](?:\([^()\s]*(?:\s+"[^"]*")?\)|\[[^\]]*\]))
    | (?P<end>\](?:\([^()\s]*(?:\s+"[^"]*")?\)|\[[^\]]*\]))
    | (?P<mark>\*\*|__|~~|\*|(?<!\w)_|_(?!\w))
    """,
    re.VERBOSE | re.DOTALL,
)


class Place(NamedTuple):
    """Where an inline text stands: its first line, the column there, and how each of its lines is written."""

    line: int
    column: int
    written: list[str]


def read_markdown(content: bytes) -> Document:
    """CommonMark with tables; front matter stays."""
    source = decode(content, "Markdown")
    front = _FRONT_MATTER.match(source.text.removeprefix("\ufeff"))
    head = source.text[: front.end()] if front else ""
    lines = source.text[len(head) :].splitlines(keepends=True)
    places = [place for place in _places(lines) if has_letter("".join(place.written))]

    def write(translations: Sequence[str], _: str) -> bytes:
        translated = list(lines)
        # From the end, so that columns before it still hold.
        for place, text in reversed(list(zip(places, translations, strict=True))):
            _replace(translated, place, text)
        return source.encode(head + "".join(translated))

    return Document("text/markdown", [inline_parts("\n".join(place.written)) for place in places], write)


def inline_parts(text: str) -> Parts:
    """A paragraph as blocks between hard line breaks."""
    return [
        part if _HARD_BREAK.fullmatch(part) or not has_letter(part) else inline_block(part)
        for part in _HARD_BREAK.split(text)
    ]


def inline_block(text: str) -> Block:
    """Emphasis and links as spans; code, images, HTML and escapes as they are."""
    plain = ""
    at = 0
    spans: list[Span] = []
    kept: list[Kept] = []
    opened: list[tuple[int, str]] = []
    for match in _INLINE.finditer(text):
        plain += text[at : match.start()]
        at = match.end()
        if match["code"]:
            kept.append(Kept(len(plain), len(plain) + 1, match[0]))
            plain += OBJECT
        elif match["link"]:
            opened.append((len(spans), "["))
            spans.append(Span(len(plain), -1, "[", "", len(opened)))
        elif _closes(match, text, opened):
            place = opened.pop()[0]
            spans[place] = spans[place]._replace(end=len(plain), after=match[0])
        elif match["mark"] and text[at : at + 1].strip():
            opened.append((len(spans), match[0]))
            spans.append(Span(len(plain), -1, match[0], "", len(opened)))
        else:
            plain += match[0]
    plain += text[at:]
    if opened:  # a star that is only a star: nothing here is markup for sure
        return Block(text, is_wrapped=True)
    return Block(plain, tuple(spans), tuple(kept), is_wrapped=True)


def _closes(match: re.Match[str], text: str, opened: Sequence[tuple[int, str]]) -> bool:
    if not opened:
        return False
    if match["end"]:
        return opened[-1][1] == "["
    return opened[-1][1] == match[0] and not text[match.start() - 1].isspace()


def _places(lines: Sequence[str]) -> Iterator[Place]:
    columns = [0] * len(lines)  # up to where each line has been looked through
    for token in _inline_tokens("".join(lines)):
        assert token.map is not None
        written = token.content.split("\n")
        first = token.map[0]
        found: list[str] = []
        for offset, content in enumerate(written):
            line = first + offset
            shown = content if lines[line].find(content, columns[line]) >= 0 else content.replace("|", "\\|")
            column = lines[line].find(shown, columns[line])
            if column < 0:
                break
            columns[line] = column + len(shown)
            found.append(shown)
        if len(found) == len(written):
            yield Place(first, columns[first] - len(found[0]), found)


def _inline_tokens(text: str) -> Iterator[Token]:
    parser = MarkdownIt("commonmark").enable("table")
    return (token for token in parser.parse(text) if token.type == "inline" and token.map)


def _replace(lines: list[str], place: Place, text: str) -> None:
    """The whole paragraph in its first line; its other lines are gone."""
    first = lines[place.line]
    last = place.line + len(place.written) - 1
    end = (
        lines[last][lines[last].find(place.written[-1]) + len(place.written[-1]) :]
        if last > place.line
        else ""
    )
    if last == place.line:
        end = first[place.column + len(place.written[0]) :]
    text = _HARD_BREAK.sub(r"\1\0", text)
    text = " ".join(part.strip("\n") for part in text.replace("\n\0", "\0").split("\n")).replace("\0", "\n")
    lines[place.line] = first[: place.column] + text + end
    for line in range(place.line + 1, last + 1):
        lines[line] = ""
