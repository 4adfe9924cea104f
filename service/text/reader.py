"""A text of any markup into parts, and parts into what the model translates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from service.text.blocks import Block, Parts
from service.text.layout import lay_out
from service.text.markup.outline import outline
from service.text.reading import Reading
from service.text.terms import Terms
from service.text.trial import Trial
from service.ways import Way
from tokenizer.segments import LANGUAGES_WITHOUT_BLANKS

Piece = str | Trial


@dataclass(frozen=True)
class Laid:
    """A text in pieces: what stays as it is, and trials of its sentences. The pieces in order are the text."""

    pieces: Sequence[Piece]

    @property
    def trials(self) -> list[Trial]:
        return [piece for piece in self.pieces if isinstance(piece, Trial)]


def read(text: str, reading: Reading) -> Parts:
    """What of a text is to be translated; raises InvalidValue for XML that is not well-formed."""
    return [Block(text)] if reading.markup == "text" else outline(text, reading)


def lay(parts: Parts, reading: Reading, way: Way) -> Laid:
    """Every block cut into sentences, each ready for its first attempt."""
    source, target = way.direction
    terms = Terms(reading.terms, source)
    needs_blank = source in LANGUAGES_WITHOUT_BLANKS and target not in LANGUAGES_WITHOUT_BLANKS
    pieces: list[Piece] = []
    for part in parts:
        if isinstance(part, str):
            pieces.append(part)
            continue
        for piece in lay_out(part, source, reading, terms, way.fits):
            if isinstance(piece, str):
                pieces.append(piece)
                continue
            # Chinese sentences stand side by side without a blank; English ones may not.
            if needs_blank and pieces and isinstance(pieces[-1], Trial):
                pieces.append(" ")
            pieces.append(Trial(piece, way))
    return Laid([piece for piece in pieces if piece != ""])
