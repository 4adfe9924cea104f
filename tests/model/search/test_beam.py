"""Beam search against exhaustive search, and against itself with other widths, limits and neighbours."""

from dataclasses import replace
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from model.search import Found, SearchTask, beam_search, greedy_search
from model.search.beam import beam_rounds
from tests.model.search.tables import END, START, Table, exhaustive, plain_beam, score_of

PENALTIES = [-1.0, 0.0, 0.6, 1.0, 2.0]
ANY_TABLE = st.builds(
    lambda seed, V, depth, sharpness: Table.random(seed, V=V, depth=depth, sharpness=sharpness),
    seed=st.integers(0, 2**31),
    V=st.integers(2, 6),
    depth=st.integers(1, 4),
    sharpness=st.sampled_from([0.0625, 0.5, 1.0, 3.0]),
)


def task_for(*limits: int, **fields: Any) -> SearchTask:
    return SearchTask(start_id=START, eos_id=END, max_lengths=limits, **fields)


def search(table: Table, task: SearchTask, beam_size: int, n_best: int = 1) -> list[list[Found]]:
    return beam_search(table.step, table.start(), task, beam_size=beam_size, n_best=n_best)


def assert_same(found: list[Found], expected: list[Found]) -> None:
    assert [one.ids for one in found] == [one.ids for one in expected]
    assert [one.truncated for one in found] == [one.truncated for one in expected]
    assert [one.score for one in found] == pytest.approx([one.score for one in expected], abs=1e-5)


def assert_is_exhaustive(
    found: list[Found], table: Table, task: SearchTask, n: int, sentence: int = 0
) -> None:
    best = exhaustive(table, task, sentence)[:n]
    assert [one.score for one in found] == pytest.approx([score for score, _ in best], abs=2e-5)
    assert len({one.ids for one in found}) == len(found)
    for (
        one
    ) in found:  # two hypotheses of one score may come in any order, each with the score that is its own
        expected = score_of(table, one.ids, task.length_penalty, sentence)
        assert one.score == pytest.approx(expected, abs=2e-5)
        assert not one.truncated


# --- a beam wide enough loses nothing


@pytest.mark.parametrize("penalty", PENALTIES)
def test_a_wide_beam_equals_exhaustive_search_over_six_ids_and_lengths_to_six(penalty: float) -> None:
    table = Table.random(7, V=6, depth=6, sharpness=1.5)
    task = task_for(6, length_penalty=penalty)
    (found,) = search(table, task, beam_size=5**6 * 6, n_best=20)
    assert_is_exhaustive(found, table, task, 20)


@settings(max_examples=150)
@given(table=ANY_TABLE, penalty=st.sampled_from(PENALTIES), data=st.data())
def test_a_wide_beam_equals_exhaustive_search(table: Table, penalty: float, data: st.DataObject) -> None:
    task = task_for(
        data.draw(st.integers(1, table.depth), "limit"),
        length_penalty=penalty,
        banned_ids=data.draw(st.sampled_from([(), (START,)]), "banned") if table.vocabulary_size > 2 else (),
    )
    task = replace(task, min_length=data.draw(st.integers(0, task.max_lengths[0]), "min_length"))
    n_best = data.draw(st.just(1) | st.integers(1, 8), "n_best")
    # As wide as there are continuations: in a beam, an end counts only among the first W of them.
    (found,) = search(table, task, beam_size=table.vocabulary_size ** (table.depth + 1), n_best=n_best)
    assert_is_exhaustive(found, table, task, n_best)


@settings(max_examples=60)
@given(table=ANY_TABLE, penalty=st.sampled_from(PENALTIES), beam=st.integers(2, 5), n=st.integers(1, 5))
def test_a_narrow_beam_equals_the_algorithm_said_in_words(
    table: Table, penalty: float, beam: int, n: int
) -> None:
    """Nothing is lost at a reorder, takes a place after its end, or is missed by stopping early."""
    task = task_for(table.depth, length_penalty=penalty)
    (found,) = search(table, task, beam, min(n, beam))
    assert_same(found, plain_beam(table, task, beam, min(n, beam)))


@settings(max_examples=60)
@given(table=ANY_TABLE, beam=st.integers(2, 5), n=st.integers(1, 5), margin=st.floats(0, 3))
def test_what_is_further_behind_than_the_margin_is_given_up_but_for_the_n_best(
    table: Table, beam: int, n: int, margin: float
) -> None:
    task = task_for(table.depth, length_penalty=1.0, margin=margin)
    (found,) = search(table, task, beam, min(n, beam))
    assert_same(found, plain_beam(table, task, beam, min(n, beam)))


