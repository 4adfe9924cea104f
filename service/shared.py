"""Equal sentences are decoded once: while one is on its way, and afterwards for as long as it is remembered.

Plain data: the batcher holds the lock. What is equal is the whole question: the sentence as the model reads it, what
its translation has to hold, and every option. The model is none of it, for each batcher has a memory of its own.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence

from model.search.options import DecodingOptions
from model.sentence import Sentence
from model.translator import Hypothesis
from service.fair_queue import Item, Job

Question = tuple[Sentence, DecodingOptions]


class Shared:
    """Who asks for which sentence, and what was answered lately: up to `capacity` hypotheses, the latest asked for.

    A question that several ask waits in the queue for each of them, so that nobody's turn comes later for it. Once it
    is taken for one of them, the others get the same answer, even if that one leaves.
    """

    def __init__(self, capacity: int) -> None:
        self.capacity = capacity
        self.spared = 0  # sentences that were answered without being decoded
        self._answers: OrderedDict[Question, tuple[Hypothesis, ...]] = OrderedDict()
        self._remembered = 0  # hypotheses in there
        self._found_by: object = None  # the decoder that gave them; another may say it in other words
        self._askers: dict[Question, list[Item]] = {}
        self._in_work: set[Question] = set()

    def __repr__(self) -> str:
        remembered = f"{self._remembered}/{self.capacity} hypotheses"
        return f"<Shared {remembered}, {len(self._askers)} sentences asked for, {self.spared} spared>"

    def join(self, job: Job, decoder: object) -> None:
        """Answer what is remembered of `decoder`, and note who asks for the rest.

        What is being decoded already need not wait in the queue; the answers of another decoder are forgotten.
        """
        if decoder is not self._found_by:
            self._forget(decoder)
        for place in range(len(job.sentences)):
            item = Item(job, place)
            question = _question(item)
            if (known := self._answers.get(question)) is not None:
                self._answers.move_to_end(question)
                self.spared += 1
                job.answer(place, known)
            else:
                self._askers.setdefault(question, []).append(item)
            if known or question in self._in_work:
                job.waiting.remove(place)

    def begin(self, item: Item) -> list[Item]:
        """It is being decoded now; gives those that wait for the same and need not do so in the queue."""
        question = _question(item)
        self._in_work.add(question)
        return [other for other in self._askers.get(question, []) if other != item]

    def is_wanted(self, item: Item) -> bool:
        """Whether anybody still waits for it."""
        return _question(item) in self._askers

    def askers(self, item: Item) -> list[Item]:
        """All who wait for it, whoever it was begun for."""
        return self._askers.get(_question(item), [])

    def answer(self, item: Item, hypotheses: Sequence[Hypothesis], decoder: object) -> list[Item]:
        """It is done, and so it is for all who wait for it: those are given back."""
        question = _question(item)
        self._remember(question, tuple(hypotheses), decoder)
        self._in_work.discard(question)
        askers = self._askers.pop(question, [])
        self.spared += max(0, len(askers) - 1)
        for one in askers:
            one.job.answer(one.place, hypotheses)
        return askers

    def leave(self, job: Job) -> None:
        """It is over; what nobody else asks for is wanted no more."""
        for place in range(len(job.sentences)):
            question = _question(Item(job, place))
            others = [one for one in self._askers.pop(question, []) if one.job is not job]
            if others:
                self._askers[question] = others
            else:
                self._in_work.discard(question)

    def _remember(self, question: Question, hypotheses: tuple[Hypothesis, ...], decoder: object) -> None:
        if decoder is not self._found_by or not 0 < len(hypotheses) <= self.capacity:
            return
        self._remembered += len(hypotheses) - len(self._answers.pop(question, ()))
        self._answers[question] = hypotheses
        while self._remembered > self.capacity:
            _, oldest = self._answers.popitem(last=False)
            self._remembered -= len(oldest)

    def _forget(self, decoder: object) -> None:
        self._answers.clear()
        self._remembered = 0
        self._found_by = decoder


def _question(item: Item) -> Question:
    return item.sentence, item.job.options
