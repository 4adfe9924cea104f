"""The terms of a glossary in a text: whole words only, in the case that they have or may have there."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence

from service.text.blocks import Kept
from tokenizer.segments import LANGUAGES_WITHOUT_BLANKS

_WORD = re.compile(r"\w+|[^\w\s]")


class Terms:
    """Finds terms by their first word, however many there are."""

    def __init__(self, terms: Mapping[str, str], language: str) -> None:
        self._has_blanks = language not in LANGUAGES_WITHOUT_BLANKS
        self._by_beginning: dict[str, list[tuple[str, str]]] = defaultdict(list)
        for term, translation in terms.items():
            source = term.strip()
            if source and translation.strip():
                self._by_beginning[self._beginning(source, 0)].append((source, translation.strip()))
        for found in self._by_beginning.values():
            found.sort(key=lambda one: -len(one[0]))  # the longest term that fits is meant

    def __bool__(self) -> bool:
        return bool(self._by_beginning)

    def find(self, text: str, taken: Sequence[Kept]) -> tuple[Kept, ...]:
        """The terms in `text`, in order and apart, none in what is `taken`; `source` is what they become.

        "train" is not in "trains", nor "US" in "us". At the beginning a term may have a capital, and anywhere it may
        be in capitals; its translation then is too.
        """
        found: list[Kept] = []
        at = 0
        for place in self._places(text):
            if place < at:
                continue
            for term, translation in self._by_beginning.get(self._beginning(text, place), ()):
                end = place + len(term)
                becomes = _as_written(text[place:end], term, translation, is_first=place == 0)
                is_whole = not self._has_blanks or not (
                    text[end - 1 : end].isalnum() and text[end : end + 1].isalnum()
                )
                if becomes and is_whole and not any(place < one.end and one.start < end for one in taken):
                    found.append(Kept(place, end, becomes))
                    at = end
                    break
        return tuple(found)

    def _places(self, text: str) -> Sequence[int]:
        if self._has_blanks:
            return [match.start() for match in _WORD.finditer(text)]
        return range(len(text))

    def _beginning(self, text: str, place: int) -> str:
        if not self._has_blanks:
            return text[place].casefold()
        match = _WORD.match(text, place)
        return match[0].casefold() if match else ""


def _as_written(written: str, term: str, translation: str, *, is_first: bool) -> str | None:
    """What the term becomes where it is written so; None if that is another word."""
    if written == term:
        return translation
    if is_first and written == term[0].upper() + term[1:]:
        return translation
    if written == term.upper() and sum(map(str.isalpha, term)) > 1:
        return translation.upper()
    return None
