"""Greedy search and sampling: one id at a time, from the distribution that was asked for."""

from collections import Counter
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from model.search import Found, SearchTask, greedy_search, sample
from model.search.walk import narrowed
from tests.model.search.tables import END, START, Table, score_of

A, B, C = 2, 3, 4
SEEDS = st.integers(0, 2**31)


def task_for(*limits: int, **fields: Any) -> SearchTask:
    return SearchTask(start_id=START, eos_id=END, max_lengths=limits, **fields)


def repeated(table: Table, count: int) -> Table:
    return Table(table.log_probs_BPV.expand(count, -1, -1), table.depth)


def draw(
    table: Table,
    task: SearchTask,
    seeds: list[int],
    *,
    temperature: float = 1.0,
    top_k: int = 0,
    top_p: float = 1.0,
) -> list[Found]:
    return sample(
        table.step, table.start(), task, seeds=seeds, temperature=temperature, top_k=top_k, top_p=top_p
    )


def first_ids(probabilities: list[float], count: int, **narrowing: Any) -> Counter[int]:
    """How often each id comes first in `count` draws from a table with these probabilities."""
    table = Table.of(len(probabilities), 1, {(): dict(enumerate(probabilities))})
    task = task_for(*[1] * count)
    found = draw(repeated(table, count), task, list(range(count)), **narrowing)
    return Counter(one.ids[0] if one.ids else END for one in found)


def assert_drawn_from(counts: Counter[int], probabilities: list[float]) -> None:
    """Pearson's χ²: beyond this bound with a chance of less than one in a million for four cells."""
    total = counts.total()
    assert {token for token in counts if probabilities[token] == 0} == set()
    cells = [(counts[token], total * p) for token, p in enumerate(probabilities) if p > 0]
    assert sum((seen - expected) ** 2 / expected for seen, expected in cells) < 32


# --- greedy


@settings(max_examples=60)
@given(seed=SEEDS, V=st.integers(2, 6), limits=st.lists(st.integers(1, 4), min_size=1, max_size=5))
def test_greedy_search_takes_the_likeliest_id_at_each_step(seed: int, V: int, limits: list[int]) -> None:
    table = Table.random(seed, V=V, depth=4, sentences=len(limits))
    found = greedy_search(table.step, table.start(), task_for(*limits, length_penalty=0.6))
    for sentence, (one, limit) in enumerate(zip(found, limits, strict=True)):
        ids: list[int] = []
        while True:
            row = table.row(ids, sentence)
            likeliest = row.index(max(row))
            if likeliest == END or len(ids) == limit:
                break
            ids.append(likeliest)
        assert one.ids == tuple(ids)
        assert one.truncated == (likeliest != END)
        if not one.truncated:
            assert one.score == pytest.approx(score_of(table, ids, 0.6, sentence), abs=1e-5)


def test_greedy_search_keeps_to_minimum_length_and_ban() -> None:
    table = Table.of(5, 3, {ids: {END: 0.6, A: 0.3, B: 0.1} for ids in [(), (B,), (B, B), (B, B, B)]})
    (found,) = greedy_search(table.step, table.start(), task_for(3, min_length=2, banned_ids=(A, START)))
    assert found.ids == (B, B)
    assert not found.truncated


# --- sampling


def test_samples_follow_the_models_distribution() -> None:
    probabilities = [0.1, 0.4, 0.2, 0.3]
    assert_drawn_from(first_ids(probabilities, 4000), probabilities)


def test_whole_sequences_follow_the_models_distribution() -> None:
    count = 4000
    table = Table.of(4, 2, {(): {END: 0.3, A: 0.7}, (A,): {END: 0.5, B: 0.5}})
    found = draw(repeated(table, count), task_for(*[2] * count), list(range(count)))
    counts = Counter(len(one.ids) for one in found)
    assert_drawn_from(counts, [0.3, 0.35, 0.35])
    assert {one.ids for one in found} == {(), (A,), (A, B)}


@pytest.mark.parametrize("temperature", [0.5, 2.0])
def test_temperature_raises_probabilities_to_its_inverse(temperature: float) -> None:
    probabilities = [0.1, 0.4, 0.2, 0.3]
    powers = [p ** (1 / temperature) for p in probabilities]
    expected = [power / sum(powers) for power in powers]
    assert_drawn_from(first_ids(probabilities, 4000, temperature=temperature), expected)


