"""A passage on its way through the model: tried until nothing is wrong with it, or no way is left."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import NamedTuple

from model.alignment import Alignment
from model.translator import Hypothesis
from service.text.attempts import Attempt, Faults, faults, first_attempt, further_attempts
from service.text.blocks import Span
from service.text.endings import begun, finished
from service.text.passages import Passage, numbers, rendered
from service.text.placement import placed
from service.text.wording import Replacement, missing, replacements
from service.ways import AnySentence, Way
from tokenizer.segments import tidy

NO_ALIGNMENT = Alignment([], [], [])


class Outcome(NamedTuple):
    """A hypothesis, which attempt it is of, and what is wrong with it. Its text ends as the source does, unless cut."""

    faults: Faults
    number: int  # of the attempt
    text: str
    hypothesis: Hypothesis
    attempt: Attempt
    sentence: AnySentence
    replacements: tuple[Replacement, ...] = ()  # of its text, so that the terms are said
    alignment: Alignment | None = None  # where that has been asked for

    @property
    def needs_alignment(self) -> bool:
        """Whether there is markup anywhere but around the whole sentence, and nobody has asked for it yet."""
        if self.alignment is not None:
            return False
        end = len(self.attempt.passage.text)
        return any(
            not (span.start in (0, end) and span.end in (0, end)) for span in self.attempt.passage.spans
        )

    def written(self, alignment: Alignment) -> str:
        """In the source's format, markup and all; with its own alignment, if it has one."""
        alignment = self.alignment or alignment
        passage, masked = self.attempt.passage, self.attempt.masked
        spans = [
            Span(masked.places[span.start], masked.places[span.end], span.before, span.after, span.depth)
            for span in passage.spans
        ]
        insertions = placed(spans, alignment, masked.text, self.text) if spans else []
        return rendered(self.text, masked.stand_ins, insertions, passage.spelling, self.replacements)

    @property
    def lost(self) -> tuple[str, ...]:
        """What should have come through once and did not."""
        return (
            *(one.source for one in self.attempt.masked.stand_ins if self.text.count(one.text) != 1),
            *(shown for shown in self.attempt.shown if shown not in self.text),
        )


class Trial:
    """One passage. Give it hypotheses of `sentence`, and the alignment of `unplaced`, for as long as there is one."""

    def __init__(self, passage: Passage, way: Way) -> None:
        self.passage = passage
        self.way = way
        self._attempt = first_attempt(passage)
        self._further: Iterator[Attempt] | None = None
        self._outcomes: list[Outcome] = []
        self._number = 0
        self.unplaced: Outcome | None = None  # its terms are said otherwise; where, its alignment will show
        self.sentence: AnySentence | None = self._prepare(self._attempt)

    @property
    def is_delicate(self) -> bool:
        """Whether something can go wrong that another hypothesis may have right."""
        return bool(self.passage.protected or self.passage.terms or numbers(self.passage.text, ()))

    def take(self, hypotheses: Sequence[Hypothesis]) -> None:
        """Judge the hypotheses of `sentence`, and go on to the next attempt if all of them have faults."""
        assert self.sentence is not None
        for hypothesis in hypotheses:
            said = tidy(hypothesis.text)
            in_form = begun if hypothesis.truncated else partial(finished, language=self.way.direction[1])
            self._outcomes.append(
                Outcome(
                    faults(self._attempt, said),
                    self._number,
                    in_form(said, self.passage.text),
                    hypothesis,
                    self._attempt,
                    self.sentence,
                )
            )
        self.sentence = None
        best = min(self._outcomes, key=lambda outcome: outcome.faults)
        if best.faults.terms and best.faults == Faults(terms=best.faults.terms) and not best.alignment:
            self.unplaced = best
        else:
            self._go_on()

    def place(self, alignment: Alignment) -> None:
        """The terms into the text of `unplaced`, if it is clear where; else go on to the next attempt."""
        outcome, self.unplaced = self.unplaced, None
        assert outcome is not None
        masked = outcome.attempt.masked
        found = replacements(
            missing(outcome.attempt.terms, outcome.text),
            alignment,
            masked.text,
            outcome.text,
            [stand_in.text for stand_in in masked.stand_ins],
        )
        settled = outcome._replace(alignment=alignment)
        if found is not None:
            settled = settled._replace(faults=Faults(), replacements=found)
        self._outcomes[self._outcomes.index(outcome)] = settled
        self._go_on()

    def _go_on(self) -> None:
        best = min(outcome.faults for outcome in self._outcomes)
        if best == Faults():
            return
        if self._further is None:
            self._further = further_attempts(self.passage, best)
        for attempt in self._further:
            if self.way.fits(attempt.masked.text):
                self._number += 1
                self._attempt = attempt
                self.sentence = self._prepare(attempt)
                return

    def best(self, count: int) -> list[Outcome]:
        """The best outcome, and others of the same attempt that are no worse, up to `count`."""
        best = min(self._outcomes, key=lambda outcome: (outcome.faults, outcome.number))
        equals = [
            outcome
            for outcome in self._outcomes
            if outcome.number == best.number and outcome.faults == best.faults
        ]
        return equals[:count]

    def _prepare(self, attempt: Attempt) -> AnySentence:
        return self.way.prepare(attempt.masked.text, attempt.phrases)
