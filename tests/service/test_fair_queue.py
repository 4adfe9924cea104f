"""The queue is bounded and takes turns."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.search.options import DecodingOptions
from model.sentence import Sentence
from service.errors import QueueFull, TooMuch
from service.fair_queue import FairQueue, Job

GREEDY = DecodingOptions(strategy="greedy")


@pytest.fixture
def job():
    loop = asyncio.new_event_loop()
    yield lambda lengths, options=GREEDY: make_job(loop, lengths, options)
    loop.close()


def make_job(loop, lengths, options=GREEDY) -> Job:
    sentences = [Sentence(f"s{place}", "de", tuple(range(length))) for place, length in enumerate(lengths)]
    return Job(sentences, options, loop.create_future())


def take(queue, count=1, accepts=lambda item: True):
    """The next so many, as a thread that has room for them takes them."""
    items = [queue.take(accepts) for _ in range(count)]
    return [item for item in items if item is not None]


def test_a_short_request_is_next_behind_a_long_document(job):
    queue = FairQueue(10_000)
    document, short = job([10] * 500), job([10])
    queue.add(document)
    take(queue, 4)
    queue.add(short)
    assert [item.job for item in take(queue, 2)] == [document, short]


def test_jobs_take_turns_sentence_by_sentence(job):
    queue = FairQueue(1000)
    first, second, third = job([5] * 3), job([5]), job([5] * 9)
    for each in (first, second, third):
        queue.add(each)
    assert [item.job for item in take(queue, 7)] == [first, second, third, first, third, first, third]
    assert [item.place for item in take(queue, 2)] == [3, 4]


def test_who_is_refused_keeps_the_place_while_those_behind_are_asked(job):
    queue = FairQueue(1000)
    wide, narrow = job([5] * 2, DecodingOptions(beam_size=9)), job([5] * 3)
    queue.add(wide)
    queue.add(narrow)
    is_narrow = lambda item: item.job.options == GREEDY  # noqa: E731
    assert [item.job for item in take(queue, 2, is_narrow)] == [narrow, narrow]
    assert [item.job for item in take(queue, 3)] == [wide, narrow, wide]
    assert queue.take(lambda item: True) is None


def test_what_nobody_has_room_for_stays_as_it_is(job):
    queue = FairQueue(1000)
    queue.add(job([5] * 3))
    assert queue.take(lambda item: False) is None
    assert (queue.sentences, queue.waiting_tokens) == (3, 15)


def test_a_full_queue_refuses_whole_jobs_and_what_never_fits_is_told_so(job):
    queue = FairQueue(100)
    queue.add(job([40, 40]))
    with pytest.raises(QueueFull):
        queue.add(job([21]))
    with pytest.raises(TooMuch, match=r"101 tokens.*100"):
        queue.add(job([101]))
    queue.add(job([20]))
    with pytest.raises(QueueFull):
        queue.refuse_when_full()
    assert repr(queue) == "<FairQueue 2 requests, 3 sentences, 100/100 tokens>"


def test_a_discarded_job_frees_its_room_and_is_never_taken(job):
    queue = FairQueue(100)
    gone, stays = job([40, 40]), job([20])
    queue.add(gone)
    queue.add(stays)
    queue.discard(gone)
    queue.discard(gone)
    assert queue.waiting_tokens == 20
    assert [item.job for item in take(queue, 3)] == [stays]


@given(st.lists(st.lists(st.integers(1, 30), min_size=1, max_size=8), max_size=8), st.randoms())
def test_every_sentence_is_taken_once_whoever_is_refused_on_the_way(shapes, random):
    loop = asyncio.new_event_loop()
    try:
        queue = FairQueue(1_000_000)
        jobs = [make_job(loop, lengths) for lengths in shapes]
        for each in jobs:
            queue.add(each)
        taken = []
        while queue:
            if item := queue.take(lambda item: random.random() < 0.5):
                taken.append((id(item.job), item.place))
        assert sorted(taken) == sorted(
            (id(each), place) for each in jobs for place in range(len(each.sentences))
        )
        assert queue.waiting_tokens == queue.sentences == 0
    finally:
        loop.close()
