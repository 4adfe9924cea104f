"""A run of tokens without a splitting tag, as one block: its text, and what its tags belong to."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import unescape

from service.text.blocks import OBJECT, Block, Kept, Span
from service.text.markup.elements import SILENT
from service.text.markup.tokens import Kind, Token

Run = Sequence[Token | list[Token]]
"""A list inside it is an element that stays as it is, with all it holds."""

_OPEN = -1  # the end of a span that is closed later, perhaps in another block
_BLANKS = " \t\n\r\f"
_ENTITY = re.compile(r"&(?:#\w+|\w+);")


def block_of(run: Run, *, is_html: bool) -> Block:
    """One block; the sources of its parts, joined, are the run's source, but for blanks that nobody sees."""
    builder = _Builder(is_html=is_html)
    for one in run:
        if isinstance(one, list):
            builder.keep("".join(token.text for token in one), source_of(one))
        else:
            builder.add(one)
    return builder.block(spelling_of(run))


def source_of(tokens: Sequence[Token]) -> str:
    return "".join(token.source for token in tokens)


def spelling_of(run: Run) -> dict[int, str]:
    """& < > as entities always; other characters as entities where the source has them so, and only so."""
    written = "".join(one.source for one in run if isinstance(one, Token) and one.kind is Kind.TEXT)
    literal = _ENTITY.sub("", written)
    spelling = {ord("&"): "&amp;", ord("<"): "&lt;", ord(">"): "&gt;"}
    for entity in _ENTITY.findall(written):
        character = unescape(entity)
        if len(character) == 1 and not character.isalnum() and character not in literal:
            spelling.setdefault(ord(character), entity)
    return spelling


class _Builder:
    def __init__(self, *, is_html: bool) -> None:
        self._is_html = is_html
        self._text = ""
        self._spans: list[Span] = []
        self._kept: list[Kept] = []
        self._opened: list[
            tuple[int, str]
        ] = []  # place in `spans` and name of each element that is still open
        self._last_tag: tuple[int, Kind] | None = (
            None  # if nothing came after it: its span, and which end of it
        )

    def add(self, token: Token) -> None:
        if token.kind is Kind.TEXT:
            self._add_text(token.text)
        elif token.kind is Kind.OPEN:
            self._opened.append((len(self._spans), token.name))
            self._add_tag(Span(len(self._text), _OPEN, token.source, depth=len(self._opened)))
        elif token.kind is Kind.CLOSE and any(name == token.name for _, name in self._opened):
            self._close(token)
        elif token.kind is Kind.CLOSE and not self._opened:  # opened in a block before this one
            inner = [span._replace(depth=span.depth + 1) for span in self._spans]
            self._spans = [Span(0, len(self._text), "", token.source, depth=1), *inner]
            self._last_tag = (0, Kind.CLOSE)
        elif token.kind is Kind.EMPTY and self._is_word(token):
            self.keep("", token.source)
        else:
            self._add_tag(Span(len(self._text), len(self._text), token.source, depth=len(self._opened) + 1))

    def keep(self, text: str, source: str) -> None:
        """What comes out as `source`, and reads as `text`."""
        text = text or OBJECT
        self._kept.append(Kept(len(self._text), len(self._text) + len(text), source))
        self._text += text
        self._last_tag = None

    def block(self, spelling: dict[int, str]) -> Block:
        closed = [span._replace(end=len(self._text)) if span.end == _OPEN else span for span in self._spans]
        return Block(self._text, tuple(closed), tuple(self._kept), spelling, is_wrapped=self._is_html)

    def _add_text(self, text: str) -> None:
        if self._is_html and self._last_tag is not None and self._text[-1:].isspace():
            # Of blanks on both sides of a tag a reader sees one: the others go with the tag.
            rest = text.lstrip(_BLANKS)
            place, kind = self._last_tag
            side = "after" if kind is Kind.CLOSE else "before"
            longer = getattr(self._spans[place], side) + text[: len(text) - len(rest)]
            self._spans[place] = self._spans[place]._replace(**{side: longer})
            text = rest
        self._text += text
        self._last_tag = None if text else self._last_tag

    def _add_tag(self, span: Span) -> None:
        self._last_tag = (len(self._spans), Kind.OPEN)
        self._spans.append(span)

    def _close(self, token: Token) -> None:
        while self._opened[-1][1] != token.name:  # opened inside and never closed: a point
            place, _ = self._opened.pop()
            self._spans[place] = self._spans[place]._replace(end=self._spans[place].start)
            inner = [span._replace(depth=span.depth - 1) for span in self._spans[place + 1 :]]
            self._spans[place + 1 :] = inner
        place, _ = self._opened.pop()
        if (
            self._last_tag == (len(self._spans) - 1, Kind.OPEN)
            and place == len(self._spans) - 1
            and self._is_word(token)
        ):
            self.keep("", self._spans.pop().before + token.source)  # <x id="7"></x>
            return
        self._spans[place] = self._spans[place]._replace(end=len(self._text), after=token.source)
        self._last_tag = (place, Kind.CLOSE)

    def _is_word(self, token: Token) -> bool:
        """Whether an element that holds nothing stands for something that is read."""
        return not (self._is_html and token.name in SILENT)
