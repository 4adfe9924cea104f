"""Equal sentences are decoded once, whoever asks and whoever leaves, and nobody gets another question's answer."""

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.search.options import DecodingOptions
from service.batcher import Batcher, WorkerState
from service.errors import QueueFull, TranslationFailed
from tests.service.conftest import UpperCase, wait_until

GREEDY = DecodingOptions(strategy="greedy")


@pytest.fixture
def make_batcher(until):
    batchers = []

    def make(translator, *, cache_sentences=0, queue_tokens=10_000) -> Batcher:
        batcher = Batcher(lambda: translator, queue_tokens=queue_tokens, cache_sentences=cache_sentences)
        batchers.append((batcher, translator))
        batcher.start()
        until(lambda: batcher.state is WorkerState.READY)
        translator.forget()
        return batcher

    yield make
    for batcher, translator in batchers:
        translator.gate.set()
        batcher.stop()


@pytest.fixture
def batcher(make_batcher, translator) -> Batcher:
    return make_batcher(translator)


def ask(translator, batcher, *texts, options=GREEDY, phrases=()):
    sentences = [translator.prepare(text, "en", "de", phrases) for text in texts]
    return asyncio.create_task(batcher.translate(sentences, options))


async def held(translator, batcher, *texts):
    """A request that the worker is now busy with, until the gate opens."""
    translator.is_decoding.clear()
    translator.gate.clear()
    task = ask(translator, batcher, *texts)
    await asyncio.to_thread(translator.is_decoding.wait, 10)
    return task


def said(answers):
    return [ranked[0].text for ranked in answers]


def test_who_asks_what_is_being_decoded_gets_the_same_answer(translator, batcher):
    async def run():
        first = await held(translator, batcher, "one", "two")
        second = ask(translator, batcher, "two", "three", "one")
        await asyncio.sleep(0.01)
        translator.gate.set()
        return said(await first), said(await second)

    assert asyncio.run(run()) == (["ONE", "TWO"], ["TWO", "THREE", "ONE"])
    assert sorted(translator.decoded) == ["one", "three", "two"]
    assert batcher.shared.spared == 2


def test_the_work_goes_on_when_the_first_who_asked_leaves(translator, batcher):
    async def run():
        first = await held(translator, batcher, "asked twice")
        second = ask(translator, batcher, "asked twice")
        await asyncio.sleep(0.01)
        first.cancel()
        await asyncio.sleep(0.01)
        translator.gate.set()
        return said(await second)

    assert asyncio.run(run()) == ["ASKED TWICE"]
    assert translator.decoded == ["asked twice"]


def test_it_goes_on_in_the_queue_too_and_what_nobody_else_asked_for_is_dropped(translator, batcher):
    async def run():
        busy = await held(translator, batcher, "busy")
        first = ask(translator, batcher, "alone", "both")
        second = ask(translator, batcher, "both")
        await asyncio.sleep(0.01)
        first.cancel()
        await asyncio.sleep(0.01)
        translator.gate.set()
        return said(await second), said(await busy)

    assert asyncio.run(run()) == (["BOTH"], ["BUSY"])
    assert translator.decoded == ["busy", "both"]
    assert batcher.queue.waiting_tokens == 0


def test_when_all_who_asked_have_left_it_is_dropped(translator, batcher):
    async def run():
        busy = await held(translator, batcher, "busy")
        leavers = [ask(translator, batcher, "gone", "gone", "left") for _ in range(5)]
        await asyncio.sleep(0.01)
        for leaver in leavers:
            leaver.cancel()
        await asyncio.gather(*leavers, return_exceptions=True)
        translator.gate.set()
        await busy
        await ask(translator, batcher, "next")

    asyncio.run(run())
    assert translator.decoded == ["busy", "next"]
    assert "0 sentences asked for" in repr(batcher.shared)


def test_nobody_waits_for_anothers_turn(make_batcher, translator):
    """The same sentence at the end of a long document, asked for alone, comes at its own turn."""
    translator.batch_tokens = 7
    batcher = make_batcher(translator)

    async def run():
        busy = await held(translator, batcher, "busy")
        document = ask(translator, batcher, *(f"line {n:02d}" for n in range(50)))
        await asyncio.sleep(0.01)
        alone = ask(translator, batcher, "line 49")
        await asyncio.sleep(0.01)
        translator.gate.set()
        await busy
        assert said(await alone) == ["LINE 49"]
        return said(await document)

    assert asyncio.run(run()) == [f"LINE {n:02d}" for n in range(50)]
    assert set(translator.decoded[:3]) == {"busy", "line 00", "line 49"}
    assert len(translator.decoded) == 51


def test_a_sentence_that_breaks_the_model_fails_all_who_asked_for_it_and_nobody_else(translator, batcher):
    async def run():
        busy = await held(translator, batcher, "busy")
        tasks = [ask(translator, batcher, *texts) for texts in (["BOOM"], ["BOOM", "fine"], ["fine"])]
        await asyncio.sleep(0.01)
        translator.gate.set()
        await busy
        outcomes = await asyncio.gather(*tasks, return_exceptions=True)
        with pytest.raises(TranslationFailed):  # and is not remembered
            await ask(translator, batcher, "BOOM")
        return outcomes

    one, two, three = asyncio.run(run())
    assert isinstance(one, TranslationFailed) and isinstance(two, TranslationFailed)
    assert said(three) == ["FINE"]


