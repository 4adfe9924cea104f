"""Many requests → one batch → many answers: one thread owns the model and serves a fair queue."""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from enum import Enum
from typing import Any, NamedTuple, TypeVar

from model.search.options import DecodingOptions
from model.sentence import Sentence
from model.translator import Hypothesis, Translator
from service.errors import NotReady, ServiceError, ShuttingDown, TranslationFailed, WorkerDied, whereabouts
from service.fair_queue import FairQueue, Item, Job

logger = logging.getLogger(__name__)

Result = TypeVar("Result")
MOST_ERRANDS = 8  # between two batches
_LINGER_SHARE = 0.1  # of the time of a batch: what waiting for a fuller next one may cost


class WorkerState(Enum):
    LOADING = "loading"
    READY = "ready"
    DIED = "died"
    STOPPED = "stopped"


class Errand(NamedTuple):
    """Work for the model that is no translating, such as an alignment."""

    work: Callable[[Translator], Any]
    future: asyncio.Future[Any]
    loop: asyncio.AbstractEventLoop


class Batcher:
    """Translates the sentences of all requests together.

    `load` runs in the worker thread, so the event loop answers while a model is being read. The batcher is ready
    when the model has translated something; `on_load_failure` is called, in the worker thread, when it cannot.
    """

    def __init__(
        self,
        load: Callable[[], Translator],
        *,
        queue_tokens: int,
        batch_tokens: int,
        on_load_failure: Callable[[], None] | None = None,
    ) -> None:
        self._load = load
        self._batch_tokens = batch_tokens
        self._on_load_failure = on_load_failure
        self.queue = FairQueue(queue_tokens)
        self._unfinished: set[Job] = set()
        self._errands: deque[Errand] = deque()
        self._changed = threading.Condition()
        self._state = WorkerState.LOADING
        self._translator: Translator | None = None
        self._thread = threading.Thread(target=self._work, name="translator", daemon=True)
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
        self._thread.start()

    def stop(self, *, patience_seconds: float = 10) -> None:
        """Refuse new work, fail what waits, and let the batch in work end. Blocks: not for the event loop."""
        with self._changed:
            if self._state is not WorkerState.DIED:
                self._state = WorkerState.STOPPED
            self._fail_all(ShuttingDown("The service is shutting down."))
            self._changed.notify_all()
        if self._thread.ident is not None:
            self._thread.join(patience_seconds)

    async def translate(
        self, sentences: Sequence[Sentence], options: DecodingOptions
    ) -> list[list[Hypothesis]]:
        """Hypotheses of each sentence, best first.

        Raises QueueFull, TooMuch, TranslationFailed or why the worker is unavailable. When the caller is
        cancelled, its waiting sentences leave the queue without being decoded.
        """
        if not sentences:
            return []
        job = Job(sentences, options, asyncio.get_running_loop().create_future())
        with self._changed:
            if self._state is not WorkerState.READY:
                raise self._why_unavailable()
            self.queue.add(job)
            self._unfinished.add(job)
            self._changed.notify()
        try:
            return await job.future
        finally:
            with self._changed:
                job.is_over = True
                self.queue.discard(job)
                self._unfinished.discard(job)

    async def run(self, work: Callable[[Translator], Result]) -> Result:
        """What `work` gives, done by the thread that owns the model, between two batches.

        Raises TranslationFailed where `work` raises, or why the worker is unavailable.
        """
        loop = asyncio.get_running_loop()
        errand = Errand(work, loop.create_future(), loop)
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

    # Below this line everything but _fail and _fail_all runs in the worker thread.

    def _work(self) -> None:
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
        try:
            while self._state is WorkerState.READY:
                batch = self._next_batch()
                self._run_errands(translator)
                if not batch:
                    continue
                waiting, started = len(self.queue), time.monotonic()
                self._decode(translator, batch)
                answered = len({id(item.job) for item in batch if item.job.remaining == 0})
                self._await_return(waiting + answered, seconds=_LINGER_SHARE * (time.monotonic() - started))
        except BaseException as error:
            logger.critical("the translating thread died: %s", whereabouts(error))
            self._die()

    def _die(self) -> None:
        with self._changed:
            self._state = WorkerState.DIED
            self._fail_all(self._why_unavailable())

    def _next_batch(self) -> list[Item]:
        with self._changed:
            while not self.queue and not self._errands and self._state is WorkerState.READY:
                self._changed.wait()
            return self.queue.take(self._batch_tokens) if self._state is WorkerState.READY else []

    def _run_errands(self, translator: Translator) -> None:
        for _ in range(MOST_ERRANDS):
            with self._changed:
                if not self._errands:
                    return
                errand = self._errands.popleft()
            if errand.future.cancelled():
                continue
            outcome: Any
            try:
                outcome = errand.work(translator)
            except Exception as error:
                logger.error("an errand failed: %s", whereabouts(error))
                outcome = TranslationFailed("The model failed on this text.")
            _settle(errand.loop, errand.future, outcome)

    def _await_return(self, expected: int, *, seconds: float) -> None:
        """Give the clients just answered a moment to ask again, so that they share a batch with those who wait.

        Without it two groups of clients, one waiting while the other is served, would stay apart for ever.
        """
        deadline = time.monotonic() + seconds
        with self._changed:
            while len(self.queue) < expected and self._state is WorkerState.READY:
                if not self._changed.wait(deadline - time.monotonic()):
                    return

    def _decode(self, translator: Translator, batch: list[Item]) -> None:
        """Translate a batch; one that fails is halved until the sentence at fault stands alone."""
        batch = [item for item in batch if not item.job.is_over]
        if not batch:
            return
        try:
            answers = translator.translate([item.sentence for item in batch], batch[0].job.options)
            if len(answers) != len(batch) or not all(answers):
                raise RuntimeError(f"{len(batch)} sentences in, {len(answers)} answers out")
        except Exception as error:
            if len(batch) == 1:
                logger.error("a sentence could not be translated: %s", whereabouts(error))
                with self._changed:
                    self._fail(batch[0].job, TranslationFailed("The model failed on this text."))
                return
            half = len(batch) // 2
            self._decode(translator, batch[:half])
            self._decode(translator, batch[half:])
            return
        self.decoded_sentences += len(batch)
        for (job, place), hypotheses in zip(batch, answers, strict=True):
            job.hypotheses[place] = hypotheses
            job.remaining -= 1
            if job.remaining == 0:
                _settle(job.loop, job.future, job.hypotheses)

    def _fail_all(self, error: ServiceError) -> None:
        while self._errands:
            errand = self._errands.popleft()
            _settle(errand.loop, errand.future, type(error)(error.message))
        for job in list(self._unfinished):
            self._fail(job, error)

    def _fail(self, job: Job, error: ServiceError) -> None:
        job.is_over = True
        self.queue.discard(job)
        _settle(
            job.loop, job.future, type(error)(error.message)
        )  # one instance each: raising an exception writes into it

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


def _settle(loop: asyncio.AbstractEventLoop, future: asyncio.Future[Any], outcome: Any) -> None:
    """Hand an outcome over to the event loop of the waiting handler, which may be gone."""

    def settle() -> None:
        if future.done():
            return
        if isinstance(outcome, ServiceError):
            future.set_exception(outcome)
        else:
            future.set_result(outcome)

    try:
        loop.call_soon_threadsafe(settle)
    except RuntimeError:  # the loop is closed
        logger.debug("an outcome came after the event loop had ended")
