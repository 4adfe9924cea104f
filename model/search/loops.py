"""The loop guard: stops "so so so so …" while it leaves real doubling ("nein, nein, nein") alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

LONGEST_LOOP = 8  # ids; a loop of longer phrases is stopped by the length limit
FREE_REPEATS = 4  # in a row, whatever the source says: "10000" for "ten thousand" is no loop


@dataclass(frozen=True)
class LoopGuard:
    """Counts, for each row and each n up to LONGEST_LOOP, how long the end of the row has had period n.

    An n-gram may stand `limit` times in a row: FREE_REPEATS, or once more than the source has it.
    """

    ids_NP: Tensor  # the last LONGEST_LOOP ids of each row, −1 where there are none yet
    runs_NP: Tensor  # [row, n − 1]: for how many ids in a row each equals the one n before it
    limits_NP: Tensor  # [row, n − 1]: how often an n-gram may stand in a row

    @classmethod
    def for_sources(cls, sources: Sequence[Sequence[int]]) -> LoopGuard:
        """One row a source, before the first id."""
        shape = (len(sources), LONGEST_LOOP)
        limits = [
            [max(FREE_REPEATS, repeats(source, n) + 1) for n in range(1, LONGEST_LOOP + 1)]
            for source in sources
        ]
        return cls(torch.full(shape, -1), torch.zeros(shape, dtype=torch.long), torch.tensor(limits))

    def select(self, rows_N: Tensor) -> LoopGuard:
        """The named rows."""
        return LoopGuard(self.ids_NP[rows_N], self.runs_NP[rows_N], self.limits_NP[rows_N])

    def extend(self, ids_N: Tensor) -> LoopGuard:
        """With one more id in each row."""
        before_NP = self.ids_NP.flip(1)  # [row, n − 1] is the id n before the new one
        runs = torch.where(before_NP == ids_N[:, None], self.runs_NP + 1, 0)
        return LoopGuard(torch.cat([self.ids_NP[:, 1:], ids_N[:, None]], dim=1), runs, self.limits_NP)

    def forbid(self, log_probs_NV: Tensor) -> Tensor:
        """−∞ for ids that would complete one repetition too many."""
        before_NP = self.ids_NP.flip(1)
        periods_P = torch.arange(1, LONGEST_LOOP + 1)
        # k repetitions of an n-gram are n·k ids, of which all but the first n equal the one n before.
        is_full_NP = (self.runs_NP + 1 >= periods_P * self.limits_NP) & (before_NP >= 0)
        rows, periods = is_full_NP.nonzero(as_tuple=True)
        if len(rows):
            log_probs_NV[
                rows.to(log_probs_NV.device), before_NP[rows, periods].to(log_probs_NV.device)
            ] = -torch.inf
        return log_probs_NV


def repeats(ids: Sequence[int], n: int) -> int:
    """How often at most an n-gram stands in a row in `ids`: 1 where nothing is repeated."""
    longest = run = 0
    for index in range(n, len(ids)):
        run = run + 1 if ids[index] == ids[index - n] else 0
        longest = max(longest, run)
    return longest // n + 1
