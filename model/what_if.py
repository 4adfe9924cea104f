"""Decoding one sentence as it would be if something were otherwise: heads, temperature, a forced beginning."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from model.decoding import longest_target
from model.heads import Head
from model.search import DecodingOptions, Found, SearchTask, greedy_search
from model.search.beam import beam_rounds
from model.search.tree import Node, chain, grow
from model.sentence import Sentence
from model.state import DecoderState
from model.transformer import Transformer
from model.translator import Translator

LARGEST_BEAM = 16  # a wider tree is no picture any more
MOST_ALTERNATIVES = 20
WIDEST_MARGIN = 100  # nats: nothing is that far behind and still in the beam


@dataclass(frozen=True, kw_only=True)
class WhatIf:
    """What to change; as it stands nothing. ValueError names the field, the bad value and what is allowed."""

    beam_size: int = 5
    length_penalty: float = 1.0
    margin: float = DecodingOptions.margin  # how far a hypothesis may be behind the best one, in nats
    temperature: float = 1.0  # the logits are divided by it: below 1 the model gets surer, above 1 less sure
    prefix: tuple[int, ...] = ()  # target ids that the translation has to begin with
    silent_heads: frozenset[Head] = frozenset()
    follows_greedy: bool = (
        False  # show the decoder on what greedy search says, rather than on the beam's best
    )
    alternatives: int = 8  # how many of the likeliest next pieces are told at each position
    max_length: int | None = None  # of the target in pieces; None: as in translation

    def __post_init__(self) -> None:
        for name, value, least, most in (
            ("beam_size", self.beam_size, 1, LARGEST_BEAM),
            ("length_penalty", self.length_penalty, -5, 5),
            ("margin", self.margin, 0, WIDEST_MARGIN),
            ("temperature", self.temperature, 0.05, 20),
            ("alternatives", self.alternatives, 1, MOST_ALTERNATIVES),
        ):
            if not (math.isfinite(value) and least <= value <= most):
                raise ValueError(f"{name} is {value!r}, allowed: {least} … {most}")


class Search:
    """Greedy and beam search of one sentence under a `WhatIf`."""

    def __init__(
        self, translator: Translator, model: Transformer, sentence: Sentence, what_if: WhatIf
    ) -> None:
        self.model, self.what_if = model, what_if
        self._source = torch.tensor([sentence.ids], device=translator.device)
        options = DecodingOptions(length_penalty=what_if.length_penalty, max_length=what_if.max_length)
        limit = longest_target(sentence, options, model.config)
        _check_prefix(what_if.prefix, translator, limit)
        self.task = SearchTask(
            start_id=model.config.start_id,
            eos_id=translator.tokenizer.eos_id,
            max_lengths=[limit],
            length_penalty=what_if.length_penalty,
            look_ahead=options.look_ahead,
            margin=what_if.margin,
            banned_ids=translator.banned_ids,
            # What was forced may repeat itself, and what follows may go on with that.
            sources=() if what_if.prefix else [sentence.ids],
        )

    def greedy(self) -> Found:
        """The likeliest piece at each position."""
        [found] = greedy_search(self.step, self.model.start(self._source), self.task)
        return found

    def beam(self) -> tuple[list[Node], list[Found]]:
        """The tree of the search, and what it found, best first."""
        if self.what_if.beam_size == 1:
            found = self.greedy()
            return chain(found, self.task), [found]
        width = self.what_if.beam_size
        state = self.model.start(self._source)
        rounds = beam_rounds(self.step, state, self.task, beam_size=width, n_best=1)
        return grow(rounds, self.task, beam_size=width)

    def step(self, tokens_N: Tensor, state: DecoderState) -> tuple[Tensor, DecoderState]:
        """The model's step; where a piece is forced, all others are impossible and it keeps its probability."""
        position = state.length
        logits_NV, state = self.model.step(tokens_N.to(self._source.device), state)
        log_probs_NV = (logits_NV.float() / self.what_if.temperature).log_softmax(dim=-1)
        if position < len(self.what_if.prefix):
            forced = self.what_if.prefix[position]
            only_NV = torch.full_like(log_probs_NV, -torch.inf)
            only_NV[:, forced] = log_probs_NV[:, forced]
            return only_NV, state
        return log_probs_NV, state


def _check_prefix(prefix: Sequence[int], translator: Translator, limit: int) -> None:
    if len(prefix) > limit:
        raise ValueError(f"prefix: {len(prefix)} pieces, at most {limit} are allowed for this sentence")
    size, eos_id = translator.tokenizer.size, translator.tokenizer.eos_id
    for place, token in enumerate(prefix):
        if not 0 <= token < size:
            raise ValueError(f"prefix: no piece has the id {token}; ids are 0 to {size - 1}")
        if token in translator.banned_ids or (token == eos_id and place < len(prefix) - 1):
            raise ValueError(
                f"prefix: the piece {translator.tokenizer.pieces([token])[0]!r} may not be there"
            )
