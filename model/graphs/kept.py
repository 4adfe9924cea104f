"""Buffers and their steps, kept by shape."""

from __future__ import annotations

from collections import OrderedDict
from functools import partial
from typing import NamedTuple

from model.graphs.buffers import Buffers, step
from model.graphs.capture import Capture, Run
from model.graphs.shape import Shape
from model.transformer import Transformer


class Graph(NamedTuple):
    """Buffers, and what makes one step on them."""

    buffers: Buffers
    run: Run


class Graphs:
    """Those of the shapes used last: `most` of them, of `most_bytes` together, though one is kept however large."""

    def __init__(self, model: Transformer, capture: Capture, *, most: int, most_bytes: int) -> None:
        self.model = model
        self._capture = capture
        self._most, self._most_bytes = most, most_bytes
        self._kept: OrderedDict[Shape, Graph] = OrderedDict()  # used last, last

    def __len__(self) -> int:
        return len(self._kept)

    @property
    def nbytes(self) -> int:
        """Of all buffers."""
        return sum(graph.buffers.nbytes for graph in self._kept.values())

    def of(self, shape: Shape) -> Graph:
        """The one of this shape, captured now if it is not there; what its buffers hold is to be overwritten."""
        if shape not in self._kept:
            buffers = Buffers(self.model, shape)
            self._kept[shape] = Graph(buffers, self._capture(partial(step, self.model, buffers)))
        self._kept.move_to_end(shape)
        while len(self._kept) > 1 and (len(self) > self._most or self.nbytes > self._most_bytes):
            self._kept.popitem(last=False)
        return self._kept[shape]
