"""Texts through the whole way of the service, with a translator that is sure of every character.

Its alignment is exact, so that whatever else changes is the service's doing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from model.alignment import Alignment
from model.search.options import DecodingOptions
from model.sentence import Sentence
from model.translator import Hypothesis
from service.languages import Direction
from service.text.blocks import Parts
from service.text.reader import lay, read
from service.text.reading import PLAIN, Reading
from service.text.trial import Trial

Say = Callable[[str], "str | tuple[str, Sequence[int]]"]
"""What is said for a source; with it, from which character of the source each of its characters came."""

_WORD = re.compile(r"\w+|[^\w\s]")


class Echo:
    """One piece a character, in an alignment a word. Says what `say` says.

    Without the places, character i came from character i.
    """

    name = "echo"
    through = None

    def __init__(self, say: Say = str, *, longest: int = 400, direction: Direction = ("en", "de")) -> None:
        self.say = say
        self.direction = direction
        self.longest = longest
        self.heard: list[str] = []
        self._said: dict[str, str | tuple[str, Sequence[int]]] = {}

    def fits(self, text: str) -> bool:
        return len(text) <= self.longest

    def prepare(self, text: str, phrases: Sequence[str] = ()) -> Sentence:
        assert self.fits(text)
        return Sentence(
            text, self.direction[1], tuple(map(ord, text)), tuple(tuple(map(ord, p)) for p in phrases)
        )

    def answers(self, sentences: Sequence[Sentence], options: DecodingOptions) -> list[list[Hypothesis]]:
        return [self._hypotheses(sentence, options) for sentence in sentences]

    def alignment(self, sentence: Sentence, target: str) -> Alignment:
        said = self._said[sentence.text]
        places = said[1] if isinstance(said, tuple) else range(len(target))
        source_spans = [match.span() for match in _WORD.finditer(sentence.text)]
        target_spans = [match.span() for match in _WORD.finditer(target)]
        rows = [
            [float(start < len(places) and first <= places[start] < last) for first, last in source_spans]
            for start, _ in target_spans
        ]
        return Alignment(rows, source_spans, target_spans)

    def _hypotheses(self, sentence: Sentence, options: DecodingOptions) -> list[Hypothesis]:
        self.heard.append(sentence.text)
        said = self._said[sentence.text] = self.say(sentence.text)
        text = said[0] if isinstance(said, tuple) else said
        return [Hypothesis(text, -1.0, (), (), truncated=False)]


def translated(
    text: str, reading: Reading = PLAIN, say: Say = str, direction: Direction = ("en", "de")
) -> str:
    """As the service translates it, but for threads."""
    return translated_parts(read(text, reading), reading, Echo(say, direction=direction))


def translated_parts(parts: Parts, reading: Reading, echo: Echo) -> str:
    laid = lay(parts, reading, echo)  # type: ignore[arg-type]
    options = DecodingOptions()
    for trial in laid.trials:
        while trial.sentence is not None:
            assert isinstance(trial.sentence, Sentence)
            trial.take(echo.answers([trial.sentence], options)[0])
            if one := trial.unplaced:
                assert isinstance(one.sentence, Sentence)
                trial.place(echo.alignment(one.sentence, one.text))
    return "".join(piece if isinstance(piece, str) else _written(piece, echo) for piece in laid.pieces)


def _written(trial: Trial, echo: Echo) -> str:
    [best] = trial.best(1)
    assert isinstance(best.sentence, Sentence)
    return best.written(echo.alignment(best.sentence, best.text))
