"""Search with phrases against every target there is, on tables of probabilities."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from model.search import Found, SearchTask
from model.search.phrases import Phrase, Progress, phrase_search
from tests.model.search.tables import END, START, Table, exhaustive, score_of

WIDE = 6**5
PHRASES = st.lists(st.lists(st.integers(2, 4), min_size=1, max_size=2).map(tuple), min_size=1, max_size=2)


def search(
    table: Table,
    limit: int,
    phrases: list[Phrase],
    *,
    width: int = WIDE,
    n_best: int = 1,
    inner_ids: tuple[int, ...] = (),
    **fields: Any,
) -> list[Found]:
    task = SearchTask(start_id=START, eos_id=END, max_lengths=[limit], **fields)
    return phrase_search(
        table.step, table.start(), task, phrases=phrases, inner_ids=inner_ids, width=width, n_best=n_best
    )


def holds(ids: tuple[int, ...], phrases: list[Phrase]) -> bool:
    progress = Progress(tuple(phrases), tuple(range(len(phrases))))
    for token in ids:
        progress = progress.after(token)
    return progress.is_complete


def occurrences(ids: tuple[int, ...], phrase: Phrase) -> int:
    return sum(ids[at : at + len(phrase)] == phrase for at in range(len(ids)))


@settings(max_examples=50)
@given(
    seed=st.integers(0, 2**31), phrases=PHRASES, penalty=st.sampled_from([0.0, 0.6, 1.0]), n=st.integers(1, 4)
)
def test_a_wide_search_finds_the_best_of_all_targets_that_hold_the_phrases(
    seed: int, phrases: list[Phrase], penalty: float, n: int
) -> None:
    table = Table.random(seed, V=5, depth=3)
    task = SearchTask(start_id=START, eos_id=END, max_lengths=[3], length_penalty=penalty)
    legal = [(score, ids) for score, ids in exhaustive(table, task) if holds(ids, phrases)]
    found = [one for one in search(table, 3, phrases, n_best=n, length_penalty=penalty) if not one.truncated]
    assert [one.score for one in found] == pytest.approx([score for score, _ in legal[:n]], abs=2e-5)
    for one in found:
        assert one.score == pytest.approx(score_of(table, one.ids, penalty), abs=2e-5)
        assert sum(one.id_scores) / (len(one.ids) + 1) ** penalty == pytest.approx(one.score, abs=2e-5)


@settings(max_examples=50)
@given(seed=st.integers(0, 2**31), phrases=PHRASES, width=st.integers(1, 3))
def test_however_narrow_what_ends_holds_every_phrase_as_often_as_asked(
    seed: int, phrases: list[Phrase], width: int
) -> None:
    (best, *_) = search(Table.random(seed, V=5, depth=6), 6, phrases, width=width)
    assert not best.truncated
    for phrase in phrases:
        assert occurrences(best.ids, phrase) >= phrases.count(phrase)


def test_without_phrases_it_is_the_best_target() -> None:
    table = Table.random(3, V=5, depth=4)
    task = SearchTask(start_id=START, eos_id=END, max_lengths=[4])
    (best,) = search(table, 4, [])
    assert best.ids == exhaustive(table, task)[0][1]


def test_a_phrase_that_the_model_dislikes_is_said_nevertheless() -> None:
    table = Table.of(
        5, 3, {(): {2: 0.98, 3: 0.01, END: 0.01}, (2,): {END: 0.99, 3: 0.01}, (3,): {4: 0.01, END: 0.99}}
    )
    (best,) = search(table, 3, [(3, 4)], width=1)
    assert best.ids == (3, 4)


def test_a_phrase_that_was_begun_in_vain_is_begun_again() -> None:
    progress = Progress(((2, 3),), (0,))
    for token in (2, 2, 3):
        progress = progress.after(token)
    assert progress.is_complete


def test_two_equal_phrases_take_two_places() -> None:
    assert not holds((2, 3), [(2, 3), (2, 3)])
    assert holds((2, 3, 2, 3), [(2, 3), (2, 3)])


def test_ids_that_go_on_with_a_word_do_not_follow_a_phrase() -> None:
    table = Table.of(5, 3, {(): {3: 1.0}, (3,): {4: 0.9, 2: 0.1}, (3, 4): {END: 1.0}, (3, 2): {END: 1.0}})
    assert search(table, 3, [(3,)])[0].ids == (3, 4)
    assert search(table, 3, [(3,)], inner_ids=(4,))[0].ids == (3, 2)


def test_where_the_limit_leaves_no_room_the_furthest_hypothesis_is_truncated() -> None:
    (best,) = search(Table.random(1, V=5, depth=2), 2, [(2, 3, 4)])
    assert best.truncated
    assert best.ids == (2, 3)


@given(seed=st.integers(0, 2**31))
def test_banned_ids_and_the_minimal_length_hold_here_too(seed: int) -> None:
    (best,) = search(Table.random(seed, V=6, depth=4), 4, [(2,)], banned_ids=(5, START), min_length=3)
    assert len(best.ids) >= 3
    assert not {5, START} & set(best.ids)
