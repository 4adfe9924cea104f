"""Beam search over any step function, for many sentences at once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from model.search.loops import LoopGuard
from model.search.task import Found, SearchTask, State, Step
from model.search.walk import greedy_search


@dataclass(frozen=True)
class Beams:
    """The unfinished hypotheses of the sentences still going on: B of them, each with W rows."""

    sentences: list[int]  # which sentence of the task each of the B is
    scores_BW: Tensor  # sum of log-probabilities
    ids_BWT: Tensor  # chosen so far
    id_scores_BWT: Tensor
    guard: LoopGuard | None


def beam_search(
    step: Step, state: State, task: SearchTask, *, beam_size: int, n_best: int
) -> list[list[Found]]:
    """For each sentence up to `n_best` different hypotheses, best score first.

    0. Begin with one row a sentence: W equal rows would find the same hypothesis W times.
    1. Ask the step for the next ids and forbid what may not be.
    2. Take the 2W best continuations of each sentence: W of them can go on even if W of them end.
    3. Those among the first W that end are finished, with a score normalised by length.
    4. The first W that do not end go on.
    5. A sentence stops at its length limit, or when no unfinished hypothesis can still beat its n-th best
       finished one, whatever the length penalty.

    A beam of one is greedy search: it ends with the first end, as step 2 would not.
    """
    if beam_size == 1:
        return [[found] for found in greedy_search(step, state, task)]
    finished: list[list[Found]] = []
    for one in beam_rounds(step, state, task, beam_size=beam_size, n_best=n_best):
        finished = one.finished
    return [sorted(found, key=lambda one: -one.score)[:n_best] for found in finished]


def beam_rounds(
    step: Step, state: State, task: SearchTask, *, beam_size: int, n_best: int
) -> Iterator[Round]:
    """The search position by position, for those who want to watch; what it yields, it looks at no more."""
    finished: list[list[Found]] = [[] for _ in task.max_lengths]
    beams = _begin(task)
    tokens_N = torch.full((len(finished),), task.start_id, device=beams.scores_BW.device)
    length = 0
    while beams.sentences:
        log_probs_NV, state = step(tokens_N, state)
        candidates = _candidates(log_probs_NV, beams, task, length, beam_size)
        _finish(candidates, beams, task, length, beam_size, finished)
        staying = _staying(candidates, beams, task, length, beam_size, n_best, finished)
        kept_BW = _kept(candidates, staying, beam_size)
        yield Round(beams, candidates, staying, kept_BW, finished)
        beams, rows_BW = _go_on(candidates, beams, staying, kept_BW)
        if beams.sentences:
            tokens_N = beams.ids_BWT[:, :, -1].flatten()
            state = state.select(rows_BW)
        length += 1


@dataclass(frozen=True)
class Candidates:
    """The best continuations of each sentence, best first; C = 2W, or fewer in a small vocabulary."""

    scores_BC: Tensor
    origins_BC: Tensor  # which of the sentence's rows it continues
    ids_BC: Tensor
    id_scores_BC: Tensor
    is_end_BC: Tensor


@dataclass(frozen=True)
class Round:
    """One position: the hypotheses that were asked, what can follow them, and what was decided."""

    beams: Beams
    candidates: Candidates
    staying: list[int]  # places of the sentences that go on
    kept_BW: Tensor  # for each of those, the places of the candidates that go on
    finished: list[list[Found]]  # of each sentence of the task, so far


def _begin(task: SearchTask) -> Beams:
    B = len(task.max_lengths)
    return Beams(
        sentences=list(range(B)),
        scores_BW=torch.zeros(B, 1),
        ids_BWT=torch.empty(B, 1, 0, dtype=torch.long),
        id_scores_BWT=torch.empty(B, 1, 0),
        guard=task.guard(),
    )


def _candidates(
    log_probs_NV: Tensor, beams: Beams, task: SearchTask, length: int, beam_size: int
) -> Candidates:
    """Steps 1 and 2."""
    B, W = beams.scores_BW.shape
    allowed_NV = task.allow(log_probs_NV, length, beams.guard)
    V = allowed_NV.shape[1]
    totals_BX = (beams.scores_BW.reshape(-1, 1).to(allowed_NV.device) + allowed_NV).view(B, W * V)
    scores_BC, places_BC = totals_BX.topk(min(2 * beam_size, W * V), dim=1)
    id_scores_BC = log_probs_NV.view(B, W * V).gather(1, places_BC)
    scores_BC, places_BC, id_scores_BC = scores_BC.cpu(), places_BC.cpu(), id_scores_BC.cpu()
    ids_BC = places_BC % V
    return Candidates(scores_BC, places_BC // V, ids_BC, id_scores_BC, ids_BC == task.eos_id)


def _finish(
    candidates: Candidates,
    beams: Beams,
    task: SearchTask,
    length: int,
    beam_size: int,
    finished: list[list[Found]],
) -> None:
    """Step 3."""
    is_finished_BC = candidates.is_end_BC & candidates.scores_BC.isfinite()
    is_finished_BC[:, beam_size:] = False
    for b, c in is_finished_BC.nonzero().tolist():
        w = int(candidates.origins_BC[b, c])
        found = finished[beams.sentences[b]]
        found.append(
            Found(
                tuple(beams.ids_BWT[b, w].tolist()),
                (*beams.id_scores_BWT[b, w].tolist(), float(candidates.id_scores_BC[b, c])),
                task.normalised(float(candidates.scores_BC[b, c]), length + 1),
                truncated=False,
            )
        )


def _staying(
    candidates: Candidates,
    beams: Beams,
    task: SearchTask,
    length: int,
    beam_size: int,
    n_best: int,
    finished: list[list[Found]],
) -> list[int]:
    """Step 5: the places of the sentences that go on. One that is cut with nothing finished keeps its rows."""
    best_unfinished_B = (
        candidates.scores_BC.masked_fill(candidates.is_end_BC, -torch.inf).amax(dim=1).tolist()
    )
    staying: list[int] = []
    for b, sentence in enumerate(beams.sentences):
        found, limit = finished[sentence], task.max_lengths[sentence]
        if length >= limit:
            if not found:
                found += _cut(beams, b, task)
        elif best_unfinished_B[b] > -torch.inf and not (
            len(found) >= n_best
            and _bound(best_unfinished_B[b], length + 2, limit + 1, task) <= _nth(found, n_best)
        ):
            staying.append(b)
    return staying


def _bound(total: float, shortest: int, longest: int, task: SearchTask) -> float:
    """The best score a hypothesis with this sum can still reach: the sum only falls, the length only grows.

    The score is monotone in the length, so the best case is one of the two ends: the longest for a positive
    penalty, the shortest for a negative one.
    """
    return max(task.normalised(total, shortest), task.normalised(total, longest))


def _nth(found: list[Found], n: int) -> float:
    return sorted((one.score for one in found), reverse=True)[n - 1]


def _cut(beams: Beams, b: int, task: SearchTask) -> list[Found]:
    """The sentence's unfinished rows as truncated hypotheses."""
    return [
        Found(tuple(ids), tuple(id_scores), task.normalised(score, max(len(ids), 1)), truncated=True)
        for ids, id_scores, score in zip(
            beams.ids_BWT[b].tolist(),
            beams.id_scores_BWT[b].tolist(),
            beams.scores_BW[b].tolist(),
            strict=True,
        )
        if score > -torch.inf
    ]


