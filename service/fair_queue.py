"""The sentences that wait to be translated, in turns by request. Plain data: the batcher holds the lock."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from typing import NamedTuple

from model.search.options import DecodingOptions
from model.sentence import Sentence
from model.translator import Hypothesis
from service.errors import QueueFull, TooMuch

_BUSY = "The service is busy; please try again in a moment."


class Job:
    """The sentences of one request, the future that its handler awaits, and the results so far."""

    def __init__(
        self,
        sentences: Sequence[Sentence],
        options: DecodingOptions,
        future: asyncio.Future[list[list[Hypothesis]]],
    ) -> None:
        self.sentences = sentences
        self.options = options
        self.future = future
        self.waiting = deque(range(len(sentences)))
        self.hypotheses: list[list[Hypothesis]] = [[] for _ in sentences]
        self.remaining = len(sentences)
        self.is_over = False

    def answer(self, place: int, hypotheses: Sequence[Hypothesis]) -> None:
        """One of its sentences is done."""
        self.hypotheses[place] = list(hypotheses)
        self.remaining -= 1

    def __repr__(self) -> str:
        done = len(self.sentences) - self.remaining
        return f"<Job {done}/{len(self.sentences)} sentences, {len(self.waiting)} waiting, {self.options.strategy}>"


class Item(NamedTuple):
    """One sentence of a job."""

    job: Job
    place: int

    @property
    def sentence(self) -> Sentence:
        return self.job.sentences[self.place]


class FairQueue:
    """A bounded queue of jobs. A sentence of each is taken in turn: none waits for another's end."""

    def __init__(self, capacity_tokens: int) -> None:
        self.capacity_tokens = capacity_tokens
        self.waiting_tokens = 0
        self._jobs: deque[Job] = deque()

    def __len__(self) -> int:
        return len(self._jobs)

    @property
    def sentences(self) -> int:
        """How many wait."""
        return sum(len(job.waiting) for job in self._jobs)

    def __repr__(self) -> str:
        return (
            f"<FairQueue {len(self)} requests, {self.sentences} sentences, "
            f"{self.waiting_tokens}/{self.capacity_tokens} tokens>"
        )

    def add(self, job: Job) -> None:
        """Queue a job whole, or raise QueueFull, or TooMuch where even an empty queue would not hold it."""
        tokens = _tokens(job)
        if tokens > self.capacity_tokens:
            raise TooMuch(f"request ({tokens} tokens) exceeds text limit ({self.capacity_tokens} tokens).")
        if self.waiting_tokens + tokens > self.capacity_tokens:
            raise QueueFull(_BUSY)
        self.waiting_tokens += tokens
        if job.waiting:
            self._jobs.append(job)

    def refuse_when_full(self) -> None:
        """Raise QueueFull when not even one more piece may wait."""
        if self.waiting_tokens >= self.capacity_tokens:
            raise QueueFull(_BUSY)

    def discard(self, job: Job) -> None:
        """Take away what still waits of a job."""
        if job in self._jobs:
            self.waiting_tokens -= _tokens(job)
            self._jobs.remove(job)
        job.waiting.clear()

    def withdraw(self, item: Item) -> None:
        """Take away one sentence, if it still waits."""
        waiting = item.job.waiting
        if item.place in waiting:
            waiting.remove(item.place)
            self.waiting_tokens -= length(item.sentence)
            if not waiting:
                self._jobs.remove(item.job)

    def take(self, accepts: Callable[[Item], bool]) -> Item | None:
        """The next sentence that is accepted: of the job that has waited longest, which then goes to the end.

        Where the next of a job is refused, those behind it are asked; it keeps its place and is asked first again.
        """
        for job in self._jobs:
            item = Item(job, job.waiting[0])
            if not accepts(item):
                continue
            job.waiting.popleft()
            self.waiting_tokens -= length(item.sentence)
            self._jobs.remove(job)
            if job.waiting:
                self._jobs.append(job)
            return item
        return None


def length(sentence: Sentence) -> int:
    """Source pieces with the tag and the end."""
    return len(sentence.ids)


def _tokens(job: Job) -> int:
    return sum(length(job.sentences[index]) for index in job.waiting)
