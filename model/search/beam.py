"""Beam search over any step function, for many sentences at once."""

from __future__ import annotations

import math
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
    4. The first W that do not end go on, but for those that cannot beat the n-th best finished one any more,
       whatever the length penalty, and those that are further behind the best than the task's margin.
    5. A sentence stops at its length limit, or when none goes on.

    With no margin and no end to its look ahead this is exact: what step 4 gives up would not have been among the
    n best in the end.

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
        goes_on_BC = _going_on(candidates, beams, task, length, beam_size, n_best, finished)
        staying = goes_on_BC.any(dim=1).nonzero().flatten().tolist()
        # Stable sort: those that go on come first, still best first among themselves.
        kept_BW = goes_on_BC[staying].sort(dim=1, stable=True, descending=True).indices[:, :beam_size]
        yield Round(beams, candidates, goes_on_BC, staying, finished)
        beams, rows_BW = _go_on(candidates, beams, goes_on_BC, staying, kept_BW)
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
    goes_on_BC: Tensor  # which candidates go on
    staying: list[int]  # places of the sentences of which any does
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


def _going_on(
    candidates: Candidates,
    beams: Beams,
    task: SearchTask,
    length: int,
    beam_size: int,
    n_best: int,
    finished: list[list[Found]],
) -> Tensor:
    """Steps 4 and 5: for each candidate (B, C) whether it goes on. One that is cut with nothing finished is kept."""
    goes_on_BC = torch.zeros_like(candidates.is_end_BC)
    for b, sentence in enumerate(beams.sentences):
        found, limit = finished[sentence], task.max_lengths[sentence]
        if length < limit:
            unfinished = [
                (c, total)
                for c, (total, is_end) in enumerate(
                    zip(candidates.scores_BC[b].tolist(), candidates.is_end_BC[b].tolist(), strict=True)
                )
                if not is_end and total > -torch.inf
            ]
            to_beat = _nth(found, n_best)
            for place, (c, total) in enumerate(unfinished[:beam_size]):
                is_near = place < n_best or total >= unfinished[0][1] - task.margin
                goes_on_BC[b, c] = is_near and task.best_case(total, length + 1, limit) > to_beat
        elif not found:
            found += _cut(beams, b, task)
    return goes_on_BC


def _nth(found: list[Found], n: int) -> float:
    """Its score; −∞ where there are fewer."""
    scores = sorted((one.score for one in found), reverse=True)
    return scores[n - 1] if len(scores) >= n else -math.inf


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


def _go_on(
    candidates: Candidates, beams: Beams, goes_on_BC: Tensor, staying: list[int], kept_BW: Tensor
) -> tuple[Beams, Tensor]:
    """The beams of the sentences that stay, and the old row that each new row continues."""
    places_B = torch.tensor(staying, dtype=torch.long)
    picked = [
        field[places_B].gather(1, kept_BW)
        for field in (
            # Others fill up the W rows where fewer go on: nothing may follow them.
            candidates.scores_BC.masked_fill(~goes_on_BC, -torch.inf),
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