@settings(max_examples=60)
@given(table=ANY_TABLE, penalty=st.sampled_from(PENALTIES), beam=st.integers(2, 5), data=st.data())
def test_a_look_ahead_to_the_limit_is_exact_and_a_shorter_one_costs_fewer_steps(
    table: Table, penalty: float, beam: int, data: st.DataObject
) -> None:
    task = task_for(table.depth, length_penalty=penalty)
    far = replace(task, look_ahead=table.depth)
    near = replace(task, look_ahead=data.draw(st.integers(1, table.depth)))
    assert search(table, far, beam) == search(table, task, beam)
    exact, sooner = (
        list(beam_rounds(table.step, table.start(), one, beam_size=beam, n_best=1)) for one in (task, near)
    )
    assert len(sooner) <= len(exact)
    ((best,),), ((best_of_sooner,),) = search(table, task, beam), search(table, near, beam)
    assert best_of_sooner.score <= best.score


def test_the_best_case_is_the_likeliest_length_within_the_look_ahead() -> None:
    task = task_for(10, length_penalty=1.0)
    assert task.best_case(-6.0, 2, 10) == -6.0 / 11  # it could grow to the limit, and its end counts
    assert replace(task, look_ahead=1).best_case(-6.0, 2, 10) == -6.0 / 3  # the end comes next
    assert replace(task, look_ahead=3).best_case(-6.0, 2, 10) == -6.0 / 5
    assert replace(task, look_ahead=3).best_case(-6.0, 9, 10) == -6.0 / 11
    assert replace(task, length_penalty=-1.0).best_case(-6.0, 2, 10) == -6.0 * 3


# --- what holds for every width


@settings(max_examples=60)
@given(table=ANY_TABLE, penalty=st.sampled_from(PENALTIES), beam=st.integers(1, 6), data=st.data())
def test_hypotheses_are_legal_distinct_and_best_first(
    table: Table, penalty: float, beam: int, data: st.DataObject
) -> None:
    limit = data.draw(st.integers(1, table.depth))
    least = data.draw(st.integers(0, limit))
    banned = (START,) if table.vocabulary_size > 2 else ()
    task = task_for(limit, length_penalty=penalty, min_length=least, banned_ids=banned)
    (found,) = search(table, task, beam, n_best=beam)
    assert 1 <= len(found) <= beam
    assert len({one.ids for one in found}) == len(found)
    assert [one.score for one in found] == sorted((one.score for one in found), reverse=True)
    for one in found:
        assert END not in one.ids
        assert not set(banned) & set(one.ids)
        assert least <= len(one.ids) <= limit
        assert len(one.id_scores) == len(one.ids) + (not one.truncated)
        assert one.score == pytest.approx(
            sum(one.id_scores) / max(len(one.id_scores), 1) ** penalty, abs=1e-5
        )
        whole = [*one.ids, END][: len(one.id_scores)]
        expected = [table.row(whole[:place])[token] for place, token in enumerate(whole)]
        assert list(one.id_scores) == pytest.approx(expected, abs=1e-6)


@settings(max_examples=60)
@given(table=ANY_TABLE, penalty=st.sampled_from(PENALTIES), beam=st.integers(2, 5))
def test_asking_for_more_hypotheses_does_not_change_the_best(table: Table, penalty: float, beam: int) -> None:
    task = task_for(table.depth, length_penalty=penalty)
    (one,), (many,) = search(table, task, beam, 1), search(table, task, beam, beam)
    assert one == many[:1]


@settings(max_examples=60)
@given(table=ANY_TABLE, penalty=st.sampled_from(PENALTIES))
def test_a_beam_of_one_is_greedy_search(table: Table, penalty: float) -> None:
    task = task_for(table.depth, length_penalty=penalty)
    ids: list[int] = []
    while len(ids) <= table.depth:  # by hand: the likeliest id, until it is the end or the limit is reached
        row = table.row(ids)
        likeliest = row.index(max(row))
        if likeliest == END or len(ids) == table.depth:
            break
        ids.append(likeliest)
    ((found,),) = search(table, task, beam_size=1)
    assert found.ids == tuple(ids)
    assert found.truncated == (likeliest != END)
    assert found == greedy_search(table.step, table.start(), task)[0]
    if not found.truncated:
        assert found.score == pytest.approx(score_of(table, ids, penalty), abs=1e-5)


@settings(max_examples=40)
@given(
    seed=st.integers(0, 2**31),
    beam=st.integers(1, 5),
    penalty=st.sampled_from(PENALTIES),
    limits=st.lists(st.integers(1, 4), min_size=2, max_size=6),
)
def test_a_sentence_finds_the_same_alone_and_among_others(
    seed: int, beam: int, penalty: float, limits: list[int]
) -> None:
    """Also: each sentence has its own length limit, whatever the longest in the batch may have."""
    table = Table.random(seed, V=5, depth=4, sentences=len(limits))
    together = search(table, task_for(*limits, length_penalty=penalty), beam, beam)
    for sentence, limit in enumerate(limits):
        (alone,) = search(table.only(sentence), task_for(limit, length_penalty=penalty), beam, beam)
        assert_same(together[sentence], alone)


def test_a_wide_beam_is_exhaustive_for_each_sentence_of_a_batch() -> None:
    table = Table.random(3, V=4, depth=4, sentences=4)
    task = task_for(1, 4, 2, 3, length_penalty=0.6, min_length=1)
    for sentence, found in enumerate(search(table, task, beam_size=4**5, n_best=5)):
        assert_is_exhaustive(found, table, task, 5, sentence)


