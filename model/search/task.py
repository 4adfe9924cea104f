"""What every search is given and what it gives back."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

import torch
from torch import Tensor

from model.search.loops import LoopGuard


class State(Protocol):
    """Whatever the step needs to remember of N = B × W unfinished hypotheses."""

    def select(self, rows_BW: Tensor) -> Any:
        """The state whose row (b, w) continues the old row `rows_BW[b, w]`."""


Step = Callable[[Tensor, Any], tuple[Tensor, Any]]
"""(last tokens (N,), state) → (log-probabilities of the next token (N, V), state)."""


class Found(NamedTuple):
    """A hypothesis: its ids without start and end, and how likely the model holds it."""

    ids: tuple[int, ...]
    id_scores: tuple[float, ...]  # log-probability of each id, and of the end unless truncated
    score: float  # their sum / length ** penalty
    truncated: bool  # the length limit cut it


@dataclass(frozen=True, kw_only=True)
class SearchTask:
    """What B sentences have in common and what is each one's own."""

    start_id: int
    eos_id: int
    max_lengths: Sequence[int]  # of each sentence, in ids, the end not counted
    min_length: int = 0  # in ids, the end not counted
    length_penalty: float = 1.0
    look_ahead: int | None = None  # ids that a hypothesis is expected to grow by at most; None: to the limit
    margin: float = math.inf  # how far a hypothesis may be behind the best one of its length, in nats
    banned_ids: Sequence[int] = ()  # control ids: never a part of a target
    sources: Sequence[Sequence[int]] = field(default=())  # for the loop guard; none: no guard

    def guard(self) -> LoopGuard | None:
        """The loop guard of one row a sentence, before the first id."""
        return LoopGuard.for_sources(self.sources) if self.sources else None

    def allow(self, log_probs_NV: Tensor, length: int, guard: LoopGuard | None) -> Tensor:
        """The log-probabilities, −∞ where the next id may not be; `length` ids have been chosen so far."""
        allowed_NV = log_probs_NV.clone()
        if self.banned_ids:
            allowed_NV[:, torch.as_tensor(self.banned_ids, device=log_probs_NV.device)] = -torch.inf
        if length < self.min_length:
            allowed_NV[:, self.eos_id] = -torch.inf
        return guard.forbid(allowed_NV) if guard else allowed_NV

    def normalised(self, total: float, length: int) -> float:
        """A sum of log-probabilities as a score; the end counts in the length."""
        return total / float(length**self.length_penalty)

    def best_case(self, total: float, length: int, limit: int) -> float:
        """The best score that an unfinished hypothesis of `length` ids can reach: the sum only falls, the length grows.

        The score is monotone in the length, so the best case is one of the two ends: the longest for a positive
        penalty, the shortest for a negative one. How much it may grow is the limit, or less in a task that does not
        look ahead that far.
        """
        longest = limit if self.look_ahead is None else min(limit, length + self.look_ahead - 1)
        return max(self.normalised(total, length + 1), self.normalised(total, longest + 1))
