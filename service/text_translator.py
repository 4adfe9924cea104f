"""Texts in, translated texts out: cut, batch, put back, score."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from model.search.options import DecodingOptions
from model.translator import Hypothesis, Sentence, Translator
from service.batcher import Batcher
from service.languages import Direction
from service.text import segments


@dataclass(frozen=True)
class Candidate:
    """A whole text in another language. `score`: sum of its sentences' scores; 0 where none was translated."""

    text: str
    score: float


@dataclass(frozen=True)
class TranslatedText:
    """The best candidate first, then the other distinct ones; `truncated`: the best was cut by a length limit."""

    candidates: tuple[Candidate, ...]
    truncated: bool

    @property
    def best(self) -> Candidate:
        return self.candidates[0]

    @property
    def alternatives(self) -> tuple[Candidate, ...]:
        return self.candidates[1:]


@dataclass(frozen=True)
class _Layout:
    """A text after cutting: its segments, and those of them that are sentences, ready for the model."""

    segments: list[segments.Segment]
    sentences: list[Sentence]


class TextTranslator:
    """What every dialect calls: it knows layout and sentences, and nothing of HTTP."""

    def __init__(self, batcher: Batcher) -> None:
        self._batcher = batcher
        # Cutting and encoding a long text takes a while, so it leaves the event loop.
        self._cutter = ThreadPoolExecutor(max_workers=1, thread_name_prefix="cutter")

    def close(self) -> None:
        """End the thread that cuts texts."""
        self._cutter.shutdown(wait=False, cancel_futures=True)

    async def translate(
        self, texts: Sequence[str], direction: Direction, options: DecodingOptions
    ) -> list[TranslatedText]:
        """One translated text for each text. Equal languages, and texts without a letter, come back unchanged.

        Raises what Batcher.translate raises.
        """
        translator = self._batcher.translator
        source, target = direction
        if source == target:
            return [unchanged(text) for text in texts]
        self._batcher.refuse_when_full()
        # One text at a time: those of other requests come in between.
        layouts = [await self._lay_out(translator, text, direction) for text in texts]
        sentences = [sentence for layout in layouts for sentence in layout.sentences]
        hypotheses = iter(await self._batcher.translate(sentences, options))
        return [
            _assemble(layout, [next(hypotheses) for _ in layout.sentences], direction, options.n_best)
            for layout in layouts
        ]

    async def _lay_out(self, translator: Translator, text: str, direction: Direction) -> _Layout:
        if not segments.has_letter(text):
            return _Layout([segments.Segment(text, False)], [])
        return await asyncio.get_running_loop().run_in_executor(
            self._cutter, _lay_out, translator, text, direction
        )


def unchanged(text: str) -> TranslatedText:
    """A text that needed no translation."""
    return TranslatedText((Candidate(text, 0.0),), truncated=False)


def _lay_out(translator: Translator, text: str, direction: Direction) -> _Layout:
    source, target = direction
    cut = segments.cut(text, source, translator.fits)
    sentences = [translator.prepare(segment.text, source, target) for segment in cut if segment.is_sentence]
    return _Layout(cut, sentences)


def _assemble(
    layout: _Layout, hypotheses: Sequence[Sequence[Hypothesis]], direction: Direction, n_best: int
) -> TranslatedText:
    """The k-th candidate joins the k-th best of each sentence, or its last where a sentence has fewer."""
    source, target = direction
    candidates: dict[str, Candidate] = {}
    for k in range(n_best):
        chosen = [ranked[min(k, len(ranked) - 1)] for ranked in hypotheses]
        text = segments.put_back(
            layout.segments,
            iter([hypothesis.text for hypothesis in chosen]),
            source_language=source,
            target_language=target,
        )
        candidates.setdefault(text, Candidate(text, sum(hypothesis.score for hypothesis in chosen)))
    return TranslatedText(
        tuple(sorted(candidates.values(), key=lambda candidate: -candidate.score)),
        truncated=any(ranked[0].truncated for ranked in hypotheses),
    )
