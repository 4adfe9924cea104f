"""The tree of a beam search holds what the search weighed, by an oracle that reads the table alone."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from model.search import SearchTask, beam_search, greedy_search
from model.search.beam import beam_rounds
from model.search.tree import Node, chain, grow, path
from tests.model.search.tables import END, START, Table

TABLES = st.builds(
    lambda seed, V, depth: Table.random(seed, V=V, depth=depth, sharpness=1.0),
    seed=st.integers(0, 2**31),
    V=st.integers(3, 7),
    depth=st.integers(2, 4),
)


def spelled(nodes: list[Node], place: int) -> tuple[int, ...]:
    ids: tuple[int, ...] = ()
    while place >= 0:
        ids = (nodes[place].token, *ids)
        place = nodes[place].parent
    return ids


@settings(max_examples=80)
@given(table=TABLES, W=st.integers(2, 4), penalty=st.sampled_from([-1.0, 0.0, 1.0]))
def test_each_node_is_a_continuation_that_the_table_has_with_its_own_sum(
    table: Table, W: int, penalty: float
) -> None:
    task = SearchTask(start_id=START, eos_id=END, max_lengths=[table.depth], length_penalty=penalty)
    nodes, found = grow(
        beam_rounds(table.step, table.start(), task, beam_size=W, n_best=1), task, beam_size=W
    )
    [expected] = beam_search(table.step, table.start(), task, beam_size=W, n_best=len(found))
    assert found[0] == expected[0], "watching changes nothing"
    for place, node in enumerate(nodes):
        ids = spelled(nodes, place)
        total = sum(table.row(ids[:length])[token] for length, token in enumerate(ids))
        assert node.depth == len(ids)
        assert node.total == pytest.approx(total, abs=1e-4)
        assert node.score == pytest.approx(total / len(ids) ** penalty, abs=1e-4)
        assert (node.fate == "finished") <= (node.token == END)
    for depth in range(1, nodes[-1].depth + 1):
        fates = [node.fate for node in nodes if node.depth == depth]
        assert len(fates) <= 2 * W
        assert fates.count("kept") <= W
    finished = {spelled(nodes, place)[:-1] for place, node in enumerate(nodes) if node.fate == "finished"}
    assert finished == {one.ids for one in found if not one.truncated}


@settings(max_examples=40)
@given(table=TABLES, W=st.integers(2, 4))
def test_only_what_was_kept_has_children(table: Table, W: int) -> None:
    task = SearchTask(start_id=START, eos_id=END, max_lengths=[table.depth])
    nodes, _ = grow(beam_rounds(table.step, table.start(), task, beam_size=W, n_best=1), task, beam_size=W)
    parents = {node.parent for node in nodes} - {-1}
    assert {nodes[parent].fate for parent in parents} <= {"kept"}
    kept = {place for place, node in enumerate(nodes) if node.fate == "kept" and node.depth < nodes[-1].depth}
    assert kept >= parents


def test_the_path_of_the_best_hypothesis_is_in_the_tree() -> None:
    table = Table.random(3, V=6, depth=4, sharpness=1.0)
    task = SearchTask(start_id=START, eos_id=END, max_lengths=[4])
    nodes, found = grow(
        beam_rounds(table.step, table.start(), task, beam_size=3, n_best=1), task, beam_size=3
    )
    places = path(nodes, (*found[0].ids, END))
    assert spelled(nodes, places[-1]) == (*found[0].ids, END)
    assert nodes[places[-1]].score == pytest.approx(found[0].score)


def test_greedy_search_is_a_tree_without_branches() -> None:
    table = Table.random(5, V=6, depth=4, sharpness=2.0)
    task = SearchTask(start_id=START, eos_id=END, max_lengths=[4])
    [found] = greedy_search(table.step, table.start(), task)
    nodes = chain(found, task)
    assert [node.parent for node in nodes] == list(range(-1, len(nodes) - 1))
    assert nodes[-1].score == pytest.approx(found.score)
