"""The session finds what model/search finds, whenever its sentences join and leave."""

from math import inf
from random import Random
from typing import Any

import pytest
import torch
from torch import Tensor

from model.decoding import padded
from model.native.session import NativeSession, Request
from model.search import Found, SearchTask, beam_search, greedy_search
from model.transformer import Transformer
from tests.model.native.models import native, transformer

BANNED = [0, 1, 2]
START, END = 2, 3


def sources(count: int, seed: int) -> list[list[int]]:
    random = Random(seed)
    return [[*random.choices(range(4, 101), k=random.randint(1, 12)), END] for _ in range(count)]


def wanted(model: Transformer, source: list[int], beam_size: int, n_best: int, **task: Any) -> list[Found]:
    """By the search in Python, over PyTorch."""

    def step(tokens_N: Tensor, state: Any) -> tuple[Tensor, Any]:
        logits_NV, state = model.step(tokens_N, state)
        return logits_NV.log_softmax(dim=-1), state

    limits = SearchTask(
        start_id=START,
        eos_id=END,
        max_lengths=[task["max_length"]],
        min_length=task["min_length"],
        length_penalty=task["length_penalty"],
        look_ahead=task.get("look_ahead"),
        margin=task.get("margin", inf),
        banned_ids=BANNED,
        sources=[source],
    )
    with torch.inference_mode():
        state = model.start(padded([source], 0))
        if beam_size == 1:
            return greedy_search(step, state, limits)
        return beam_search(step, state, limits, beam_size=beam_size, n_best=n_best)[0]


def same(got: list[Found], wanted: list[Found]) -> bool:
    return [(one.ids, one.truncated) for one in got] == [(one.ids, one.truncated) for one in wanted] and all(
        a.score == pytest.approx(b.score, rel=1e-5, abs=1e-4)
        and a.id_scores == pytest.approx(b.id_scores, abs=1e-4)
        for a, b in zip(got, wanted, strict=True)
    )


def session_of(model: Transformer) -> NativeSession:
    return NativeSession(native(model), start_id=START, eos_id=END, banned_ids=BANNED)


@pytest.mark.parametrize("beam_size", [1, 2, 5])
@pytest.mark.parametrize("length_penalty", [-1.0, 0.0, 1.0, 2.0])
@pytest.mark.parametrize("min_length, max_length", [(0, 15), (4, 6), (0, 0), (0, 40)])
def test_a_sentence_alone_is_found_as_in_python(
    beam_size: int, length_penalty: float, min_length: int, max_length: int
) -> None:
    model, n_best = transformer(), max(1, beam_size - 1)
    task = dict(min_length=min_length, max_length=max_length, length_penalty=length_penalty)
    session = session_of(model)
    for place, source in enumerate(sources(4, seed=beam_size)):
        session.add([Request(place, source, beam_size, n_best, length_penalty, min_length, max_length)])
        [(name, found)] = session.advance(1000)
        assert name == place
        assert session.rows == 0
        assert same(found, wanted(model, source, beam_size, n_best, **task))


@pytest.mark.parametrize("beam_size, n_best", [(2, 1), (5, 1), (5, 3)])
@pytest.mark.parametrize("look_ahead", [None, 1, 4])
@pytest.mark.parametrize("margin", [0.0, 0.3, 1.0, inf])
def test_hypotheses_are_given_up_as_in_python(
    beam_size: int, n_best: int, look_ahead: int | None, margin: float
) -> None:
    model = transformer()
    task = dict(min_length=0, max_length=25, length_penalty=1.0, look_ahead=look_ahead, margin=margin)
    session = session_of(model)
    for place, source in enumerate(sources(6, seed=beam_size)):
        session.add([Request(place, source, beam_size, n_best, 1.0, 0, 25, look_ahead, margin)])
        [(_, found)] = session.advance(1000)
        assert same(found, wanted(model, source, beam_size, n_best, **task))


@pytest.mark.parametrize("seed", range(4))
def test_sentences_that_join_and_leave_at_any_time_do_not_change_each_other(seed: int) -> None:
    model, random = transformer(), Random(seed)
    session = session_of(model)
    answers: dict[int, list[Found]] = {}
    waiting = [
        Request(
            place, source, random.choice((1, 3, 5)), 1, random.choice((0.0, 1.0)), 0, random.randint(3, 30)
        )
        for place, source in enumerate(sources(24, seed))
    ]
    requests = list(waiting)
    while waiting or session.rows:
        joining = [waiting.pop() for _ in range(random.randint(0, min(5, len(waiting))))]
        if joining:
            session.add(joining)
        answers.update(session.advance(random.randint(1, 4)))
    for one in requests:
        task = dict(min_length=0, max_length=one.max_length, length_penalty=one.length_penalty)
        assert same(answers[one.name], wanted(model, list(one.source), one.beam_size, 1, **task))


def test_a_sentence_that_is_dropped_gives_no_answer_and_leaves_the_others_alone() -> None:
    model = transformer()
    first, second = sources(2, seed=8)
    session = session_of(model)
    session.add([Request(1, first, 3, 1, 1.0, 0, 20), Request(2, second, 3, 1, 1.0, 0, 20)])
    session.advance(2)
    session.drop(1)
    answers = dict(session.advance(1000))
    assert list(answers) == [2]
    assert same(answers[2], wanted(model, second, 3, 1, min_length=0, max_length=20, length_penalty=1.0))
    assert session.advance(10) == []


def test_loops_are_cut_as_in_python() -> None:
    model = transformer()
    model.output_VD[3] = 0  # it hardly ever ends
    for source in ([5, 5, 5, 5, 5, 5, 5, END], [7, 8, 9, END]):
        for beam_size in (1, 4):
            session = session_of(model)
            session.add([Request(0, source, beam_size, 1, 1.0, 0, 60)])
            [(_, found)] = session.advance(1000)
            task = dict(min_length=0, max_length=60, length_penalty=1.0)
            assert same(found, wanted(model, source, beam_size, 1, **task))
