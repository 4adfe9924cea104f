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


def test_a_short_request_is_in_the_next_batch_behind_a_long_document(job):
    queue = FairQueue(10_000)
    document, short = job([10] * 500), job([10])
    queue.add(document)
    queue.take(40)
    queue.add(short)
    assert short in {item.job for item in queue.take(40)}


def test_jobs_take_turns_sentence_by_sentence(job):
    queue = FairQueue(1000)
    first, second, third = job([5] * 3), job([5]), job([5] * 9)
    for each in (first, second, third):
        queue.add(each)
    assert [item.job for item in queue.take(35)] == [first, second, third, first, third, first, third]


def test_a_batch_has_equal_options_and_the_others_come_next(job):
    queue = FairQueue(1000)
    greedy, beam, more = job([5]), job([5], DecodingOptions(beam_size=2)), job([5])
    for each in (greedy, beam, more):
        queue.add(each)
    assert [item.job for item in queue.take(1000)] == [greedy, more]
    assert [item.job for item in queue.take(1000)] == [beam]
    assert queue.take(1000) == []


def test_unequal_options_cannot_starve_each_other(job):
    queue = FairQueue(10_000)
    long_greedy, long_beam = job([10] * 100), job([10] * 100, DecodingOptions(beam_size=2))
    queue.add(long_greedy)
    queue.add(long_beam)
    deciders = [queue.take(40)[0].job for _ in range(6)]
    assert deciders == [long_greedy, long_beam] * 3


def test_a_beam_counts_as_often_as_it_is_wide(job):
    queue = FairQueue(1000)
    queue.add(job([10] * 20, DecodingOptions(beam_size=5)))
    assert len(queue.take(100)) == 2


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
    assert [item.job for item in queue.take(100)] == [stays]


@given(
    st.lists(
        st.tuples(st.lists(st.integers(1, 30), min_size=1, max_size=8), st.sampled_from([1, 2, 5])),
        max_size=8,
    ),
    st.integers(1, 200),
)
def test_every_sentence_is_taken_once_and_batches_keep_their_bound(shapes, batch_tokens):
    loop = asyncio.new_event_loop()
    try:
        queue = FairQueue(1_000_000)
        jobs = [make_job(loop, lengths, DecodingOptions(beam_size=width)) for lengths, width in shapes]
        for each in jobs:
            queue.add(each)
        taken = []
        while batch := queue.take(batch_tokens):
            widths = {item.job.options.beam_size for item in batch}
            assert len(widths) == 1
            padded = max(len(item.sentence.ids) for item in batch) * len(batch) * widths.pop()
            assert padded <= batch_tokens or len(batch) == 1
            taken += [(id(item.job), item.place) for item in batch]
        assert sorted(taken) == sorted(
            (id(each), place) for each in jobs for place in range(len(each.sentences))
        )
        assert queue.waiting_tokens == 0 and len(queue) == 0
    finally:
        loop.close()
