"""Tokens of markup into what stays as it is and blocks of text, each block as long as a sentence may reach."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import unescape

from service.text.blocks import OBJECT, Block, Kept, Parts, Span
from service.text.markup.elements import SILENT, SPLITTING, UNTOUCHED, is_marked_untouched
from service.text.markup.tokens import Kind, Token, read_html, read_xml
from service.text.reading import Reading
from tokenizer.segments import has_letter

_OPEN = -1  # the end of a span that is closed later, perhaps in another block
_ENTITY = re.compile(r"&(?:#\w+|\w+);")


def outline(source: str, reading: Reading) -> Parts:
    """HTML or XML as parts that, joined with the blocks' own sources, are `source`.

    Raises InvalidValue for XML that is not well-formed.
    """
    if reading.markup == "html":
        tokens = read_html(source)
        is_splitting = [_splits_html(token, reading) for token in tokens]
    else:
        tokens = read_xml(source)
        is_splitting = _splits_xml(tokens, reading)
    builder = _Outline(reading)
    place = 0
    while place < len(tokens):
        end = _end_of_untouched(tokens, place, reading)
        if end is None:
            builder.add(tokens[place], is_splitting[place])
            place += 1
        else:
            builder.add_untouched(tokens[place:end], is_splitting[place])
            place = end
    return builder.finish()


class _Outline:
    """Collects tokens into a run until one of them ends it."""

    def __init__(self, reading: Reading) -> None:
        self._is_html = reading.markup == "html"
        self._parts: list[str | Block] = []
        self._run: list[Token | list[Token]] = []

    def add(self, token: Token, is_splitting: bool) -> None:
        if is_splitting:
            self._end_run()
            self._parts.append(token.source)
        else:
            self._run.append(token)

    def add_untouched(self, tokens: list[Token], is_splitting: bool) -> None:
        """An element with all it holds."""
        if is_splitting:
            self._end_run()
            self._parts.append("".join(token.source for token in tokens))
        else:
            self._run.append(tokens)

    def finish(self) -> Parts:
        self._end_run()
        return self._parts

    def _end_run(self) -> None:
        run, self._run = self._run, []
        if any(isinstance(one, Token) and has_letter(one.text) for one in run):
            self._parts.append(_block(run, is_html=self._is_html))
        else:
            self._parts += [one.source if isinstance(one, Token) else _source(one) for one in run]


def _block(run: Sequence[Token | list[Token]], *, is_html: bool) -> Block:
    text = ""
    spans: list[Span] = []
    kept: list[Kept] = []
    opened: list[tuple[int, str]] = []  # place in `spans` and name of each element that is still open
    is_after_opening = False
    for one in run:
        if isinstance(one, list):
            inside = "".join(token.text for token in one) or OBJECT
            kept.append(Kept(len(text), len(text) + len(inside), _source(one)))
            text += inside
        elif one.kind is Kind.TEXT:
            text += one.text
        elif one.kind is Kind.OPEN:
            opened.append((len(spans), one.name))
            spans.append(Span(len(text), _OPEN, one.source, depth=len(opened)))
        elif one.kind is Kind.CLOSE and any(name == one.name for _, name in opened):
            while opened[-1][1] != one.name:  # opened inside and never closed: a point
                place, _ = opened.pop()
                spans[place] = spans[place]._replace(end=spans[place].start)
            place, _ = opened.pop()
            is_word = not (is_html and one.name in SILENT)
            if is_word and is_after_opening and place == len(spans) - 1:  # <x id="7"></x>
                kept.append(Kept(len(text), len(text) + 1, spans.pop().before + one.source))
                text += OBJECT
            else:
                spans[place] = spans[place]._replace(end=len(text), after=one.source)
        elif one.kind is Kind.CLOSE and not opened:  # opened in a block before this one
            inner = [span._replace(depth=span.depth + 1) for span in spans]
            spans = [Span(0, len(text), "", one.source, depth=1), *inner]
        elif one.kind is Kind.EMPTY and not (is_html and one.name in SILENT):
            kept.append(Kept(len(text), len(text) + 1, one.source))
            text += OBJECT
        else:
            spans.append(Span(len(text), len(text), one.source, depth=len(opened) + 1))
        is_after_opening = isinstance(one, Token) and one.kind is Kind.OPEN
    closed = [span._replace(end=len(text)) if span.end == _OPEN else span for span in spans]
    return Block(text, tuple(closed), tuple(kept), _spelling(run), is_wrapped=is_html)


def _spelling(run: Sequence[Token | list[Token]]) -> dict[int, str]:
    """& < > as entities always; other characters as entities where the source has them so, and only so."""
    written = "".join(one.source for one in run if isinstance(one, Token) and one.kind is Kind.TEXT)
    literal = _ENTITY.sub("", written)
    spelling = {ord("&"): "&amp;", ord("<"): "&lt;", ord(">"): "&gt;"}
    for entity in _ENTITY.findall(written):
        character = unescape(entity)
        if len(character) == 1 and not character.isalnum() and character not in literal:
            spelling.setdefault(ord(character), entity)
    return spelling


def _end_of_untouched(tokens: Sequence[Token], place: int, reading: Reading) -> int | None:
    """Behind the element that begins here, if it is to stay as it is; else None."""
    token = tokens[place]
    if token.kind not in (Kind.OPEN, Kind.EMPTY):
        return None
    is_named = token.name in reading.ignore_tags or (reading.markup == "html" and token.name in UNTOUCHED)
    if not is_named and not is_marked_untouched(dict(token.attributes)):
        return None
    depth = 0
    for end in range(place, len(tokens)):
        if tokens[end].name == token.name:
            depth += {Kind.OPEN: 1, Kind.CLOSE: -1}.get(tokens[end].kind, 0)
        if depth <= 0:
            return end + 1
    return len(tokens)  # it is never closed


def _splits_html(token: Token, reading: Reading) -> bool:
    if token.kind is Kind.TEXT:
        return False
    if token.kind is Kind.VERBATIM:
        return not token.source.startswith("<")  # what stands in <script>; a comment may stand in a sentence
    if token.name in reading.splitting_tags:
        return True
    return token.name in SPLITTING and token.name not in reading.non_splitting_tags


def _splits_xml(tokens: Sequence[Token], reading: Reading) -> list[bool]:
    """Nothing says what an element of XML is. One that holds no words of its own, only elements, is a frame."""
    mothers: list[int] = []  # for each token the place of the element it is in; -1: none
    has_words: set[int] = set()
    open_elements: list[int] = []
    for place, token in enumerate(tokens):
        if token.kind is Kind.CLOSE:
            mothers.append(mothers[open_elements.pop()])
            continue
        mothers.append(open_elements[-1] if open_elements else -1)
        if token.kind is Kind.OPEN:
            open_elements.append(place)
        elif token.kind is Kind.TEXT and not token.text.isspace():
            has_words.add(mothers[-1])
    return [
        token.kind in (Kind.OPEN, Kind.CLOSE, Kind.EMPTY)
        and (
            token.name in reading.splitting_tags
            or (
                reading.finds_outline
                and mother not in has_words
                and token.name not in reading.non_splitting_tags
            )
        )
        for token, mother in zip(tokens, mothers, strict=True)
    ]


def _source(tokens: Sequence[Token]) -> str:
    return "".join(token.source for token in tokens)
