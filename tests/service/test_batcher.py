"""One worker for all: batched, bounded, fair, and alive whatever a sentence does."""

import asyncio
import contextlib
import threading
from types import SimpleNamespace

import pytest

from model.search.options import DecodingOptions
from service.batcher import Batcher, WorkerState
from service.errors import NotReady, QueueFull, ShuttingDown, TranslationFailed, WorkerDied

GREEDY = DecodingOptions(strategy="greedy")


@pytest.fixture
def make_batcher(until):
    with contextlib.ExitStack() as stack:

        def make(translator, *, queue_tokens=10_000) -> Batcher:
            batcher = Batcher(lambda: translator, queue_tokens=queue_tokens)
            batcher.start()
            stack.callback(batcher.stop)
            stack.callback(translator.gate.set)
            until(lambda: batcher.state is WorkerState.READY)
            translator.forget()
            return batcher

        yield make


@pytest.fixture
def batcher(make_batcher, translator) -> Batcher:
    return make_batcher(translator)


def prepared(translator, *texts):
    return [translator.prepare(text, "en", "de") for text in texts]


async def held(translator, batcher):
    """A translation that the worker is now busy with, until the gate opens."""
    translator.is_decoding.clear()
    translator.gate.clear()
    task = asyncio.create_task(batcher.translate(prepared(translator, "held"), GREEDY))
    await asyncio.to_thread(translator.is_decoding.wait, 10)
    return task


def test_requests_that_wait_together_are_decoded_together_and_each_gets_its_own(translator, batcher):
    async def run():
        first = await held(translator, batcher)
        tasks = [
            asyncio.create_task(batcher.translate(prepared(translator, f"parcel {n}", f"letter {n}"), GREEDY))
            for n in range(20)
        ]
        await asyncio.sleep(0)
        translator.gate.set()
        await first
        return await asyncio.gather(*tasks)

    for n, hypotheses in enumerate(asyncio.run(run())):
        assert [ranked[0].text for ranked in hypotheses] == [f"PARCEL {n}", f"LETTER {n}"]
    assert [len(batch) for batch in translator.batches] == [1, 40]


def test_each_request_keeps_its_options(translator, batcher):
    wide = DecodingOptions(beam_size=3, n_best=2)

    async def run():
        return await asyncio.gather(
            batcher.translate(prepared(translator, "a"), GREEDY),
            batcher.translate(prepared(translator, "b"), wide),
        )

    one, two = asyncio.run(run())
    assert [hypothesis.text for hypothesis in one[0]] == ["A"]
    assert [hypothesis.text for hypothesis in two[0]] == ["B", "B!"]
    assert set(translator.options) == {GREEDY, wide}


def test_nothing_to_translate_asks_nobody(translator, batcher):
    assert asyncio.run(batcher.translate([], GREEDY)) == []
    assert translator.decoded == []


def test_a_cancelled_request_leaves_the_queue_undecoded(translator, batcher):
    async def run():
        first = await held(translator, batcher)
        leaves = asyncio.create_task(batcher.translate(prepared(translator, *["gone"] * 50), GREEDY))
        stays = asyncio.create_task(batcher.translate(prepared(translator, "stays"), GREEDY))
        await asyncio.sleep(0.01)
        leaves.cancel()
        with pytest.raises(asyncio.CancelledError):
            await leaves
        translator.gate.set()
        await asyncio.gather(first, stays)

    asyncio.run(run())
    assert translator.decoded == ["held", "stays"]
    assert "0 requests, 0 sentences, 0/10000 tokens" in repr(batcher)


def test_a_request_cancelled_in_the_middle_is_decoded_no_further(make_batcher, translator):
    translator.batch_tokens = 8
    batcher = make_batcher(translator)

    async def run():
        translator.gate.clear()
        task = asyncio.create_task(
            batcher.translate(prepared(translator, *(f"{n:04d}" for n in range(100))), GREEDY)
        )
        await asyncio.to_thread(translator.is_decoding.wait, 10)
        task.cancel()
        await asyncio.sleep(0.01)
        translator.gate.set()
        with contextlib.suppress(asyncio.CancelledError):
            await task
        await batcher.translate(prepared(translator, "next"), GREEDY)

    translator.is_decoding.clear()
    asyncio.run(run())
    assert translator.decoded == ["0000", "0001", "next"]


def test_a_full_queue_refuses_at_once_and_takes_again_when_there_is_room(make_batcher, translator):
    batcher = make_batcher(translator, queue_tokens=10)

    async def run():
        first = await held(translator, batcher)
        waiting = asyncio.create_task(batcher.translate(prepared(translator, "ten tokens"), GREEDY))
        await asyncio.sleep(0.01)
        with pytest.raises(QueueFull):
            await batcher.translate(prepared(translator, "x"), GREEDY)
        with pytest.raises(QueueFull):
            batcher.refuse_when_full()
        translator.gate.set()
        await asyncio.gather(first, waiting)
        batcher.refuse_when_full()
        return await batcher.translate(prepared(translator, "x"), GREEDY)

    assert asyncio.run(run())[0][0].text == "X"


