"""Texts in, translated texts out, on behalf of every dialect: read aside, translated with everybody else's."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import partial
from typing import Any, ParamSpec, TypeVar

from model.search.options import DecodingOptions
from model.texts import Candidate
from service.languages import Direction
from service.models import Models
from service.text.documents import Document
from service.text.reader import Laid, Piece, lay, read
from service.text.reading import PLAIN, Reading
from service.text.results import ServedText
from service.text.trial import NO_ALIGNMENT, Outcome, Trial
from service.ways import Way
from tokenizer.segments import has_letter

LARGEST_GROUP = 16  # sentences of a stream that are translated together
SHORT = (
    500  # characters that are cut and encoded in less time than it takes to hand them to a thread and back
)
P = ParamSpec("P")
Result = TypeVar("Result")


class TextTranslator:
    """What every dialect calls: it knows texts and their sentences, and nothing of HTTP."""

    def __init__(self, models: Models) -> None:
        self._models = models
        # Cutting and encoding a long text takes a while, so it leaves the event loop.
        self._cutter = ThreadPoolExecutor(max_workers=1, thread_name_prefix="cutter")

    def close(self) -> None:
        """End the thread that cuts texts."""
        self._cutter.shutdown(wait=False, cancel_futures=True)

    async def translate(
        self,
        texts: Sequence[str],
        direction: Direction,
        options: DecodingOptions,
        reading: Reading = PLAIN,
    ) -> list[ServedText]:
        """One translated text for each text, all in one direction; see `translate_each`."""
        return await self.translate_each(texts, [direction] * len(texts), options, reading)

    async def translate_each(
        self,
        texts: Sequence[str],
        directions: Sequence[Direction],
        options: DecodingOptions,
        reading: Reading = PLAIN,
    ) -> list[ServedText]:
        """One translated text for each text and its direction.

        Where both languages are the same, and where there is no letter, the text comes back unchanged. Raises
        InvalidValue for XML that is not well-formed, and what Batcher.translate raises.
        """
        with ExitStack() as stack:
            ways = {
                direction: stack.enter_context(self._way(direction))
                for direction in dict.fromkeys(directions)
            }
            laid = await self._lay(texts, [ways[direction] for direction in directions], reading)
            await self._settle([trial for one in laid if one for trial in one.trials], options)
            return [
                await self._put_together(one, options.n_best) if one else unchanged(text)
                for text, one in zip(texts, laid, strict=True)
            ]

    async def stream(
        self, text: str, direction: Direction, options: DecodingOptions, reading: Reading = PLAIN
    ) -> AsyncIterator[str | ServedText]:
        """The best translation in parts, each as soon as it is there, and at last the whole.

        The parts joined are the text of the whole. Raises as `translate_each` does, at any time.
        """
        with self._way(direction) as way:
            [laid] = await self._lay([text], [way], reading)
            if laid is None:
                yield unchanged(text)
                return
            for group in growing_groups(laid.pieces):
                await self._settle([piece for piece in group if isinstance(piece, Trial)], options)
                parts = [
                    piece if isinstance(piece, str) else await _written(piece, piece.best(1)[0])
                    for piece in group
                ]
                yield "".join(parts)
            yield await self._put_together(laid, options.n_best)

    async def translate_document(
        self, document: Document, direction: Direction, options: DecodingOptions, reading: Reading = PLAIN
    ) -> bytes:
        """The file with all its units translated; of `reading`, the terms count. Raises as `translate_each` does.

        Where both languages are the same there is nothing to be done: give the file back.
        """
        with self._models.way(direction) as way:
            way.refuse_when_full()
            laid = [await self._aside(lay, parts, reading, way) for parts in document.units]
            await self._settle([trial for one in laid for trial in one.trials], options)
            translations = [(await self._put_together(one, 1)).text for one in laid]
        return await self._aside(document.write, translations, direction[1])

    @contextmanager
    def _way(self, direction: Direction) -> Iterator[Way | None]:
        """None where both languages are the same."""
        source, target = direction
        if source == target:
            self._models.check_ready()
            yield None
            return
        with self._models.way(direction) as way:
            way.refuse_when_full()
            yield way

    async def _lay(
        self, texts: Sequence[str], ways: Sequence[Way | None], reading: Reading
    ) -> list[Laid | None]:
        """Each text cut and encoded; None where there is nothing to translate."""
        if sum(map(len, texts)) <= SHORT and not reading.terms:
            return [_laid(text, reading, way) for text, way in zip(texts, ways, strict=True)]
        # One text at a time: those of other requests come in between.
        return [await self._aside(_laid, text, reading, way) for text, way in zip(texts, ways, strict=True)]

    async def _aside(self, work: Callable[P, Result], *arguments: P.args, **names: P.kwargs) -> Result:
        """What `work` gives, done by the thread that cuts texts."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._cutter, partial(work, *arguments, **names))

    async def _settle(self, trials: Sequence[Trial], options: DecodingOptions) -> None:
        """Try every passage until nothing is wrong with it or no way is left; those of one round together."""
        while waiting := [trial for trial in trials if trial.sentence is not None]:
            alike: dict[tuple[Way, bool], list[Trial]] = defaultdict(list)
            for trial in waiting:
                alike[trial.way, trial.is_delicate].append(trial)
            await _all(
                [
                    self._round(way, together, with_all_hypotheses(options) if is_delicate else options)
                    for (way, is_delicate), together in alike.items()
                ]
            )

    async def _round(self, way: Way, trials: Sequence[Trial], options: DecodingOptions) -> None:
        sentences = [trial.sentence for trial in trials if trial.sentence is not None]
        answers = await way.translate(sentences, options)
        for place, (trial, hypotheses) in enumerate(zip(trials, answers, strict=True)):
            if place % LARGEST_GROUP == LARGEST_GROUP - 1:
                await asyncio.sleep(0)  # other requests come in between
            trial.take(hypotheses)
            if one := trial.unplaced:
                trial.place(await way.align(one.sentence, one.hypothesis, one.text))

    async def _put_together(self, laid: Laid, n_best: int) -> ServedText:
        """The k-th candidate joins the k-th best of each sentence, or the last of one that has fewer."""
        ranked = {id(trial): trial.best(n_best) for trial in laid.trials}
        written = {
            id(trial): await _all([_written(trial, outcome) for outcome in ranked[id(trial)]])
            for trial in laid.trials
        }
        candidates: dict[str, Candidate] = {}
        for k in range(max(map(len, ranked.values()), default=1)):
            parts: list[str] = []
            score = 0.0
            for piece in laid.pieces:
                if isinstance(piece, str):
                    parts.append(piece)
                else:
                    place = min(k, len(ranked[id(piece)]) - 1)
                    parts.append(written[id(piece)][place])
                    score += ranked[id(piece)][place].hypothesis.score
            text = "".join(parts)
            candidates.setdefault(text, Candidate(text, score))
        best = [outcomes[0] for outcomes in ranked.values()]
        return ServedText(
            tuple(sorted(candidates.values(), key=lambda candidate: -candidate.score)),
            sentences=len(best),
            pieces=sum(len(outcome.hypothesis.pieces) for outcome in best),
            truncated=any(outcome.hypothesis.truncated for outcome in best),
            lost=tuple(string for outcome in best for string in outcome.lost),
            through=next((trial.way.through for trial in laid.trials), None),
            model=next((trial.way.name for trial in laid.trials), None),
        )