def test_top_k_keeps_the_likeliest_in_their_proportions() -> None:
    counts = first_ids([0.1, 0.4, 0.2, 0.3], 4000, top_k=2)
    assert_drawn_from(counts, [0, 4 / 7, 0, 3 / 7])


def test_top_p_keeps_the_fewest_that_reach_it() -> None:
    probabilities = [0.1, 0.4, 0.2, 0.3]
    assert_drawn_from(first_ids(probabilities, 4000, top_p=0.69), [0, 4 / 7, 0, 3 / 7])
    assert_drawn_from(first_ids(probabilities, 4000, top_p=0.75), [0, 4 / 9, 2 / 9, 3 / 9])
    assert set(first_ids(probabilities, 50, top_p=1e-9)) == {1}  # the likeliest always stays


@settings(max_examples=60)
@given(seed=SEEDS, V=st.integers(2, 9), top_k=st.integers(0, 9), top_p=st.floats(0.01, 1.0))
def test_what_narrowing_leaves_is_a_distribution_in_the_same_order(
    seed: int, V: int, top_k: int, top_p: float
) -> None:
    torch.manual_seed(seed)
    scores = 3 * torch.randn(4, V)
    narrow = narrowed(scores, top_k=top_k, top_p=top_p)
    torch.testing.assert_close(narrow.sum(dim=1), torch.ones(4))
    assert ((narrow > 0).sum(dim=1) <= (top_k or V)).all()
    for row, kept in zip(scores.softmax(dim=1), narrow, strict=True):
        left_out = row[kept == 0]
        assert row[kept > 0].min() >= (left_out.max() if len(left_out) else 0)
        if not top_k:  # what stays reaches top_p, and would not without its least likely id
            assert row[kept > 0].sum() >= top_p - 1e-5
            assert top_p == 1 or row[kept > 0].sum() - row[kept > 0].min() < top_p + 1e-5


@settings(max_examples=40)
@given(seed=SEEDS, limit=st.integers(1, 4))
def test_the_likeliest_alone_is_greedy_search(seed: int, limit: int) -> None:
    table = Table.random(seed, V=5, depth=4, sentences=3)
    task = task_for(limit, limit, limit, length_penalty=0.5)
    greedy = greedy_search(table.step, table.start(), task)
    assert draw(table, task, [seed, 1, 2], top_k=1) == greedy
    assert draw(table, task, [seed, 1, 2], temperature=1e-4) == greedy


@settings(max_examples=40)
@given(seeds=st.lists(SEEDS, min_size=1, max_size=5), limit=st.integers(1, 4))
def test_a_draw_depends_on_its_own_seed_alone(seeds: list[int], limit: int) -> None:
    table = Table.random(seeds[0], V=5, depth=4, sentences=len(seeds))
    together = draw(table, task_for(*[limit] * len(seeds)), seeds)
    assert together == draw(table, task_for(*[limit] * len(seeds)), seeds)
    for sentence, seed in enumerate(seeds):
        assert draw(table.only(sentence), task_for(limit), [seed]) == [together[sentence]]


def test_other_seeds_draw_other_hypotheses() -> None:
    table = repeated(Table.random(0, V=6, depth=4), 50)
    assert len(set(draw(table, task_for(*[4] * 50), list(range(50))))) > 20


@settings(max_examples=40)
@given(seed=SEEDS, temperature=st.sampled_from([0.5, 1.0, 3.0]), top_p=st.sampled_from([0.5, 1.0]))
def test_a_sample_has_the_score_that_the_model_gives_it(seed: int, temperature: float, top_p: float) -> None:
    """Whatever the temperature and the narrowing, the score is that of the model itself."""
    table = Table.random(seed, V=5, depth=4)
    task = task_for(4, length_penalty=0.6, banned_ids=(START,))
    (found,) = draw(table, task, [seed], temperature=temperature, top_p=top_p)
    if found.truncated:
        assert len(found.ids) == len(found.id_scores) == 4
    else:
        assert found.score == pytest.approx(score_of(table, found.ids, 0.6), abs=1e-5)


def test_banned_ids_and_early_ends_are_never_drawn() -> None:
    table = repeated(Table.random(0, V=5, depth=3), 300)
    found = draw(table, task_for(*[3] * 300, min_length=2, banned_ids=(START, B)), list(range(300)))
    assert all(len(one.ids) >= 2 and not {START, B, END} & set(one.ids) for one in found)
    assert {len(one.ids) for one in found} == {2, 3}
