"""Sentences in, found targets out, in ids: how it is done over PyTorch, and what every other way offers too."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, Protocol

import torch
from torch import Tensor

from model.config import ModelConfig
from model.search import (
    DecodingOptions,
    Found,
    SearchTask,
    Step,
    beam_search,
    greedy_search,
    phrase_search,
    sample,
)
from model.sentence import Sentence
from model.state import DecoderState
from model.transformer import Transformer

BATCH_PIECES = 4096  # padded source pieces times beam size in a batch


class NoEngine(ValueError):
    """This machine cannot decode in the way that was asked for; the message says why."""


class Work(NamedTuple):
    """A sentence to be decoded; `name` is the caller's, to know it again."""

    name: int
    sentence: Sentence
    options: DecodingOptions


class Session(Protocol):
    """Sentences that are being decoded together. They do not change each other; one thread works on a session."""

    def __len__(self) -> int:
        """How many sentences are in work."""

    def takes(self, work: Work) -> bool:
        """Whether there is room for it now. A session without any sentence takes every one."""

    def add(self, work: Work) -> None:
        """Begin a sentence."""

    def advance(self) -> list[tuple[int, list[Found]]]:
        """Go on for a moment: names and hypotheses, best first, of the sentences that are done by then."""

    def drop(self, name: int) -> None:
        """Forget a sentence; it gives no answer."""


class Decoder(Protocol):
    """A model that decodes. Sessions of one decoder may run in several threads."""

    threads: int  # sessions that pay on this machine

    def session(self) -> Session: ...


def run(session: Session, waiting: deque[Work]) -> Iterator[tuple[int, list[Found]]]:
    """All that waits, in its order, through the session; each as soon as it is done."""
    while waiting or len(session):
        while True:
            try:  # other threads take from the same queue
                work = waiting.popleft()
            except IndexError:
                break
            if not session.takes(work):
                waiting.appendleft(work)
                break
            session.add(work)
        yield from session.advance()


def longest_target(sentence: Sentence, options: DecodingOptions, config: ModelConfig) -> int:
    """In pieces, the end not counted. A limit of the sentence's own: its batch mates have no say in it."""
    room = config.max_positions - 1
    if options.max_length is not None:
        return min(options.max_length, room)
    return min(max(2 * len(sentence.ids) + 10, options.min_length), room)


class PlainDecoder:
    """The Transformer in PyTorch, with the searches of model/search: every strategy, on every device.

    `banned_ids` never stand in a target; `inner_ids` go on with a word.
    """

    threads = 1  # PyTorch has threads of its own

    def __init__(
        self, model: Transformer, *, eos_id: int, banned_ids: Sequence[int], inner_ids: Sequence[int]
    ) -> None:
        self.model, self._eos_id = model, eos_id
        self._banned_ids, self._inner_ids = banned_ids, inner_ids
        self.batch_pieces = BATCH_PIECES

    def __repr__(self) -> str:
        output = self.model.output_VD
        return f"PyTorch {str(output.dtype).removeprefix('torch.')} on {output.device}"

    def session(self) -> Session:
        return BatchSession(self)

    @torch.inference_mode()
    def search(self, batch: Sequence[Sentence], options: DecodingOptions) -> list[list[Found]]:
        """The hypotheses of each sentence, best first; sentences with phrases come alone."""
        return self.search_from(self.start(batch), self._step, batch, options)

    def start(self, batch: Sequence[Sentence]) -> DecoderState:
        """The state before the first position."""
        return self.model.start(self._pad([sentence.ids for sentence in batch]))

    def search_from(
        self, state: Any, step: Step, batch: Sequence[Sentence], options: DecodingOptions
    ) -> list[list[Found]]:
        """The same from a state and by steps of the caller's."""
        task = self._task(batch, options)
        if batch[0].phrases:
            # By beam whatever the strategy: what has to be said cannot be left to chance.
            width = max(1, options.beam_size // 2) if options.strategy == "beam" else 1
            return [
                phrase_search(
                    step,
                    state,
                    task,
                    phrases=batch[0].phrases,
                    inner_ids=self._inner_ids,
                    width=width,
                    n_best=options.n_best,
                )
            ]
        if options.strategy == "greedy":
            return [[found] for found in greedy_search(step, state, task)]
        if options.strategy == "beam":
            return beam_search(step, state, task, beam_size=options.beam_size, n_best=options.n_best)
        draws = [
            sample(
                step,
                state,
                task,
                seeds=[options.seed + draw] * len(batch),
                temperature=options.temperature,
                top_k=options.top_k,
                top_p=options.top_p,
            )
            for draw in range(options.n_best)
        ]
        return [
            sorted(of_sentence, key=lambda found: -found.score) for of_sentence in zip(*draws, strict=True)
        ]

    def _task(self, batch: Sequence[Sentence], options: DecodingOptions) -> SearchTask:
        return SearchTask(
            start_id=self.model.config.start_id,
            eos_id=self._eos_id,
            max_lengths=[longest_target(sentence, options, self.model.config) for sentence in batch],
            min_length=options.min_length,
            length_penalty=options.length_penalty,
            look_ahead=options.look_ahead,
            margin=options.margin,
            banned_ids=self._banned_ids,
            sources=[sentence.ids for sentence in batch],
        )

    def _step(self, tokens_N: Tensor, state: DecoderState) -> tuple[Tensor, DecoderState]:
        logits_NV, state = self.model.step(tokens_N.to(self.model.output_VD.device), state)
        return logits_NV.float().log_softmax(dim=-1), state

    def _pad(self, rows: Sequence[Sequence[int]]) -> Tensor:
        return padded(rows, self.model.config.pad_id).to(self.model.output_VD.device)


class BatchDecoder(Protocol):
    """What decodes whole batches."""

    @property
    def batch_pieces(self) -> int: ...

    def search(self, batch: Sequence[Sentence], options: DecodingOptions) -> list[list[Found]]:
        """The hypotheses of each sentence, best first; sentences with phrases come alone."""


class BatchSession:
    """A batch after the other: sentences with equal options, their padded pieces within `batch_pieces`."""

    def __init__(self, decoder: BatchDecoder) -> None:
        self._decoder = decoder
        self._batch: list[Work] = []

    def __len__(self) -> int:
        return len(self._batch)

    def takes(self, work: Work) -> bool:
        if not self._batch:
            return True
        first = self._batch[0]
        if work.options != first.options or work.sentence.phrases or first.sentence.phrases:
            return False
        longest = max(len(one.sentence.ids) for one in (*self._batch, work))
        rows = work.options.beam_size if work.options.strategy == "beam" else 1
        return longest * (len(self._batch) + 1) * rows <= self._decoder.batch_pieces

    def add(self, work: Work) -> None:
        self._batch.append(work)

    def advance(self) -> list[tuple[int, list[Found]]]:
        batch, self._batch = self._batch, []
        if not batch:
            return []
        found = self._decoder.search([work.sentence for work in batch], batch[0].options)
        return [(work.name, of_work) for work, of_work in zip(batch, found, strict=True)]

    def drop(self, name: int) -> None:
        self._batch = [work for work in self._batch if work.name != name]


def padded(rows: Sequence[Sequence[int]], pad_id: int) -> Tensor:
    """Rows of ids as one tensor, filled up at the end."""
    width = max(map(len, rows))
    return torch.tensor([[*row, *[pad_id] * (width - len(row))] for row in rows])