def unchanged(text: str) -> ServedText:
    """A text that needed no translation."""
    return ServedText((Candidate(text, 0.0),), sentences=0, pieces=0, truncated=False)


def growing_groups(pieces: Sequence[Piece]) -> Iterator[list[Piece]]:
    """The pieces in groups of one sentence, one, two, four … : the first is there soon, the rest in full batches."""
    group: list[Piece] = []
    sizes = iter((1, 1, 2, 4, 8))
    room = next(sizes)
    for piece in pieces:
        if isinstance(piece, Trial) and room == 0:
            yield group
            group, room = [], next(sizes, LARGEST_GROUP)
        group.append(piece)
        room -= isinstance(piece, Trial)
    if group:
        yield group


def with_all_hypotheses(options: DecodingOptions) -> DecodingOptions:
    """A beam has other hypotheses at hand, should the best one not keep what has to be kept."""
    return replace(options, n_best=options.beam_size) if options.strategy == "beam" else options


def _laid(text: str, reading: Reading, way: Way | None) -> Laid | None:
    if way is None or not has_letter(text):
        return None
    return lay(read(text, reading), reading, way)


async def _all(work: Sequence[Coroutine[Any, Any, Result]]) -> list[Result]:
    """What all of it gives, done together; one alone needs no task of its own."""
    return [await work[0]] if len(work) == 1 else await asyncio.gather(*work)


async def _written(trial: Trial, outcome: Outcome) -> str:
    alignment = NO_ALIGNMENT
    if outcome.needs_alignment:
        alignment = await trial.way.align(outcome.sentence, outcome.hypothesis, outcome.text)
    return outcome.written(alignment)
