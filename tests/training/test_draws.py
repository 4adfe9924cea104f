"""Draws: each pair once a pass, shares as wanted, no place that depends on another."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from training.draws import Draws, permuted, shares_of


@given(st.integers(1, 3000), st.integers(0, 2**64 - 1))
def test_a_shuffle_is_a_permutation_whatever_the_size_and_the_key(size, key):
    assert sorted(permuted(np.arange(size), size, key)) == list(range(size))


@given(st.integers(1, 3000), st.integers(0, 2**64 - 1), st.data())
def test_a_place_does_not_depend_on_those_that_are_asked_with_it(size, key, data):
    whole = permuted(np.arange(size), size, key)
    places = data.draw(st.lists(st.integers(0, size - 1), max_size=20))
    assert permuted(np.array(places, np.int64), size, key).tolist() == whole[places].tolist()


def test_every_item_comes_to_every_place_about_equally_often():
    """Chi-squared with 16 degrees of freedom is 16 on average, and beyond 45 once in ten thousand shuffles."""
    size, shuffles = 17, 3400
    counts = np.zeros((size, size))
    for key in range(shuffles):
        counts[np.arange(size), permuted(np.arange(size), size, key)] += 1
    expected = shuffles / size
    assert (((counts - expected) ** 2 / expected).sum(axis=1) < 45).all()


def test_neighbours_are_torn_apart():
    size = 100_000
    shuffled = permuted(np.arange(size), size, 7)
    distances = np.abs(np.diff(shuffled))
    assert abs(distances.mean() / (size / 3) - 1) < 0.02  # as of two numbers that are drawn independently
    assert abs(np.corrcoef(np.arange(size), shuffled)[0, 1]) < 0.02


def drawn(draws: Draws, epochs: int) -> list[list[int]]:
    return [draws.pairs(epoch, np.arange(draws.per_epoch)).tolist() for epoch in range(epochs)]


def test_one_corpus_gives_every_pair_once_an_epoch_in_another_order_each_time():
    one, two = drawn(Draws((1000,), (1.0,), seed=1), 2)
    assert sorted(one) == sorted(two) == list(range(1000))
    assert one != two


@pytest.mark.parametrize("weights", [(3, 1), (0.2, 0.8), (1, 1, 2)])
def test_drawn_shares_match_the_weights_to_within_one_draw(weights):
    sizes = (700, 300, 411)[: len(weights)]
    draws = Draws(sizes, shares_of(sizes, weights), seed=1)
    ends = np.cumsum(sizes)
    for epoch in drawn(draws, 3):
        counts = Counter(int(np.searchsorted(ends, pair, side="right")) for pair in epoch)
        for corpus, weight in enumerate(weights):
            assert abs(counts[corpus] - weight / sum(weights) * len(epoch)) <= 1


def test_a_corpus_goes_through_all_its_pairs_before_any_comes_again():
    draws = Draws((50, 950), (0.75, 0.25), seed=3)  # the small one 15 times an epoch, the large one in four
    small: Counter[int] = Counter()
    large: Counter[int] = Counter()
    for epoch in drawn(draws, 4):
        small.update(pair for pair in epoch if pair < 50)
        large.update(pair for pair in epoch if pair >= 50)
        for counts, size in ((small, 50), (large, 950)):
            assert len(counts) == min(size, counts.total())
            assert max(counts.values()) - min(counts.values()) <= 1


def test_shares_mix_from_the_first_chunk_on():
    draws = Draws((500_000, 500_000), (0.9, 0.1), seed=1)
    head = draws.pairs(0, np.arange(10_000))
    assert abs((head < 500_000).mean() - 0.9) < 0.01


def test_without_weights_every_pair_is_as_frequent_as_any_other():
    draws = Draws((300, 100), shares_of((300, 100), None), seed=1)
    assert sorted(drawn(draws, 1)[0]) == list(range(400))


def test_the_same_seed_gives_the_same_draws_and_another_seed_others():
    one, same, other = (drawn(Draws((100, 300), (0.5, 0.5), seed=seed), 2) for seed in (1, 1, 2))
    assert one == same != other
