"""How a sentence gets from one language to another: by one model, or by two with a third language between."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import Protocol

from model.alignment import Alignment, composed
from model.search.options import DecodingOptions
from model.sentence import Sentence
from model.translator import Hypothesis, SentenceTooLong, Translator
from service.batcher import Batcher
from service.errors import TranslationFailed
from service.languages import Direction
from tokenizer.segments import tidy

_LONGER = 3  # a sentence in the language between has at most as many thirds more pieces; mostly far fewer


@dataclass(frozen=True)
class DetourSentence:
    """The first sentence of a detour, and what has to come through both."""

    first: Sentence
    phrases: tuple[str, ...]


@dataclass(frozen=True)
class DetourHypothesis(Hypothesis):
    """What became of `middle`, the sentence between."""

    middle: Sentence


AnySentence = Sentence | DetourSentence


class Way(Protocol):
    """What texts are translated by, whatever it takes."""

    @property
    def direction(self) -> Direction: ...

    @property
    def name(self) -> str:
        """Of the model, or of both."""

    @property
    def through(self) -> str | None:
        """The language between, if there is one."""

    def refuse_when_full(self) -> None:
        """Raises QueueFull before any work is put into a request that has no chance."""

    def fits(self, text: str) -> bool: ...

    def prepare(self, text: str, phrases: Sequence[str] = ()) -> AnySentence:
        """One sentence that fits, and the stand-ins in it that have to come through."""

    async def translate(
        self, sentences: Sequence[AnySentence], options: DecodingOptions
    ) -> list[list[Hypothesis]]: ...

    async def align(self, sentence: AnySentence, hypothesis: Hypothesis, text: str) -> Alignment:
        """Which source pieces those of `text` were made from: the hypothesis, with another stop perhaps."""


class DirectWay:
    """One model. Raises why that is unavailable."""

    through = None

    def __init__(self, batcher: Batcher, direction: Direction) -> None:
        self.batcher = batcher
        self.direction = direction
        self._translator = batcher.translator

    def __repr__(self) -> str:
        return f"<{'→'.join(self.direction)} by {self._translator.name}>"

    @property
    def name(self) -> str:
        return self._translator.name

    def refuse_when_full(self) -> None:
        self.batcher.refuse_when_full()

    def fits(self, text: str) -> bool:
        return self._translator.fits(text)

    def prepare(self, text: str, phrases: Sequence[str] = ()) -> Sentence:
        return self._translator.prepare(text, *self.direction, phrases)

    async def translate(
        self, sentences: Sequence[AnySentence], options: DecodingOptions
    ) -> list[list[Hypothesis]]:
        return await self.batcher.translate([_plain(sentence) for sentence in sentences], options)

    async def align(self, sentence: AnySentence, hypothesis: Hypothesis, text: str) -> Alignment:
        return await self.batcher.run(partial(_align, _plain(sentence), text))


class Detour:
    """Two models: the best translation of the first is what the second translates."""

    def __init__(self, first: DirectWay, second: DirectWay) -> None:
        self._first, self._second = first, second
        self.direction: Direction = (first.direction[0], second.direction[1])
        self.through = second.direction[0]

    def __repr__(self) -> str:
        return f"<Detour {self._first!r} {self._second!r}>"

    @property
    def name(self) -> str:
        return f"{self._first.name}, {self._second.name}"

    def refuse_when_full(self) -> None:
        self._first.refuse_when_full()
        self._second.refuse_when_full()

    def fits(self, text: str) -> bool:
        """With room for a sentence between that is longer."""
        return self._first.fits(text + text[: len(text) // _LONGER])

    def prepare(self, text: str, phrases: Sequence[str] = ()) -> DetourSentence:
        return DetourSentence(self._first.prepare(text, phrases), tuple(phrases))

    async def translate(
        self, sentences: Sequence[AnySentence], options: DecodingOptions
    ) -> list[list[Hypothesis]]:
        detours = [sentence for sentence in sentences if isinstance(sentence, DetourSentence)]
        between = await self._first.translate(
            [detour.first for detour in detours], replace(options, n_best=1)
        )
        middles = [
            self._middle(tidy(hypotheses[0].text), detour.phrases)
            for detour, hypotheses in zip(detours, between, strict=True)
        ]
        found = await self._second.translate(middles, options)
        return [
            [_by_detour(hypothesis, first[0], middle) for hypothesis in hypotheses]
            for hypotheses, first, middle in zip(found, between, middles, strict=True)
        ]

    async def align(self, sentence: AnySentence, hypothesis: Hypothesis, text: str) -> Alignment:
        assert isinstance(sentence, DetourSentence)
        assert isinstance(hypothesis, DetourHypothesis)
        first = await self._first.align(sentence.first, hypothesis, hypothesis.middle.text)
        second = await self._second.align(hypothesis.middle, hypothesis, text)
        return composed(first, second)

    def _middle(self, text: str, phrases: Sequence[str]) -> Sentence:
        try:
            return self._second.prepare(text, phrases)
        except SentenceTooLong:
            raise TranslationFailed(
                f"A sentence became too long on the way through {self.through}; shorter sentences may pass."
            ) from None


def _plain(sentence: AnySentence) -> Sentence:
    assert isinstance(sentence, Sentence)
    return sentence


def _by_detour(hypothesis: Hypothesis, first: Hypothesis, middle: Sentence) -> DetourHypothesis:
    """Scored by both models, and truncated if either was."""
    known = {field.name: getattr(hypothesis, field.name) for field in fields(Hypothesis)}
    known |= {
        "score": hypothesis.score + first.score,
        "truncated": hypothesis.truncated or first.truncated,
    }
    return DetourHypothesis(**known, middle=middle)


def _align(sentence: Sentence, text: str, translator: Translator) -> Alignment:
    return translator.align(sentence, text)
