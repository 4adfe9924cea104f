"""Decoding by CUDA graphs: greedy and beam search on fixed buffers, everything else as PyTorch does it."""

from __future__ import annotations

import logging
import threading
from collections.abc import Sequence

import torch
from torch import Tensor

from model.decoding import BatchSession, PlainDecoder, Session
from model.graphs.capture import Capture, capture_for
from model.graphs.kept import Graphs
from model.graphs.state import FixedState
from model.search import DecodingOptions, Found
from model.sentence import Sentence

logger = logging.getLogger(__name__)

GRAPHS = 64  # kept: the shapes of everyday traffic
SHARE = 4  # their buffers may have one part in so many of a device's memory
ON_CPU = 1 << 30  # bytes, where only tests decode like this


class GraphDecoder:
    """Finds what `plain` finds, with its weights: they must stay where they are, for graphs know addresses.

    Searches of several threads take turns, as the buffers have to do with one at a time. `capture` takes the place
    of CUDA's.
    """

    threads = 1  # a GPU works on one batch at a time

    def __init__(self, plain: PlainDecoder, *, most: int = GRAPHS, capture: Capture | None = None) -> None:
        self.plain = plain
        self._most, self._capture = most, capture
        self._turn = threading.Lock()
        self.graphs = self._none_yet()

    @property
    def batch_pieces(self) -> int:
        return self.plain.batch_pieces

    def __repr__(self) -> str:
        output = self.plain.model.output_VD
        return f"CUDA graphs, {str(output.dtype).removeprefix('torch.')} on {output.device}"

    def session(self) -> Session:
        return BatchSession(self)

    @torch.inference_mode()
    def search(self, batch: Sequence[Sentence], options: DecodingOptions) -> list[list[Found]]:
        """The hypotheses of each sentence, best first; sentences with phrases come alone."""
        # Those go on from one state several times, or have beams of any width.
        if options.strategy == "sample" or batch[0].phrases:
            return self.plain.search(batch, options)
        with self._turn:
            try:
                return self._search(batch, options)
            except RuntimeError as error:
                self.graphs = self._none_yet()  # what was being captured may have spoilt the others
                if not isinstance(error, torch.OutOfMemoryError):
                    raise
                logger.warning("a batch is decoded without CUDA graphs, and all are dropped: %s", error)
        return self.plain.search(batch, options)

    def _search(self, batch: Sequence[Sentence], options: DecodingOptions) -> list[list[Found]]:
        state = FixedState(self.graphs, self.plain.start(batch))
        return self.plain.search_from(state, _step, batch, options)

    def _none_yet(self) -> Graphs:
        device = self.plain.model.output_VD.device
        is_cuda = device.type == "cuda"
        most_bytes = torch.cuda.get_device_properties(device).total_memory // SHARE if is_cuda else ON_CPU
        capture = self._capture or capture_for(device)
        return Graphs(self.plain.model, capture, most=self._most, most_bytes=most_bytes)


def _step(tokens_N: Tensor, state: FixedState) -> tuple[Tensor, FixedState]:
    return state.step(tokens_N), state
