"""Many requests → one batch → many answers: few threads own the model and serve a fair queue."""

from __future__ import annotations

import asyncio
import logging
import math
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from enum import Enum
from typing import TypeVar

from model.search.options import DecodingOptions
from model.sentence import Sentence
from model.translator import Hypothesis, Translator
from service.errands import Errand, settle
from service.errors import NotReady, ServiceError, ShuttingDown, TranslationFailed, WorkerDied, whereabouts
from service.fair_queue import FairQueue, Item, Job
from service.in_work import InWork
from service.shared import Shared

logger = logging.getLogger(__name__)

Result = TypeVar("Result")
MOST_ERRANDS = 8  # between two batches


class WorkerState(Enum):
    LOADING = "loading"
    READY = "ready"
    DIED = "died"
    STOPPED = "stopped"


class Batcher:
    """Translates the sentences of all requests together, in as many threads as the translator's decoder has use for.

    A sentence joins those in work as soon as there is room, and its request is answered as soon as its last one is
    done, whatever else goes on. `load` runs in a thread, so the event loop answers while a model is being read. The
    batcher is ready when the model has translated something; `on_load_failure` is called, in that thread, when it
    cannot.
    """

    def __init__(
        self,
        load: Callable[[], Translator],
        *,
        queue_tokens: int,
        cache_sentences: int = 0,
        on_load_failure: Callable[[], None] | None = None,
    ) -> None:
        self._load = load
        self._on_load_failure = on_load_failure
        self.queue = FairQueue(queue_tokens)
        self.shared = Shared(cache_sentences)
        self._unfinished: set[Job] = set()
        self._errands: deque[Errand] = deque()
        self._changed = threading.Condition()
        self._state = WorkerState.LOADING
        self._translator: Translator | None = None
        self._threads: list[threading.Thread] = []
        self._idle = 0  # of them
        self.decoded_sentences = 0

    def __repr__(self) -> str:
        return f"<Batcher {self._state.value}, {self.queue!r}, {self.decoded_sentences} sentences decoded>"

    @property
    def state(self) -> WorkerState:
        return self._state

    @property
    def translator(self) -> Translator:
        """The model, once it has translated something; until then and after the end an Unavailable error."""
        if self._state is WorkerState.READY and self._translator is not None:
            return self._translator
        raise self._why_unavailable()

    def start(self) -> None:
        self._begin_thread(self._load_and_serve)

    def stop(self, *, patience_seconds: float = 10) -> None:
        """Refuse new work, fail what waits, and let the batch in work end. Blocks: not for the event loop."""
        with self._changed:
            if self._state is not WorkerState.DIED:
                self._state = WorkerState.STOPPED
            self._fail_all(ShuttingDown("The service is shutting down."))
            self._changed.notify_all()
        deadline = time.monotonic() + patience_seconds
        for thread in list(self._threads):
            thread.join(max(0.0, deadline - time.monotonic()))

    async def translate(
        self, sentences: Sequence[Sentence], options: DecodingOptions
    ) -> list[list[Hypothesis]]:
        """Hypotheses of each sentence, best first.

        Raises QueueFull, TooMuch, TranslationFailed or why the worker is unavailable. When the caller is
        cancelled, its sentences are decoded no further, unless others wait for them too.
        """
        if not sentences:
            return []
        job = Job(sentences, options, asyncio.get_running_loop().create_future())
        try:
            with self._changed:
                self.shared.join(job, self.translator.decoder)
                if not job.remaining:
                    return job.hypotheses
                self.queue.add(job)
                self._unfinished.add(job)
                self._changed.notify()
            return await job.future
        finally:
            with self._changed:
                self._end(job)

    async def run(self, work: Callable[[Translator], Result]) -> Result:
        """What `work` gives, done by the thread that owns the model, between two batches.

        Raises TranslationFailed where `work` raises, or why the worker is unavailable.
        """
        errand = Errand(work, asyncio.get_running_loop().create_future())
        with self._changed:
            if self._state is not WorkerState.READY:
                raise self._why_unavailable()
            self._errands.append(errand)
            self._changed.notify()
        result: Result = await errand.future
        return result

    def refuse_when_full(self) -> None:
        """Raise QueueFull before any work is put into a request that has no chance."""
        with self._changed:
            self.queue.refuse_when_full()

    # Below this line everything but _fail and _fail_all runs in the threads that translate.

    def _begin_thread(self, work: Callable[[], None]) -> None:
        name = f"translator-{len(self._threads) + 1}"
        self._threads.append(threading.Thread(target=work, name=name, daemon=True))
        self._threads[-1].start()

    def _load_and_serve(self) -> None:
        try:
            translator = self._load()
            warm_up(translator)
        except BaseException as error:
            # Nobody's text is in this message yet, and it names the part of the model that is at fault.
            logger.critical("the model could not be loaded: %s (%s)", error, whereabouts(error))
            self._die()
            if self._on_load_failure is not None:
                self._on_load_failure()
            return
        with self._changed:
            self._translator = translator
            if self._state is WorkerState.LOADING:
                self._state = WorkerState.READY
        logger.info("ready: %r", translator)
        self._serve(translator)

    def _serve(self, translator: Translator) -> None:
        try:
            work = InWork(translator)
            while self._state is WorkerState.READY:
                self._let_in(work)
                self._run_errands(translator)
                self._answer(work)
                self._keep_up_with(translator)
        except BaseException as error:
            logger.critical("a translating thread died: %s", whereabouts(error))
            self._die()

    def _keep_up_with(self, translator: Translator) -> None:
        """A decoder that came later may have use for more threads."""
        with self._changed:
            while len(self._threads) < translator.decoder.threads and self._state is WorkerState.READY:
                self._begin_thread(lambda: self._serve(translator))

    def _die(self) -> None:
        with self._changed:
            self._state = WorkerState.DIED
            self._fail_all(self._why_unavailable())
            self._changed.notify_all()

    def _let_in(self, work: InWork) -> None:
        """Add to what is in work while there is room; without any, wait."""
        with self._changed:
            while self._state is WorkerState.READY:
                # Threads that wait get their share: two half as full are done sooner than one.
                share = math.ceil(self.queue.sentences / (1 + self._idle))
                while share > 0 and (item := self.queue.take(work.takes)):
                    for other in self.shared.begin(item):
                        self.queue.withdraw(other)
                    work.add(item)
                    share -= 1
                if self.queue and self._idle:
                    self._changed.notify()
                if work or self._errands:
                    return
                self._idle += 1
                self._changed.wait()
                self._idle -= 1

    def _run_errands(self, translator: Translator) -> None:
        for _ in range(MOST_ERRANDS):
            with self._changed:
                if not self._errands:
                    return
                errand = self._errands.popleft()
            errand.run(translator)

    def _answer(self, work: InWork) -> None:
        """Go on with what is in work, and answer the requests whose last sentence is done."""
        work.drop_forsaken(self.shared.is_wanted)
        try:
            done = work.advance()
        except Exception as error:
            logger.error("%d sentences could not be translated together: %s", len(work), whereabouts(error))
            done = list(self._one_by_one(work))
        for item, hypotheses in done:
            with self._changed:
                self.decoded_sentences += 1
                answered = self.shared.answer(item, hypotheses, work.decoder)
                for one in answered:
                    self.queue.withdraw(one)
            for job in {one.job for one in answered if not one.job.remaining}:
                settle(job.future, job.hypotheses)

    def _one_by_one(self, work: InWork) -> Iterator[tuple[Item, list[Hypothesis]]]:
        """What failed together, so that the sentence at fault stands alone."""
        for item in work.start_afresh():
            if not self.shared.is_wanted(item):
                continue
            try:
                [hypotheses] = work.translator.translate([item.sentence], item.job.options)
                yield item, hypotheses
            except Exception as error:
                logger.error("a sentence could not be translated: %s", whereabouts(error))
                with self._changed:
                    for one in self.shared.askers(item):
                        self._fail(one.job, TranslationFailed("The model failed on this text."))

    def _fail_all(self, error: ServiceError) -> None:
        while self._errands:
            settle(self._errands.popleft().future, type(error)(error.message))
        for job in list(self._unfinished):
            self._fail(job, error)

    def _fail(self, job: Job, error: ServiceError) -> None:
        self._end(job)
        # One instance each: raising an exception writes into it.
        settle(job.future, type(error)(error.message))

    def _end(self, job: Job) -> None:
        """Nobody waits for it any more, or it has all its answers."""
        job.is_over = True
        self.queue.discard(job)
        if job.remaining:
            self.shared.leave(job)
        self._unfinished.discard(job)

    def _why_unavailable(self) -> ServiceError:
        if self._state is WorkerState.LOADING:
            return NotReady("The model is still being loaded.")
        if self._state is WorkerState.STOPPED:
            return ShuttingDown("The service is shutting down.")
        return WorkerDied("The translating thread has died; the service must be restarted.")


def warm_up(translator: Translator) -> None:
    """Translate a word in each direction, so that the first client does not pay for lazy set-up."""
    sentences = [translator.prepare("Hello.", source, target) for source, target in translator.directions]
    translator.translate(sentences, DecodingOptions(strategy="greedy", max_length=8))
