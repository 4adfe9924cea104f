"""The state of a search over fixed buffers: which of their rows are the search's own."""

from __future__ import annotations

from functools import partial

import torch
from torch import Tensor

from model.graphs.kept import Graphs
from model.graphs.shape import Shape, shape_for
from model.state import DecoderState


class FixedState:
    """N = B × W unfinished targets in rows of buffers, written in place: one search goes on from it, once.

    Sentences that leave are idle until half of the places are: then the others move to smaller buffers. So they do,
    to larger ones, when a beam widens or when hypotheses have as many positions as there is room for.
    """

    def __init__(self, graphs: Graphs, start: DecoderState) -> None:
        B, S = start.memory_mask_BS.shape
        self._shape_for = partial(shape_for, max_positions=graphs.model.config.max_positions)
        self._graphs = graphs
        self._graph = graphs.of(self._shape_for(sentences=B, beam=1, source=S, target=1))
        self._graph.buffers.begin(start)
        self.length = 0
        self._occupy(torch.arange(B)[:, None])

    @property
    def shape(self) -> Shape:
        """Of the buffers that it is in now."""
        return self._graph.buffers.shape

    def step(self, tokens_N: Tensor) -> Tensor:
        """One position more: log-probabilities (N, V) of what follows `tokens_N`, until the next step."""
        if self.length == self.shape.target:
            self._move(self._fitting(self._rows_BW, self.length + 1), self._rows_BW)
        buffers, run = self._graph
        buffers.tokens_N.index_copy_(0, self._rows_N, tokens_N.to(self._rows_N.device))
        buffers.position_1.fill_(self.length)
        run()
        self.length += 1
        N = len(self._rows_N)
        return buffers.log_probs_NV[:N] if self._come_first else buffers.log_probs_NV[self._rows_N]

    def select(self, rows_BW: Tensor) -> FixedState:
        """This state, with row (b, w) continuing the old row `rows_BW[b, w]`; all of one b are of one sentence."""
        origins_BW = self._rows_BW.flatten()[rows_BW.cpu()]
        shape = self._fitting(origins_BW, self.shape.target)
        if shape != self.shape:
            self._move(shape, origins_BW)
            return self
        # The same place for the same sentence, so that its memory stays where it is.
        rows_BW = _first_rows(origins_BW, shape) + torch.arange(origins_BW.shape[1])
        moving_BW = rows_BW != origins_BW
        if moving_BW.any():
            rows_N, origins_N = (self._there(rows[moving_BW]) for rows in (rows_BW, origins_BW))
            self._graph.buffers.take_rows(self._graph.buffers, origins_N, rows_N, self.length)
        if not torch.equal(rows_BW, self._rows_BW):
            self._occupy(rows_BW)
        return self

    def _fitting(self, rows_BW: Tensor, target: int) -> Shape:
        B, W = rows_BW.shape
        return self._shape_for(sentences=B, beam=W, source=self.shape.source, target=target)

    def _move(self, shape: Shape, origins_BW: Tensor) -> None:
        """To buffers of another shape, row (b, w) from the old row `origins_BW[b, w]`, one sentence after the other."""
        B, W = origins_BW.shape
        old, new = self._graph.buffers, self._graphs.of(shape)
        rows_BW = torch.arange(B)[:, None] * shape.beam + torch.arange(W)
        sentences_B = _first_rows(origins_BW, old.shape)[:, 0] // old.shape.beam
        new.buffers.take_over(old, self._there(sentences_B), self._there(torch.arange(B)))
        rows_N, origins_N = self._there(rows_BW.flatten()), self._there(origins_BW.flatten())
        new.buffers.take_rows(old, origins_N, rows_N, self.length)
        self._graph = new
        self._occupy(rows_BW)

    def _occupy(self, rows_BW: Tensor) -> None:
        """Say which rows of the buffers are the search's, in its order."""
        rows_N = rows_BW.flatten()
        self._rows_BW = rows_BW
        self._rows_N = self._there(rows_N)
        self._come_first = torch.equal(rows_N, torch.arange(len(rows_N)))

    def _there(self, numbers: Tensor) -> Tensor:
        """On the buffers' device."""
        return numbers.to(self._graph.buffers.tokens_N.device)


def _first_rows(rows_BW: Tensor, shape: Shape) -> Tensor:
    """(B, 1): the first row of the sentence that the rows are of."""
    return rows_BW[:, :1] // shape.beam * shape.beam
