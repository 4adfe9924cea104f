"""How to decode, as one frozen value."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, get_args

Strategy = Literal["greedy", "beam", "sample"]
LARGEST_BEAM = 64
LONGEST_OUTPUT = 4096


@dataclass(frozen=True, kw_only=True)
class DecodingOptions:
    """ValueError names the field, the bad value and what is allowed."""

    strategy: Strategy = "beam"
    beam_size: int = 5  # W, hypotheses kept at each step
    look_ahead: int | None = 4  # beam: pieces that a hypothesis may still win by growing; None: any number
    margin: float = 3.0  # beam: nats that a hypothesis may be behind the best one of its length; inf: any
    length_penalty: float = 1.0  # score = sum of log-probabilities / length ** penalty; 0: no normalisation
    n_best: int = 1  # hypotheses asked for; of a beam, the best; of sampling, independent draws
    temperature: float = 1.0  # sampling only, as are the next three: below 1 sharpens, above 1 flattens
    top_k: int = 0  # sample among the k likeliest pieces; 0: all
    top_p: float = 1.0  # sample among the likeliest pieces that together reach this probability
    seed: int = 0
    min_length: int = 0  # in pieces, the end not counted
    max_length: int | None = None  # in pieces, the end not counted; None: from the length of each source

    def __post_init__(self) -> None:
        strategies = get_args(Strategy)
        _require(self.strategy in strategies, "strategy", self.strategy, f"one of {', '.join(strategies)}")
        _require(1 <= self.beam_size <= LARGEST_BEAM, "beam_size", self.beam_size, f"1 … {LARGEST_BEAM}")
        _require(
            math.isfinite(self.length_penalty) and -5 <= self.length_penalty <= 5,
            "length_penalty",
            self.length_penalty,
            "-5 … 5",
        )
        _require(
            self.look_ahead is None or self.look_ahead >= 1,
            "look_ahead",
            self.look_ahead,
            "1 or more, or None",
        )
        _require(self.margin >= 0, "margin", self.margin, "0 or more")
        most = {"greedy": 1, "beam": self.beam_size, "sample": LARGEST_BEAM}[self.strategy]
        _require(1 <= self.n_best <= most, "n_best", self.n_best, f"1 … {most} with {self.strategy}")
        _require(0 < self.temperature <= 100, "temperature", self.temperature, "above 0, up to 100")
        _require(self.top_k >= 0, "top_k", self.top_k, "0 (all) or more")
        _require(0 < self.top_p <= 1, "top_p", self.top_p, "above 0, up to 1")
        _require(0 <= self.seed < 2**63, "seed", self.seed, "0 … 2^63 − 1")
        longest = LONGEST_OUTPUT if self.max_length is None else self.max_length
        _require(1 <= longest <= LONGEST_OUTPUT, "max_length", self.max_length, f"1 … {LONGEST_OUTPUT}")
        _require(0 <= self.min_length <= longest, "min_length", self.min_length, f"0 … {longest}")


def _require(claim: bool, field: str, value: object, allowed: str) -> None:
    if not claim:
        raise ValueError(f"{field} is {value!r}, allowed: {allowed}")
