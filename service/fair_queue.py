"""The sentences that wait to be translated, in turns by request. Plain data: the batcher holds the lock."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Sequence
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
        self.loop = future.get_loop()
        self.waiting = deque(range(len(sentences)))
        self.hypotheses: list[list[Hypothesis]] = [[] for _ in sentences]
        self.remaining = len(sentences)
        self.is_over = False

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
    """A bounded queue of jobs. Batches take a sentence of each in turn: none waits for another's end."""

    def __init__(self, capacity_tokens: int) -> None:
        self.capacity_tokens = capacity_tokens
        self.waiting_tokens = 0
        self._jobs: deque[Job] = deque()

    def __len__(self) -> int:
        return len(self._jobs)

    def __repr__(self) -> str:
        sentences = sum(len(job.waiting) for job in self._jobs)
        return (
            f"<FairQueue {len(self)} requests, {sentences} sentences, "
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
        self._jobs.append(job)

    def refuse_when_full(self) -> None:
        """Raise QueueFull when not even one more piece may wait."""
        if self.waiting_tokens >= self.capacity_tokens:
            raise QueueFull(_BUSY)

    def discard(self, job: Job) -> None:
        """Take away what still waits of a job."""
        self.waiting_tokens -= _tokens(job)
        job.waiting.clear()
        if job in self._jobs:
            self._jobs.remove(job)

    def take(self, batch_tokens: int) -> list[Item]:
        """The next batch: at least one sentence, the padded whole within `batch_tokens` times beam width.

        The job that has waited longest decides the options; all jobs with equal options take turns, a
        sentence each, and then go to the end of the line.
        """
        if not self._jobs:
            return []
        options = self._jobs[0].options
        room = batch_tokens // width(options)
        turns = deque(job for job in self._jobs if job.options == options)
        batch: list[Item] = []
        longest = 0
        while turns:
            job = turns.popleft()
            longest_with_next = max(longest, length(job.sentences[job.waiting[0]]))
            if batch and longest_with_next * (len(batch) + 1) > room:
                continue
            longest = longest_with_next
            batch.append(Item(job, job.waiting.popleft()))
            self.waiting_tokens -= length(batch[-1].sentence)
            if job.waiting:
                turns.append(job)
        self._rotate({id(item.job) for item in batch})
        return batch

    def _rotate(self, served: set[int]) -> None:
        unserved = [job for job in self._jobs if id(job) not in served]
        unfinished = [job for job in self._jobs if id(job) in served and job.waiting]
        self._jobs = deque(unserved + unfinished)


def width(options: DecodingOptions) -> int:
    """Times that one sentence is decoded: side by side in a beam, one after the other in sampling."""
    return {"greedy": 1, "beam": options.beam_size, "sample": options.n_best}[options.strategy]


def length(sentence: Sentence) -> int:
    """Source pieces with the tag and the end."""
    return len(sentence.ids)


def _tokens(job: Job) -> int:
    return sum(length(job.sentences[index]) for index in job.waiting)
