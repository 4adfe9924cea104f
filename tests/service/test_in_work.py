"""Short requests go first, long ones go on, and a lane that fails leaves the other alone."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest

from model.search.options import DecodingOptions
from model.sentence import Sentence
from service.fair_queue import Item, Job
from service.in_work import LONGEST_REST, MANY, InWork
from tests.service.conftest import LoudSession, UpperCase

GREEDY = DecodingOptions(strategy="greedy")


class StepByStep(LoudSession):
    """A sentence is done after as many turns as it has letters."""

    def advance(self) -> list[Any]:
        self.turns = getattr(self, "turns", dict[int, int]())
        for work in self.works:
            self.turns[work.name] = self.turns.get(work.name, 0) + 1
        done = [work for work in self.works if self.turns[work.name] == len(work.sentence.text)]
        if any("boom" in work.sentence.text for work in done):
            raise RuntimeError("broken")
        for work in done:
            self.drop(work.name)
        return [(work.name, self.translator.hypotheses(work.sentence.text, work.options)) for work in done]


class Steps(UpperCase):
    def session(self) -> StepByStep:
        return StepByStep(self)


@pytest.fixture
def work() -> InWork:
    translator: Any = Steps()
    return InWork(translator)


@pytest.fixture
def job() -> Iterator[Any]:
    loop = asyncio.new_event_loop()
    yield lambda *texts: Job(
        [Sentence(text, "de", tuple(map(ord, text))) for text in texts], GREEDY, loop.create_future()
    )
    loop.close()


def add(work: InWork, job: Job) -> None:
    for place in range(len(job.sentences)):
        work.add(Item(job, place))


def turn(work: InWork) -> list[str]:
    return [item.sentence.text for item, _ in work.advance()]


def test_a_short_request_is_done_first_whatever_long_one_is_in_work(work: InWork, job: Any) -> None:
    add(work, job(*(["long line"] * (MANY + 1))))
    assert turn(work) == []
    add(work, job("abc"))
    assert [turn(work) for _ in range(3)] == [[], [], ["abc"]]
    assert [len(turn(work)) for _ in range(8)] == [0, 0, 0, 0, 0, 0, 0, MANY + 1]


def test_short_requests_that_never_end_do_not_keep_a_long_one_from_its_end(work: InWork, job: Any) -> None:
    add(work, job(*(["abcd"] * (MANY + 1))))
    turns = 0
    while "abcd" not in turn(work):
        add(work, job("x"))
        turns += 1
        assert turns <= 4 * (LONGEST_REST + 1)


def test_a_lane_that_fails_gives_up_its_own_sentences_only(work: InWork, job: Any) -> None:
    add(work, job(*(["abc"] * (MANY + 1))))
    broken = job("boom")
    add(work, broken)
    with pytest.raises(RuntimeError):
        for _ in range(5):
            turn(work)
    assert [item.job for item in work.start_afresh()] == [broken]
    assert len(work) == MANY + 1
    assert [len(turn(work)) for _ in range(3)] == [0, 0, MANY + 1]


def test_a_long_request_begins_few_sentences_a_turn_and_a_short_one_has_room_beside_it(
    work: InWork, job: Any
) -> None:
    document = job(*(["x" * 10] * 100))
    places = iter(range(100))

    def begin() -> int:
        before = len(work)
        while work.takes(Item(document, 99)):
            work.add(Item(document, next(places)))
        return len(work) - before

    assert begin() == MANY
    assert work.takes(Item(job("short"), 0))
    turn(work)
    assert begin() == MANY
    add(work, job("ab"))
    turn(work)
    assert begin() == 0, "it rests"
