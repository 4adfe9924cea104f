"""One hypothesis a row, one id at a time: greedy search and sampling."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from model.search.task import Found, SearchTask, State, Step

Choose = Callable[[Tensor, Sequence[int]], Tensor]
"""(allowed log-probabilities (N, V), the sentence each row belongs to) → the next id of each row (N,)."""


def greedy_search(step: Step, state: State, task: SearchTask) -> list[Found]:
    """At each position the likeliest id; one hypothesis a sentence."""
    return _walk(step, state, task, lambda log_probs_NV, _: log_probs_NV.argmax(dim=-1))


def sample(
    step: Step,
    state: State,
    task: SearchTask,
    *,
    seeds: Sequence[int],
    temperature: float,
    top_k: int,
    top_p: float,
) -> list[Found]:
    """At each position an id drawn from the model's distribution, cut to top-k and top-p (arXiv 1904.09751).

    Sentence i draws with a generator seeded by `seeds[i]` alone, so that its result does not depend on its
    batch mates. Scores stay those of the model at temperature 1.
    """
    generators = [torch.Generator().manual_seed(seed) for seed in seeds]

    def choose(log_probs_NV: Tensor, rows: Sequence[int]) -> Tensor:
        probabilities_NV = narrowed(log_probs_NV / temperature, top_k=top_k, top_p=top_p)
        points_N = torch.stack([torch.rand((), generator=generators[row]) for row in rows])
        cumulated_NV = probabilities_NV.double().cumsum(dim=-1)
        # The end of the scale is the sum as it was computed, or a point of 0.99… could fall behind it.
        points_N1 = points_N.double()[:, None].to(cumulated_NV.device) * cumulated_NV[:, -1:]
        return torch.searchsorted(cumulated_NV, points_N1, right=True)[:, 0].clamp_max(
            cumulated_NV.shape[1] - 1
        )

    return _walk(step, state, task, choose)


def narrowed(scores_NV: Tensor, *, top_k: int, top_p: float) -> Tensor:
    """Probabilities of the `top_k` likeliest (0: all) that together reach `top_p`; the rest has none."""
    probabilities_NV = scores_NV.softmax(dim=-1)
    ordered_NV, order_NV = probabilities_NV.sort(dim=-1, descending=True)
    # An id stays while those before it have not reached top_p: the likeliest one always stays.
    is_out_NV = ordered_NV.cumsum(dim=-1) - ordered_NV >= top_p if top_p < 1 else ordered_NV <= 0
    if top_k:
        is_out_NV = is_out_NV | (torch.arange(ordered_NV.shape[1], device=order_NV.device) >= top_k)
    ordered_NV = ordered_NV.masked_fill(is_out_NV, 0.0)
    narrow_NV = torch.zeros_like(probabilities_NV).scatter(1, order_NV, ordered_NV)
    return narrow_NV / narrow_NV.sum(dim=-1, keepdim=True)


def _walk(step: Step, state: State, task: SearchTask, choose: Choose) -> list[Found]:
    ids: list[list[int]] = [[] for _ in task.max_lengths]
    id_scores: list[list[float]] = [[] for _ in task.max_lengths]
    is_complete = [False] * len(ids)
    rows = list(range(len(ids)))  # the sentences still going on
    tokens_N = torch.full((len(ids),), task.start_id)
    guard = task.guard()
    length = 0
    while rows:
        log_probs_NV, state = step(tokens_N, state)
        tokens_N = choose(task.allow(log_probs_NV, length, guard), rows)
        scores = log_probs_NV.gather(1, tokens_N[:, None])[:, 0].tolist()
        staying: list[int] = []
        for place, (row, token, score) in enumerate(zip(rows, tokens_N.tolist(), scores, strict=True)):
            # At the limit a hypothesis is asked once more, only to learn whether it ends here by itself.
            if token == task.eos_id:
                is_complete[row] = True
                id_scores[row].append(score)
            elif length < task.max_lengths[row]:
                ids[row].append(token)
                id_scores[row].append(score)
                staying.append(place)
        if guard:
            guard = guard.extend(tokens_N.cpu())
        if len(staying) < len(rows):
            places = torch.tensor(staying, dtype=torch.long)
            rows = [rows[place] for place in staying]
            tokens_N = tokens_N[places.to(tokens_N.device)]
            if rows:
                state = state.select(places[:, None].to(tokens_N.device))
                guard = guard.select(places) if guard else None
        length += 1
    return [
        Found(
            tuple(ids[row]),
            tuple(id_scores[row]),
            task.normalised(sum(id_scores[row]), max(len(id_scores[row]), 1)),
            truncated=not is_complete[row],
        )
        for row in range(len(ids))
    ]
