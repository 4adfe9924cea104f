"""Does another engine say what this one says? Compared on the same ids, so that no tokenizer comes between."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Any, Protocol

import numpy as np
import torch

from model.decoding import padded
from model.search import SearchTask, greedy_search
from model.sentence import Sentence
from model.state import DecoderState
from model.translator import Translator
from tokenizer.vocabulary import SPACE_MARK

Numbers = np.ndarray[Any, Any]
SENTENCES = 200  # that must come out alike
BATCH = 16  # sentences of any length: padding must not show
LONGEST_WORDS = 24


class Engine(Protocol):
    """What is asked of an engine, ours or the other."""

    def greedy(self, sources: Sequence[Sequence[int]], *, limit: int) -> list[tuple[int, ...]]:
        """The likeliest id at each step, up to `limit` of them, the end not counted."""

    def forced(self, sources: Sequence[Sequence[int]], targets: Sequence[Sequence[int]]) -> list[Numbers]:
        """For each pair the numbers that are compared, such as log-probabilities; of the end too."""


class ParityError(ValueError):
    """The other engine says something else; the message tells how far off it is, and where."""


@dataclass(frozen=True, kw_only=True)
class Tolerance:
    """How far off an engine may be."""

    largest: float = float("inf")  # of all differences
    mean: float = float("inf")
    identical: float = 1.0  # share of greedy outputs that are the same ids


@dataclass(frozen=True, kw_only=True)
class Parity:
    """What a comparison found."""

    numbers: int  # how many were compared
    largest: float  # difference
    mean: float
    sentences: int
    identical: int  # greedy outputs that are the same ids
    first_difference: str = ""

    def check(self, tolerance: Tolerance) -> None:
        """Raises ParityError with everything that is out of tolerance."""
        faults = [
            f"{name} difference {found:.3g} of {self.numbers:,} forced numbers, allowed {allowed:g}"
            for name, found, allowed in (
                ("largest", self.largest, tolerance.largest),
                ("mean", self.mean, tolerance.mean),
            )
            if not found <= allowed
        ]
        if self.identical < tolerance.identical * self.sentences:
            faults.append(
                f"only {self.identical} of {self.sentences} greedy outputs are identical, "
                f"wanted {tolerance.identical:.0%}; {self.first_difference}"
            )
        if faults:
            raise ParityError("; ".join(faults))

    def __str__(self) -> str:
        return (
            f"{self.identical} of {self.sentences} greedy outputs identical; {self.numbers:,} forced numbers, "
            f"largest difference {self.largest:.2g}, mean {self.mean:.2g}"
        )


class OurEngine:
    """The Translator's model under the same questions, without the loop guard, which only this project has."""

    def __init__(self, translator: Translator) -> None:
        self._translator, self._model = translator, translator.model

    def start(self, sources: Sequence[Sequence[int]]) -> DecoderState:
        """The state before the first position."""
        return self._model.start(padded(sources, self._model.config.pad_id))

    def step(self, tokens_N: torch.Tensor, state: DecoderState) -> tuple[torch.Tensor, DecoderState]:
        """Log-probabilities (N, V) over what follows `tokens_N`, and the state with one position more."""
        logits_NV, state = self._model.step(tokens_N, state)
        return logits_NV.log_softmax(dim=-1), state

    @torch.inference_mode()
    def greedy(self, sources: Sequence[Sequence[int]], *, limit: int) -> list[tuple[int, ...]]:
        task = SearchTask(
            start_id=self._model.config.start_id,
            eos_id=self._model.config.eos_id,
            max_lengths=[limit] * len(sources),
            banned_ids=self._translator.banned_ids,
        )
        return [found.ids for found in greedy_search(self.step, self.start(sources), task)]

    @torch.inference_mode()
    def logits(self, sources: Sequence[Sequence[int]], targets: Sequence[Sequence[int]]) -> list[Numbers]:
        """(T + 1, V) of each pair: over each id of the target and its end."""
        config = self._model.config
        read = [[config.start_id, *target] for target in targets]
        logits_BTV = self._model(padded(sources, config.pad_id), padded(read, config.pad_id))
        return [logits_BTV[b, : len(ids)].numpy() for b, ids in enumerate(read)]

    def forced(self, sources: Sequence[Sequence[int]], targets: Sequence[Sequence[int]]) -> list[Numbers]:
        """(T + 1,) log-probabilities of each pair: of each id of the target and of its end."""
        wanted = [[*target, self._model.config.eos_id] for target in targets]
        return [
            torch.from_numpy(logits_TV).log_softmax(dim=-1).numpy()[range(len(ids)), ids]
            for logits_TV, ids in zip(self.logits(sources, targets), wanted, strict=True)
        ]


class OurLogits(OurEngine):
    """The same, comparing the logits over the whole vocabulary."""

    def forced(self, sources: Sequence[Sequence[int]], targets: Sequence[Sequence[int]]) -> list[Numbers]:
        return self.logits(sources, targets)


def compare(ours: Engine, theirs: Engine, sentences: Sequence[Sentence], *, limit: int) -> Parity:
    """Greedy outputs, and forced numbers of two targets a sentence: a likely one and a neighbour's.

    Neighbours share a batch whatever their lengths are.
    """
    identical, first_difference = 0, ""
    largest, total, numbers = 0.0, 0.0, 0
    for start in range(0, len(sentences), BATCH):
        batch = sentences[start : start + BATCH]
        sources = [sentence.ids for sentence in batch]
        own, other = ours.greedy(sources, limit=limit), theirs.greedy(sources, limit=limit)
        identical += sum(a == b for a, b in zip(own, other, strict=True))
        first_difference = first_difference or _difference(batch, own, other)
        for targets in (own, own[1:] + own[:1]):
            pairs = zip(ours.forced(sources, targets), theirs.forced(sources, targets), strict=True)
            for a, b in pairs:
                difference = abs(a - b)
                # Not the built-in max, for which a NaN is no larger than anything.
                largest = float(np.maximum(largest, difference.max()))
                total, numbers = total + float(difference.sum(dtype=np.float64)), numbers + difference.size
    return Parity(
        numbers=numbers,
        largest=largest,
        mean=total / numbers,
        sentences=len(sentences),
        identical=identical,
        first_difference=first_difference,
    )


def sentences_for(translator: Translator, texts: Sequence[str] = ()) -> list[Sentence]:
    """The given texts, each line a sentence, and random words up to SENTENCES of them; all directions in turns.

    ValueError for a text that does not fit the model. A random sentence is made of the words that are pieces
    of the vocabulary, so it suits a model of any language.
    """
    directions = translator.directions
    lines = [text for text in texts if text.strip()]
    random = Random(SENTENCES)
    pieces = translator.tokenizer.pieces(range(translator.tokenizer.size))
    words = [piece[1:] for piece in pieces if piece.startswith(SPACE_MARK) and piece[1:].isalpha()]
    while len(lines) < SENTENCES:
        line = " ".join(random.choices(words or ["a", "b"], k=random.randint(1, LONGEST_WORDS))) + "."
        while not translator.fits(line):
            line = line[: len(line) // 2].strip()
        lines.append(line)
    return [translator.prepare(line, *directions[i % len(directions)]) for i, line in enumerate(lines)]


def _difference(batch: Sequence[Sentence], own: Sequence[Any], other: Sequence[Any]) -> str:
    for sentence, mine, theirs in zip(batch, own, other, strict=True):
        if mine != theirs:
            return f"the first that differs is {sentence.text!r}: {list(mine)} here, {list(theirs)} there"
    return ""
