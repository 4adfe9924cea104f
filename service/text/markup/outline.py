"""Tokens of markup into what stays as it is and blocks of text, each block as long as a sentence may reach."""

from __future__ import annotations

from collections.abc import Sequence

from service.text.blocks import Block, Parts
from service.text.markup.elements import SPLITTING, UNTOUCHED, is_marked_untouched
from service.text.markup.run import block_of, source_of
from service.text.markup.tokens import Kind, Token, read_html, read_xml
from service.text.reading import Reading
from tokenizer.segments import has_letter


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
            self._parts.append(source_of(tokens))
        else:
            self._run.append(tokens)

    def finish(self) -> Parts:
        self._end_run()
        return self._parts

    def _end_run(self) -> None:
        run, self._run = self._run, []
        if any(isinstance(one, Token) and has_letter(one.text) for one in run):
            self._parts.append(block_of(run, is_html=self._is_html))
        else:
            self._parts += [one.source if isinstance(one, Token) else source_of(one) for one in run]


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
