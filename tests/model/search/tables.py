"""A table of probabilities as a legal model, and what can be known of it without any search algorithm."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import torch
from torch import Tensor

from model.search import Found, SearchTask
from model.search.loops import FREE_REPEATS, LONGEST_LOOP

START, END = 0, 1


class Prefixes(NamedTuple):
    """The state: which sentence each row belongs to, and the number of the prefix that it has read."""

    sentences_N: Tensor
    prefixes_N: Tensor  # −1 before the start

    def select(self, rows_BW: Tensor) -> Prefixes:
        rows_N = rows_BW.flatten()
        return Prefixes(self.sentences_N[rows_N], self.prefixes_N[rows_N])


@dataclass(frozen=True)
class Table:
    """The log-probability of each next id for each prefix of up to `depth` ids, for each of B sentences.

    The empty prefix is number 0; prefix p followed by id t is number p·V + t + 1. START may be an ordinary id.
    """

    log_probs_BPV: Tensor
    depth: int

    @classmethod
    def random(cls, seed: int, *, V: int, depth: int, sharpness: float = 1.0, sentences: int = 1) -> Table:
        generator = torch.Generator().manual_seed(seed)
        prefixes = sum(V**length for length in range(depth + 1))
        scores = torch.randn(sentences, prefixes, V, generator=generator)
        return cls((sharpness * scores).log_softmax(dim=-1), depth)

    @classmethod
    def of(cls, V: int, depth: int, rows: dict[tuple[int, ...], dict[int, float]]) -> Table:
        """From probabilities by prefix; prefixes that are not named end for sure."""
        prefixes = sum(V**length for length in range(depth + 1))
        log_probs = torch.full((1, prefixes, V), -torch.inf)
        log_probs[:, :, END] = 0.0
        for prefix, probabilities in rows.items():
            assert abs(sum(probabilities.values()) - 1) < 1e-9
            row = torch.full((V,), -torch.inf)
            for token, probability in probabilities.items():
                row[token] = torch.tensor(probability).log()
            log_probs[0, number(prefix, V)] = row
        return cls(log_probs, depth)

    @property
    def vocabulary_size(self) -> int:
        return self.log_probs_BPV.shape[2]

    def start(self) -> Prefixes:
        B = len(self.log_probs_BPV)
        return Prefixes(torch.arange(B), torch.full((B,), -1))

    def step(self, tokens_N: Tensor, state: Prefixes) -> tuple[Tensor, Prefixes]:
        is_first = state.prefixes_N < 0
        assert (tokens_N[is_first] == START).all()
        prefixes_N = torch.where(is_first, 0, state.prefixes_N * self.vocabulary_size + tokens_N + 1)
        return self.log_probs_BPV[state.sentences_N, prefixes_N], Prefixes(state.sentences_N, prefixes_N)

    def row(self, prefix: Sequence[int], sentence: int = 0) -> list[float]:
        return self._rows[sentence][number(prefix, self.vocabulary_size)]

    @cached_property
    def _rows(self) -> list[list[list[float]]]:
        rows: list[list[list[float]]] = self.log_probs_BPV.tolist()
        return rows

    def only(self, sentence: int) -> Table:
        """The same for one of the sentences."""
        return Table(self.log_probs_BPV[sentence : sentence + 1], self.depth)


def number(prefix: Sequence[int], V: int) -> int:
    result = 0
    for token in prefix:
        result = result * V + token + 1
    return result


def score_of(table: Table, ids: Sequence[int], penalty: float, sentence: int = 0) -> float:
    """The score of a complete hypothesis: what forced decoding would say."""
    whole = [*ids, END]
    total = sum(table.row(whole[:place], sentence)[token] for place, token in enumerate(whole))
    return total / len(whole) ** penalty


def exhaustive(table: Table, task: SearchTask, sentence: int = 0) -> list[tuple[float, tuple[int, ...]]]:
    """Every complete hypothesis that the task allows, best score first."""
    allowed = [
        token for token in range(table.vocabulary_size) if token != END and token not in task.banned_ids
    ]
    complete: list[tuple[float, tuple[int, ...]]] = []
    level: list[tuple[float, tuple[int, ...]]] = [(0.0, ())]
    for length in range(task.max_lengths[sentence] + 1):
        longer = []
        for total, ids in level:
            row = table.row(ids, sentence)
            if length >= task.min_length:
                complete.append(((total + row[END]) / (length + 1) ** task.length_penalty, ids))
            longer += [(total + row[token], (*ids, token)) for token in allowed]
        level = longer
    return sorted((one for one in complete if one[0] > -torch.inf), reverse=True)


def plain_beam(table: Table, task: SearchTask, W: int, n_best: int, sentence: int = 0) -> list[Found]:
    """Beam search as one would say it in words: one sentence, lists, no tensors, never stops early."""
    live: list[tuple[float, tuple[int, ...]]] = [(0.0, ())]
    found: list[tuple[float, tuple[int, ...]]] = []
    limit = task.max_lengths[sentence]
    for length in range(limit + 1):
        continued = [
            (total + log_prob, (*ids, token))
            for total, ids in live
            for token, log_prob in enumerate(table.row(ids, sentence))
            if token not in task.banned_ids
            and (token != END or length >= task.min_length)
            and not (task.sources and is_loop((*ids, token), task.sources[sentence]))
        ]
        best = sorted((one for one in continued if one[0] > -torch.inf), reverse=True)[: 2 * W]
        ends = [one for one in best[:W] if one[1][-1] == END]
        found += [(total / (length + 1) ** task.length_penalty, ids[:-1]) for total, ids in ends]
        if length == limit and not found:
            found = [(total / max(length, 1) ** task.length_penalty, ids) for total, ids in live]
            return [as_found(one, truncated=True) for one in sorted(found, reverse=True)[:n_best]]
        live = [one for one in best if one[1][-1] != END][:W]
        live = [one for place, one in enumerate(live) if place < n_best or one[0] >= live[0][0] - task.margin]
    return [as_found(one, truncated=False) for one in sorted(found, reverse=True)[:n_best]]


def is_loop(ids: tuple[int, ...], source: Sequence[int]) -> bool:
    """Whether the end of `ids` repeats a phrase once more than it may: counted the slow way."""
    return any(
        trailing_run(ids, n) > max(FREE_REPEATS, longest_run(source, n) + 1)
        for n in range(1, LONGEST_LOOP + 1)
    )


def trailing_run(ids: Sequence[int], n: int) -> int:
    """How often the last n ids stand in a row at the end; 1 where there are fewer than n."""
    count = 1
    while n * (count + 1) <= len(ids) and ids[-n * (count + 1) : -n * count] == ids[-n:]:
        count += 1
    return count


def longest_run(ids: Sequence[int], n: int) -> int:
    """How often an n-gram stands in a row at most, anywhere."""
    return max((trailing_run(ids[:end], n) for end in range(1, len(ids) + 1)), default=1)


def as_found(one: tuple[float, tuple[int, ...]], *, truncated: bool) -> Found:
    return Found(one[1], (), one[0], truncated)
