"""What a beam search of one sentence has weighed, as a tree: for people who want to see why it said what it said."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, NamedTuple

from model.search.beam import Round
from model.search.task import Found, SearchTask

Fate = Literal["kept", "finished", "pruned", "outrun"]


class Node(NamedTuple):
    """One id at the end of one hypothesis. The parent is the place of the node before it in the list, −1 for none."""

    parent: int
    depth: int  # ids so far, with this one; the end counts
    token: int
    log_prob: float
    total: float  # sum of log-probabilities
    score: float  # total / depth ** length penalty: what it would be worth if it were the end
    fate: Fate
    # kept: it went on. finished: it is an end, among the best W. pruned: one of the next best, not followed.
    # outrun: it was among the best W, and was given up: too far behind to win.


def grow(rounds: Iterable[Round], task: SearchTask, *, beam_size: int) -> tuple[list[Node], list[Found]]:
    """The tree of a search for ONE sentence, in the order in which it grew, and what it found, best first."""
    nodes: list[Node] = []
    rows = [-1]  # the node that each row of the beam ends with; the start is none
    found: list[Found] = []
    for depth, one in enumerate(rounds, start=1):
        places = _add(nodes, one, rows, depth, task, beam_size)
        rows = [places[place] for place in one.goes_on_BC[0].nonzero().flatten().tolist()]
        found = one.finished[0]
    return nodes, sorted(found, key=lambda hypothesis: -hypothesis.score)


def chain(found: Found, task: SearchTask) -> list[Node]:
    """The same for greedy search, which weighs one hypothesis: a tree without branches."""
    nodes: list[Node] = []
    total = 0.0
    ids = found.ids if found.truncated else (*found.ids, task.eos_id)
    for depth, (token, log_prob) in enumerate(zip(ids, found.id_scores, strict=True), start=1):
        total += log_prob
        fate: Fate = "finished" if token == task.eos_id else "kept"
        nodes.append(Node(depth - 2, depth, token, log_prob, total, task.normalised(total, depth), fate))
    return nodes


def path(nodes: list[Node], ids: tuple[int, ...]) -> list[int]:
    """The places of the nodes that spell `ids` from the start, as far as the tree has them."""
    children: dict[tuple[int, int], int] = {
        (node.parent, node.token): place for place, node in enumerate(nodes)
    }
    places: list[int] = []
    here = -1
    for token in ids:
        if (here, token) not in children:
            break
        here = children[here, token]
        places.append(here)
    return places


def _add(
    nodes: list[Node],
    one: Round,
    rows: list[int],
    depth: int,
    task: SearchTask,
    beam_size: int,
) -> dict[int, int]:
    """Append the candidates of a round; the place in `nodes` of each, by its place among the candidates."""
    places: dict[int, int] = {}
    unfinished = 0
    for c, total in enumerate(one.candidates.scores_BC[0].tolist()):
        if total == float("-inf"):
            continue
        is_end = bool(one.candidates.is_end_BC[0, c])
        if is_end:
            fate: Fate = "finished" if c < beam_size else "pruned"
        elif one.goes_on_BC[0, c]:
            fate = "kept"
        else:
            fate = "outrun" if unfinished < beam_size else "pruned"
        unfinished += not is_end
        places[c] = len(nodes)
        nodes.append(
            Node(
                rows[int(one.candidates.origins_BC[0, c])],
                depth,
                int(one.candidates.ids_BC[0, c]),
                float(one.candidates.id_scores_BC[0, c]),
                total,
                task.normalised(total, depth),
                fate,
            )
        )
    return places