def _kept(candidates: Candidates, staying: list[int], beam_size: int) -> Tensor:
    """Step 4: places (B, W) of the candidates that go on, for the sentences that stay."""
    # Stable sort: candidates that do not end come first, still best first among themselves.
    return candidates.is_end_BC[staying].sort(dim=1, stable=True).indices[:, :beam_size]


def _go_on(candidates: Candidates, beams: Beams, staying: list[int], kept_BW: Tensor) -> tuple[Beams, Tensor]:
    """The beams of the sentences that stay, and the old row that each new row continues."""
    places_B = torch.tensor(staying, dtype=torch.long)
    picked = [
        field[places_B].gather(1, kept_BW)
        for field in (
            # A candidate that ends may fill up a small vocabulary's beam: it must not go on.
            candidates.scores_BC.masked_fill(candidates.is_end_BC, -torch.inf),
            candidates.origins_BC,
            candidates.ids_BC,
            candidates.id_scores_BC,
        )
    ]
    scores_BW, origins_BW, ids_BW, id_scores_BW = picked
    places_B1 = places_B[:, None]
    rows_BW = places_B1 * beams.scores_BW.shape[1] + origins_BW
    guard = beams.guard.select(rows_BW.flatten()).extend(ids_BW.flatten()) if beams.guard else None
    return (
        Beams(
            sentences=[beams.sentences[b] for b in staying],
            scores_BW=scores_BW,
            ids_BWT=torch.cat([beams.ids_BWT[places_B1, origins_BW], ids_BW[:, :, None]], dim=2),
            id_scores_BWT=torch.cat(
                [beams.id_scores_BWT[places_B1, origins_BW], id_scores_BW[:, :, None]], dim=2
            ),
            guard=guard,
        ),
        rows_BW,
    )
