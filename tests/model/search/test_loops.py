"""The loop guard: stops loops, leaves doubling alone, costs little."""

import time
from itertools import pairwise

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from model.search import SearchTask, beam_search, greedy_search
from model.search.loops import FREE_REPEATS, LONGEST_LOOP, LoopGuard, repeats
from tests.model.search.tables import END, START, Table, is_loop, longest_run, plain_beam

SO, NO, NEIN, COMMA, POINT, ZERO, TWO = range(10, 17)
V = 20
UNLIKELY = torch.tensor(1e-6).log()


class Wish:
    """A model that wants one sequence and would rather go on with anything than do without it."""

    def __init__(self, wanted: list[int]) -> None:
        self.wanted = wanted

    def step(self, tokens_N: torch.Tensor, length: "Length") -> tuple[torch.Tensor, "Length"]:
        next_id = self.wanted[length.value] if length.value < len(self.wanted) else END
        scores = torch.full((len(tokens_N), V), -10.0)
        scores[:, END], scores[:, next_id] = -5.0, 5.0
        return scores.log_softmax(dim=-1), Length(length.value + 1)


class Length:
    def __init__(self, value: int = 0) -> None:
        self.value = value

    def select(self, rows_BW: torch.Tensor) -> "Length":
        return self


def decoded(source: list[int], wanted: list[int], beam_size: int = 1) -> tuple[int, ...]:
    task = SearchTask(start_id=START, eos_id=END, max_lengths=[60], sources=[source])
    return beam_search(Wish(wanted).step, Length(), task, beam_size=beam_size, n_best=1)[0][0].ids


@pytest.mark.parametrize("beam_size", [1, 4])
@pytest.mark.parametrize(
    "phrase", [[SO], [SO, COMMA], [SO, NO, NEIN, COMMA], list(range(4, 4 + LONGEST_LOOP))]
)
def test_a_phrase_that_will_not_stop_is_stopped(phrase: list[int], beam_size: int) -> None:
    ids = decoded([SO], phrase * 30, beam_size)
    assert longest_run(ids, len(phrase)) <= FREE_REPEATS
    assert len(ids) < 60


@pytest.mark.parametrize("beam_size", [1, 4])
@pytest.mark.parametrize(
    ("source", "target"),
    [
        ([NO, COMMA, NO, COMMA, NO], [NEIN, COMMA, NEIN, COMMA, NEIN]),
        ([NO, NO, NO], [NEIN, NEIN, NEIN]),
        ([NO] * 7, [NEIN] * 7),
        ([NO, COMMA] * 6, [NEIN, COMMA] * 6),
        ([TWO, SO], [TWO, POINT, ZERO, ZERO, ZERO, POINT, ZERO, ZERO, ZERO]),  # two million: 2.000.000
        ([TWO, *[ZERO] * 9], [TWO, *[ZERO] * 9]),
    ],
)
def test_real_doubling_is_left_alone(source: list[int], target: list[int], beam_size: int) -> None:
    assert decoded(source, target, beam_size) == tuple(target)


def test_the_next_hypothesis_is_tried_where_a_loop_is_stopped() -> None:
    allowed = (2,) * FREE_REPEATS
    table = Table.of(
        6, 7, {(2,) * n: {2: 0.9, 3: 0.06, END: 0.04} for n in range(7)} | {(*allowed, 3): {4: 1.0}}
    )
    task = SearchTask(start_id=START, eos_id=END, max_lengths=[7], sources=[[5]])
    assert greedy_search(table.step, table.start(), task)[0].ids[: FREE_REPEATS + 2] == (*allowed, 3, 4)


SHORT = st.lists(st.integers(4, 6), max_size=24)


@given(source=SHORT, n=st.integers(1, LONGEST_LOOP))
def test_repeats_are_counted_as_the_slow_way_counts_them(source: list[int], n: int) -> None:
    assert repeats(source, n) == longest_run(source, n)


@given(source=SHORT, ids=st.lists(st.integers(4, 6), max_size=40))
def test_an_id_is_forbidden_just_when_it_completes_one_repetition_too_many(
    source: list[int], ids: list[int]
) -> None:
    """The whole guard against the slow way, id by id; ids that it forbids are not taken."""
    guard = LoopGuard.for_sources([source])
    taken: tuple[int, ...] = ()
    for token in ids:
        is_free = guard.forbid(torch.zeros(1, V)).isfinite()[0].tolist()
        for candidate in (4, 5, 6):
            assert is_free[candidate] == (not is_loop((*taken, candidate), source))
        if is_free[token]:
            taken = (*taken, token)
            guard = guard.extend(torch.tensor([token]))


@settings(max_examples=60)
@given(
    seed=st.integers(0, 2**31), beam=st.integers(2, 6), source=st.lists(st.sampled_from([0, 2]), max_size=8)
)
def test_every_hypothesis_of_a_beam_is_guarded_by_what_it_has_said_itself(
    seed: int, beam: int, source: list[int]
) -> None:
    """Three ids and lengths to seven: much repeats. The guard has to follow every reorder of the beam."""
    table = Table.random(seed, V=3, depth=7)
    table.log_probs_BPV[:, :, END] -= 3  # goes on rather than ends
    task = SearchTask(start_id=START, eos_id=END, max_lengths=[7], sources=[source])
    (found,) = beam_search(table.step, table.start(), task, beam_size=beam, n_best=beam)
    expected = plain_beam(table, task, beam, beam)
    assert [one.ids for one in found] == [one.ids for one in expected]


def test_rows_are_guarded_each_by_its_own_source_and_past() -> None:
    guard = LoopGuard.for_sources([[SO], [NO] * 6])
    for _ in range(FREE_REPEATS):
        guard = guard.extend(torch.tensor([NEIN, NEIN]))
    is_free = guard.forbid(torch.zeros(2, V)).isfinite()
    assert is_free[:, NEIN].tolist() == [False, True]
    swapped = guard.select(torch.tensor([1, 0, 0])).forbid(torch.zeros(3, V)).isfinite()
    assert swapped[:, NEIN].tolist() == [True, False, False]


def test_the_guard_costs_the_same_however_long_the_output_is() -> None:
    """Its memory of a row is fixed; guards that look back over the whole output grow with its square."""
    guard = LoopGuard.for_sources([[SO, NO]] * 64)
    log_probs, seconds = torch.zeros(64, 1000), []
    shapes = set()
    for number in range(600):
        started = time.perf_counter()
        guard.forbid(log_probs)
        guard = guard.extend(torch.full((64,), number % 50))
        seconds.append(time.perf_counter() - started)
        shapes.add((guard.ids_NP.shape, guard.runs_NP.shape, guard.limits_NP.shape))
    assert len(shapes) == 1
    quickest = [min(seconds[start : start + 100]) for start in range(0, 600, 100)]
    assert all(later < 4 * earlier for earlier, later in pairwise(quickest))