def test_what_is_in_work_may_be_asked_for_when_the_queue_is_full(make_batcher, translator):
    batcher = make_batcher(translator, queue_tokens=10)

    async def run():
        first = await held(translator, batcher, "first")
        waiting = ask(translator, batcher, "ten tokens")
        await asyncio.sleep(0.01)
        with pytest.raises(QueueFull):
            await ask(translator, batcher, "x")
        same = ask(translator, batcher, "first")
        await asyncio.sleep(0.01)
        translator.gate.set()
        await asyncio.gather(first, waiting, same)
        assert batcher.queue.waiting_tokens == 0
        return said(await ask(translator, batcher, "x"))

    assert asyncio.run(run()) == ["X"]


def test_an_answer_is_remembered_and_the_same_with_memory_as_without(make_batcher, translator):
    async def run(batcher):
        return [said(await ask(translator, batcher, "one", "two", "one")) for _ in range(3)]

    without = asyncio.run(run(make_batcher(translator)))
    assert translator.decoded == ["one", "two"] * 3
    assert asyncio.run(run(make_batcher(translator, cache_sentences=10))) == without
    assert translator.decoded == ["one", "two"]


@pytest.mark.parametrize(
    "other",
    [
        {"options": DecodingOptions(strategy="greedy", max_length=2)},
        {"options": DecodingOptions(strategy="sample", seed=1)},
        {"options": DecodingOptions(beam_size=3)},
        {"options": DecodingOptions(beam_size=3, n_best=2)},
        {"phrases": ("[X0X]",)},
    ],
    ids=["length", "seed", "beam", "n_best", "phrases"],
)
def test_another_question_has_another_answer(make_batcher, translator, monkeypatch, other):
    batcher = make_batcher(translator, cache_sentences=100)
    prepare = translator.prepare
    with_phrases = lambda text, source, target, phrases=(): (  # noqa: E731
        prepare(text, source, target).__class__(
            text, target, tuple(map(ord, text)), tuple(tuple(map(ord, one)) for one in phrases)
        )
    )
    monkeypatch.setattr(translator, "prepare", with_phrases)

    async def run():
        await ask(translator, batcher, "same")
        await ask(translator, batcher, "same", **other)
        await ask(translator, batcher, "same", **other)

    asyncio.run(run())
    assert translator.decoded == ["same", "same"]


def test_what_another_decoder_said_is_forgotten(make_batcher, translator):
    batcher = make_batcher(translator, cache_sentences=100)

    async def run():
        await ask(translator, batcher, "same")
        translator.decoder = SimpleNamespace(threads=1)
        await ask(translator, batcher, "same")
        await ask(translator, batcher, "same")

    asyncio.run(run())
    assert translator.decoded == ["same", "same"]


def test_what_is_remembered_is_bounded_in_hypotheses_and_the_longest_unasked_goes_first(
    make_batcher, translator
):
    batcher = make_batcher(translator, cache_sentences=4)
    three = DecodingOptions(beam_size=3, n_best=3)

    async def run():
        for text in ("a", "b", "c", "d", "a", "e"):
            await ask(translator, batcher, text)
        await ask(translator, batcher, "a")
        assert translator.decoded == ["a", "b", "c", "d", "e"]
        await ask(translator, batcher, "b")
        assert translator.decoded[5:] == ["b"]
        await ask(translator, batcher, "many", options=three)
        assert "4/4 hypotheses" in repr(batcher.shared)
        await ask(translator, batcher, "more", options=DecodingOptions(beam_size=5, n_best=5))
        assert "4/4 hypotheses" in repr(batcher.shared)

    asyncio.run(run())


@given(
    requests=st.lists(st.lists(st.sampled_from("abcdefgh"), min_size=1, max_size=6), max_size=12),
    leaves=st.lists(st.booleans(), min_size=12, max_size=12),
    memory=st.sampled_from([0, 3, 100]),
)
def test_whoever_stays_gets_all_answers_and_nothing_is_left_behind(requests, leaves, memory):
    """Against the oracle: every sentence on its own, in upper case."""
    translator: Any = UpperCase()
    translator.batch_tokens = 2
    batcher = Batcher(lambda: translator, queue_tokens=10_000, cache_sentences=memory)
    batcher.start()
    wait_until(lambda: batcher.state is WorkerState.READY)

    async def run():
        tasks = []
        for texts, is_leaving in zip(requests, leaves, strict=False):
            tasks.append(ask(translator, batcher, *texts))
            await asyncio.sleep(0)
            if is_leaving:
                tasks[-1].cancel()
        answers = await asyncio.gather(*tasks, return_exceptions=True)
        for texts, answer in zip(requests, answers, strict=True):
            if not isinstance(answer, asyncio.CancelledError):
                assert said(answer) == [text.upper() for text in texts]

    try:
        asyncio.run(run())
        assert batcher.queue.waiting_tokens == len(batcher.queue) == 0
        assert "0 sentences asked for" in repr(batcher.shared)
        assert len(batcher._unfinished) == 0
    finally:
        batcher.stop()