def test_a_sentence_that_breaks_the_model_fails_its_own_request_only(translator, batcher):
    async def run():
        first = await held(translator, batcher)
        texts = [["one"], ["two", "BOOM", "three"], ["four"], ["five"]]
        tasks = [
            asyncio.create_task(batcher.translate(prepared(translator, *group), GREEDY)) for group in texts
        ]
        await asyncio.sleep(0.01)
        translator.gate.set()
        await first
        return await asyncio.gather(*tasks, return_exceptions=True)

    one, broken, four, five = asyncio.run(run())
    assert [answer[0][0].text for answer in (one, four, five)] == ["ONE", "FOUR", "FIVE"]
    assert isinstance(broken, TranslationFailed)
    assert ["three"] not in translator.batches  # nobody waits for it any more
    assert batcher.state is WorkerState.READY


def test_answers_too_few_are_a_failure_and_never_mixed_up(translator, batcher, monkeypatch):
    monkeypatch.setattr(translator, "translate", lambda sentences, options: [])
    with pytest.raises(TranslationFailed):
        asyncio.run(batcher.translate(prepared(translator, "a"), GREEDY))


def test_when_the_worker_dies_all_who_wait_are_told_and_all_who_come(translator, batcher):
    async def run():
        first = await held(translator, batcher)
        tasks = [
            asyncio.create_task(batcher.translate(prepared(translator, text), GREEDY))
            for text in ("a", "FATAL", "b")
        ]
        await asyncio.sleep(0.01)
        translator.gate.set()
        await first
        outcomes = await asyncio.gather(*tasks, return_exceptions=True)
        with pytest.raises(WorkerDied):
            await batcher.translate(prepared(translator, "c"), GREEDY)
        return outcomes

    assert [type(outcome) for outcome in asyncio.run(run())] == [WorkerDied] * 3
    with pytest.raises(WorkerDied):
        _ = batcher.translator
    assert repr(batcher).startswith("<Batcher died")


def test_it_is_not_ready_until_the_model_has_translated_each_direction(translator, until):
    translator.gate.clear()
    batcher = Batcher(lambda: translator, queue_tokens=10)
    batcher.start()
    assert translator.is_decoding.wait(10)
    with pytest.raises(NotReady):
        _ = batcher.translator
    translator.gate.set()
    until(lambda: batcher.state is WorkerState.READY)
    assert len(translator.decoded) == len(translator.directions)
    batcher.stop()


def test_a_model_that_cannot_be_loaded_is_reported_with_its_reason(until, caplog):
    failed = threading.Event()

    def load():
        raise ValueError("runs/none: no such directory")

    batcher = Batcher(load, queue_tokens=10, on_load_failure=failed.set)
    batcher.start()
    assert failed.wait(10)
    assert batcher.state is WorkerState.DIED
    assert "runs/none: no such directory" in caplog.text


def test_stopping_fails_what_waits_and_ends_the_thread(translator, batcher):
    async def run():
        first = await held(translator, batcher)
        waiting = asyncio.create_task(batcher.translate(prepared(translator, "late"), GREEDY))
        await asyncio.sleep(0.01)
        stopping = asyncio.create_task(asyncio.to_thread(batcher.stop))
        with pytest.raises(ShuttingDown):
            await waiting
        translator.gate.set()
        await stopping
        with pytest.raises(ShuttingDown):
            await first

    asyncio.run(run())
    assert "late" not in translator.decoded
    assert batcher._threads
    assert not any(thread.is_alive() for thread in batcher._threads)


def test_a_decoder_that_has_use_for_more_threads_gets_them_and_shares_the_work(translator, batcher, until):
    translator.decoder = SimpleNamespace(threads=3)

    async def run():
        await batcher.translate(prepared(translator, "the first to see it"), GREEDY)
        translator.forget()
        until(lambda: batcher._idle == 3)
        first = await held(translator, batcher)
        tasks = [
            asyncio.create_task(batcher.translate(prepared(translator, f"parcel {n}"), GREEDY))
            for n in range(8)
        ]
        await asyncio.to_thread(until, lambda: sum(map(len, translator.batches)) == 9)
        translator.gate.set()
        await asyncio.gather(first, *tasks)

    asyncio.run(run())
    assert [batch for batch in translator.batches if len(batch) > 1]
    assert len(translator.batches) == 3


def test_a_faster_decoder_is_taken_as_soon_as_it_is_there(translator, batcher):
    sessions = []
    session = translator.session

    def noted():
        sessions.append(translator.decoder)
        return session()

    translator.session = noted
    asyncio.run(batcher.translate(prepared(translator, "slow"), GREEDY))
    translator.decoder = SimpleNamespace(threads=1)
    asyncio.run(batcher.translate(prepared(translator, "fast"), GREEDY))
    assert sessions == [translator.decoder]


def test_the_event_loop_runs_while_the_model_works(translator, batcher):
    async def run():
        first = await held(translator, batcher)
        ticks = 0
        for _ in range(50):
            await asyncio.sleep(0.001)
            ticks += 1
        translator.gate.set()
        await first
        return ticks

    assert asyncio.run(run()) == 50
