"""Beam search for a target that must hold given phrases, each a run of ids: terms of a glossary, placeholders.

A phrase seldom is what the model would say next, so a hypothesis that begins one would lose against those that do
not. Hypotheses therefore compete only with those that have said as many ids of phrases: each count is a bank
(dynamic beam allocation, arXiv 1804.06609, with banks of equal width).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from model.search.task import Found, SearchTask, State, Step

Phrase = tuple[int, ...]


@dataclass(frozen=True)
class Progress:
    """Which phrases a hypothesis holds, and which ones its last ids may be the beginning of."""

    phrases: tuple[Phrase, ...]
    missing: tuple[int, ...]  # places in `phrases`
    begun: tuple[tuple[int, int], ...] = ()  # place in `phrases`, ids said so far

    @property
    def is_complete(self) -> bool:
        return not self.missing

    @property
    def count(self) -> int:
        """Ids of phrases that have been said, those of the longest one begun too."""
        said = sum(map(len, self.phrases)) - sum(len(self.phrases[place]) for place in self.missing)
        return said + max((length for _, length in self.begun), default=0)

    @property
    def remaining(self) -> int:
        """How many ids it takes at least to say what is missing."""
        return sum(map(len, self.phrases)) - self.count

    @property
    def wanted(self) -> set[int]:
        """The ids that would go on with a phrase, or begin one."""
        return {self.phrases[place][0] for place in self.missing} | {
            self.phrases[place][length] for place, length in self.begun
        }

    def after(self, token: int) -> Progress:
        """With one more id. A phrase is said once however often it may stand in the list: two take two."""
        longer = [(place, length + 1) for place, length in self.begun if self.phrases[place][length] == token]
        new = [(place, 1) for place in self.missing if self.phrases[place][0] == token]
        for place, length in longer + new:
            if length == len(self.phrases[place]):
                return Progress(self.phrases, tuple(other for other in self.missing if other != place))
        return Progress(self.phrases, self.missing, tuple(longer + new))


class Row(NamedTuple):
    """An unfinished hypothesis."""

    score: float
    ids: tuple[int, ...]
    id_scores: tuple[float, ...]
    progress: Progress
    origin: int  # the row of the step before that it goes on with


def phrase_search(
    step: Step,
    state: State,
    task: SearchTask,
    *,
    phrases: Sequence[Phrase],
    inner_ids: Sequence[int],
    width: int,
    n_best: int,
) -> list[Found]:
    """For ONE sentence up to `n_best` different hypotheses that hold all phrases, best score first.

    `width` hypotheses are kept for each number of phrase ids said. `inner_ids` go on with a word, so they may not
    follow a phrase. If the length limit cuts everything, the hypotheses that got furthest come back truncated.
    """
    rows = [Row(0.0, (), (), Progress(tuple(phrases), tuple(range(len(phrases)))), 0)]
    finished: list[Found] = []
    guard = task.guard()
    tokens_N = torch.tensor([task.start_id])
    for length in range(task.max_lengths[0] + 1):
        log_probs_NV, state = step(tokens_N, state)
        room = task.max_lengths[0] - length
        allowed_NV = _allow(task.allow(log_probs_NV, length, guard), rows, task, inner_ids, room)
        continued = _continued(allowed_NV.cpu(), log_probs_NV.cpu(), rows, width)
        finished += [
            Found(row.ids[:-1], row.id_scores, task.normalised(row.score, length + 1), truncated=False)
            for row in continued
            if row.ids[-1] == task.eos_id
        ]
        if length == task.max_lengths[0]:
            break
        going_on = _best_of_banks([row for row in continued if row.ids[-1] != task.eos_id], width)
        if not going_on or _is_settled(going_on, finished, length, task, n_best):
            break
        rows = going_on
        origins_1W = torch.tensor([[row.origin for row in rows]])
        tokens_N = torch.tensor([row.ids[-1] for row in rows])
        state = state.select(origins_1W)
        guard = guard.select(origins_1W.flatten()).extend(tokens_N) if guard else None
    return _ranked(finished, n_best) or _truncated(rows, task, n_best)


def _allow(
    allowed_NV: Tensor, rows: Sequence[Row], task: SearchTask, inner_ids: Sequence[int], room: int
) -> Tensor:
    """−∞ for an end before all phrases are said, and for what would lengthen the last word of a phrase.

    Where there is `room` for no more ids than a hypothesis still needs, only those that it wants are left.
    """
    for place, row in enumerate(rows):
        banned: list[int] = []
        if not row.progress.is_complete:
            banned.append(task.eos_id)
        if _ends_phrase(row):
            banned += inner_ids
        allowed_NV[place, torch.tensor(banned, dtype=torch.long, device=allowed_NV.device)] = -torch.inf
        if row.progress.remaining >= room:
            wanted = sorted(row.progress.wanted) or [task.eos_id]
            only = torch.tensor(wanted, device=allowed_NV.device)
            left = allowed_NV[place, only]
            allowed_NV[place] = -torch.inf
            allowed_NV[place, only] = left
    return allowed_NV


def _ends_phrase(row: Row) -> bool:
    return any(
        place not in row.progress.missing and row.ids[-len(phrase) :] == phrase
        for place, phrase in enumerate(row.progress.phrases)
    )


def _continued(allowed_NV: Tensor, log_probs_NV: Tensor, rows: Sequence[Row], width: int) -> list[Row]:
    """Of each row the best continuations, and those that its phrases want; best score first."""
    continued: list[Row] = []
    top = allowed_NV.topk(min(width + 1, allowed_NV.shape[1]), dim=1).indices.tolist()
    for place, row in enumerate(rows):
        for token in dict.fromkeys([*top[place], *sorted(row.progress.wanted)]):
            log_prob = float(allowed_NV[place, token])
            if log_prob > -torch.inf:
                continued.append(
                    Row(
                        row.score + log_prob,
                        (*row.ids, token),
                        (*row.id_scores, float(log_probs_NV[place, token])),
                        row.progress.after(token),
                        place,
                    )
                )
    return sorted(continued, key=lambda row: -row.score)


def _best_of_banks(rows: Sequence[Row], width: int) -> list[Row]:
    """The best `width` rows of each count of phrase ids, from rows with the best first."""
    taken: dict[int, int] = defaultdict(int)
    kept: list[Row] = []
    for row in rows:
        count = row.progress.count
        if taken[count] < width:
            taken[count] += 1
            kept.append(row)
    return kept


def _is_settled(
    rows: Sequence[Row], finished: Sequence[Found], length: int, task: SearchTask, n_best: int
) -> bool:
    """Whether no unfinished hypothesis can still be among the best: a sum only falls, a length only grows."""
    if len(finished) < n_best:
        return False
    worst = sorted((found.score for found in finished), reverse=True)[n_best - 1]
    best = max(row.score for row in rows)
    return task.best_case(best, length + 1, task.max_lengths[0]) <= worst


def _ranked(finished: Sequence[Found], n_best: int) -> list[Found]:
    return sorted(finished, key=lambda found: -found.score)[:n_best]


def _truncated(rows: Sequence[Row], task: SearchTask, n_best: int) -> list[Found]:
    furthest = sorted(rows, key=lambda row: (-row.progress.count, -row.score))[:n_best]
    return [
        Found(
            row.ids,
            row.id_scores,
            task.normalised(row.score, max(len(row.ids), 1)),
            truncated=True,
        )
        for row in furthest
    ]
