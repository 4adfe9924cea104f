"""One worker for all: batched, bounded, fair, and alive whatever a sentence does."""

import asyncio
import contextlib
import threading
import time

import pytest

from model.search.options import DecodingOptions
from service.batcher import Batcher, WorkerState
from service.errors import NotReady, QueueFull, ShuttingDown, TranslationFailed, WorkerDied

GREEDY = DecodingOptions(strategy="greedy")


@pytest.fixture
def make_batcher(until):
    with contextlib.ExitStack() as stack:

        def make(translator, *, queue_tokens=10_000, batch_tokens=1000) -> Batcher:
            batcher = Batcher(lambda: translator, queue_tokens=queue_tokens, batch_tokens=batch_tokens)
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
    batcher = make_batcher(translator, batch_tokens=8)

    async def run():
        translator.gate.clear()
        task = asyncio.create_task(batcher.translate(prepared(translator, *["four"] * 100), GREEDY))
        await asyncio.to_thread(translator.is_decoding.wait, 10)
        task.cancel()
        await asyncio.sleep(0.01)
        translator.gate.set()
        with contextlib.suppress(asyncio.CancelledError):
            await task
        await batcher.translate(prepared(translator, "next"), GREEDY)

    translator.is_decoding.clear()
    asyncio.run(run())
    assert translator.decoded == ["four", "four", "next"]


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
    batcher = Batcher(lambda: translator, queue_tokens=10, batch_tokens=10)
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

    batcher = Batcher(load, queue_tokens=10, batch_tokens=10, on_load_failure=failed.set)
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
    assert not any(thread.name == "translator" and thread.is_alive() for thread in threading.enumerate())


def test_clients_that_ask_again_and_again_come_to_share_one_batch(translator, batcher, monkeypatch):
    decode = translator.translate

    started = threading.Event()

    def slowly(sentences, options):
        started.set()
        time.sleep(0.1)
        return decode(sentences, options)

    async def ask_again_and_again():
        for _ in range(6):
            await batcher.translate(prepared(translator, "again"), GREEDY)

    async def run():
        first = asyncio.create_task(ask_again_and_again())
        await asyncio.to_thread(started.wait, 10)  # now one client is served, and those to come wait
        await asyncio.gather(first, *(ask_again_and_again() for _ in range(7)))

    monkeypatch.setattr(translator, "translate", slowly)
    asyncio.run(run())
    sizes = [len(batch) for batch in translator.batches]
    assert (sizes[0], sum(sizes)) == (1, 48)
    assert sizes.count(8) >= 4


def test_a_lone_client_waits_for_nobody(translator, batcher, monkeypatch):
    monkeypatch.setattr("service.batcher._LINGER_SHARE", 1e6)

    async def run():
        for _ in range(5):
            await batcher.translate(prepared(translator, "alone"), GREEDY)

    asyncio.run(asyncio.wait_for(run(), 5))


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