# --- made-up cases

A, B, C = 2, 3, 4


def test_a_longer_better_hypothesis_wins_over_one_that_ends_early() -> None:
    """The short one has the larger sum; normalised by length, the long one is better."""
    table = Table.of(5, 4, {(): {END: 0.4, A: 0.6}, (A,): {B: 0.7, C: 0.3}, (A, B): {C: 0.8, END: 0.2}})
    ((best,),) = search(table, task_for(4, length_penalty=1.0), beam_size=3)
    assert best.ids == (A, B, C)
    ((best,),) = search(table, task_for(4, length_penalty=0.0), beam_size=3)
    assert best.ids == ()


def test_a_negative_penalty_does_not_stop_before_the_better_hypothesis_ends() -> None:
    """It punishes length: −1.20 × 1 for the short one, but only −0.52 × 2 for the next; −0.46 × 3 would be worse."""
    table = Table.of(4, 6, {(): {END: 0.3, A: 0.63, B: 0.07}, (A,): {END: 0.94, A: 0.06}})
    ((best,),) = search(table, task_for(6, length_penalty=-1.0), beam_size=3)
    assert best.ids == (A,)


def test_a_finished_hypothesis_takes_no_place_of_one_that_goes_on() -> None:
    """Two hypotheses end at once in a beam of two; the third candidate still gets to go on and win."""
    table = Table.of(5, 3, {(): {A: 0.51, B: 0.49}, (A,): {END: 0.7, C: 0.3}, (B,): {END: 0.7, C: 0.3}})
    (found,) = search(table, task_for(3, length_penalty=3.0), beam_size=2, n_best=2)
    assert [one.ids for one in found] == [(A, C), (B, C)]


def test_fewer_hypotheses_come_back_rather_than_the_same_one_twice() -> None:
    table = Table.of(5, 4, {(): {A: 0.5, B: 0.5}})
    (found,) = search(table, task_for(4), beam_size=5, n_best=5)
    assert {one.ids for one in found} == {(A,), (B,)}


def test_what_the_limit_cuts_says_so() -> None:
    endless = Table.of(3, 4, {(A,) * length: {A: 0.9, END: 0.1} for length in range(5)})
    ((cut,),) = search(endless, task_for(4), beam_size=1)
    assert cut.truncated
    assert cut.ids == (A,) * 4
    assert len(cut.id_scores) == 4
    ends_at_three = Table.of(3, 4, {(A,) * length: {A: 1.0} for length in range(3)})
    for beam in (1, 3):
        ((whole,),) = search(ends_at_three, task_for(3), beam)  # exactly at the limit
        assert not whole.truncated
        assert whole.ids == (A,) * 3
        ((cut,),) = search(ends_at_three, task_for(2), beam)
        assert cut.truncated
        assert cut.ids == (A,) * 2


def test_every_cut_hypothesis_of_a_beam_says_so() -> None:
    endless = Table.of(4, 3, {ids: {A: 0.6, B: 0.4} for ids in words(3)})
    (found,) = search(endless, task_for(3), beam_size=3, n_best=3)
    assert [one.truncated for one in found] == [True] * 3
    assert len({one.ids for one in found}) == 3


def words(longest: int) -> list[tuple[int, ...]]:
    level: list[tuple[int, ...]] = [()]
    result = list(level)
    for _ in range(longest):
        level = [(*ids, token) for ids in level for token in (A, B)]
        result += level
    return result


def test_the_end_is_not_taken_before_the_minimum_length() -> None:
    table = Table.of(4, 4, {ids: {END: 0.9, A: 0.06, B: 0.04} for ids in words(4)})
    for beam in (1, 4):
        ((best,),) = search(table, task_for(4, min_length=3), beam)
        assert best.ids == (A, A, A)


def test_banned_ids_never_come_however_likely() -> None:
    table = Table.of(5, 2, {(): {A: 0.9, B: 0.1}, (B,): {A: 0.5, C: 0.5}})
    for beam in (1, 4):
        ((best,),) = search(table, task_for(2, banned_ids=(A,)), beam)
        assert best.ids == (B, C)


def test_the_search_stops_as_soon_as_nothing_better_can_come() -> None:
    """With a sure end the first step decides; without that stop it would go on to the limit."""
    steps = 0
    table = Table.random(1, V=4, depth=5)
    table.log_probs_BPV[:, 0] = torch.tensor([0.001, 0.997, 0.001, 0.001]).log()

    def step(tokens: torch.Tensor, state: Any) -> tuple[torch.Tensor, Any]:
        nonlocal steps
        steps += 1
        return table.step(tokens, state)

    (found,) = beam_search(step, table.start(), task_for(5), beam_size=3, n_best=1)
    assert found[0].ids == ()
    assert steps == 1


def test_a_search_for_no_sentence_finds_nothing() -> None:
    table = Table(torch.zeros(0, 1, 3), 0)
    assert search(table, task_for(), beam_size=3) == []
    assert search(table, task_for(), beam_size=1) == []
