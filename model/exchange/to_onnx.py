"""A model as two ONNX graphs: the encoder, asked once a sentence, and one step of the decoder with its cache.

They follow model/transformer.py and know every variant that it knows. Sizes: B sentences, S source positions, N = B × W
rows, M positions decoded so far; the first step has M = 0.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from onnx import TensorProto
from torch import Tensor

from model.decoding import padded
from model.exchange.onnx_graph import Graph, WeightFile
from model.exchange.onnx_parts import Parts
from model.search import SearchTask, greedy_search
from model.transformer import Transformer
from model.translator import Translator

ENCODER, DECODER, WEIGHTS = "encoder.onnx", "decoder.onnx", "weights.bin"
FLOAT, INT64, BOOL = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL


def write(translator: Translator, folder: Path) -> None:
    """encoder.onnx, decoder.onnx and the weights of both into `folder`."""
    with WeightFile(folder / WEIGHTS) as weights:
        graphs = {ENCODER: encoder(translator.model, weights), DECODER: decoder(translator.model, weights)}
    for name, graph in graphs.items():
        graph.save(folder / name)


def encoder(model: Transformer, weights: WeightFile) -> Graph:
    """source (B, S) → mask (B, S), and memory_keys.i and memory_values.i (B, G, S, K) for each decoder layer."""
    graph, config = Graph("encoder", weights), model.config
    parts = Parts(graph, config)
    source = graph.input("source", INT64, ["B", "S"])
    mask_BS = graph.op("Not", graph.op("Equal", source, graph.integers(config.pad_id)))
    mask = graph.op("Unsqueeze", mask_BS, graph.integers(1, 2))
    codes = parts.codes(model.source_positions, "source_positions", graph.integers(0), parts.size(source, 1))
    x = parts.embed(source, model.source_embedding.weight, "source_embedding.weight", codes)
    for i, layer in enumerate(model.encoder):
        x, _, _ = _self_attention(parts, x, layer, f"encoder.{i}", codes, mask=mask)
        x = _feed_forward(parts, x, layer, f"encoder.{i}")
    memory = parts.norm(x, model.encoder_norm, "encoder_norm")
    graph.output("mask", mask_BS, BOOL, ["B", "S"])
    for i, layer in enumerate(model.decoder):
        projected = parts.project_memory(memory, layer.cross_attention, f"decoder.{i}.cross_attention")  # type: ignore[arg-type]
        for name, value in zip(("memory_keys", "memory_values"), projected, strict=True):
            graph.output(f"{name}.{i}", value, FLOAT, ["B", config.key_value_heads, "S", config.head_width])
    return graph


def decoder(model: Transformer, weights: WeightFile) -> Graph:
    """tokens (N,), mask, memory_*.i, past_keys.i and past_values.i (N, G, M, K) → logits (N, V), keys.i, values.i.

    The keys and values come out one position longer; the W rows of a sentence, side by side, look at one memory.
    """
    graph, config = Graph("decoder", weights), model.config
    parts = Parts(graph, config)
    tokens = graph.input("tokens", INT64, ["N"])
    mask_BS = graph.input("mask", BOOL, ["B", "S"])
    mask = graph.op("Unsqueeze", mask_BS, graph.integers(1, 2))
    G, K = config.key_value_heads, config.head_width
    pasts: list[tuple[str, str]] = []
    memories: list[tuple[str, str]] = []
    for i in range(config.decoder_layers):
        for inputs, name, rows, length in ((pasts, "past", "N", "M"), (memories, "memory", "B", "S")):
            keys, values = (
                graph.input(f"{name}_{what}.{i}", FLOAT, [rows, G, length, K]) for what in ("keys", "values")
            )
            inputs.append((keys, values))
    place = parts.size(pasts[0][0], 2)
    end = graph.op("Add", place, graph.integers(1))
    codes = parts.codes(model.target_positions, "target_positions", place, end)
    ids = graph.op("Unsqueeze", tokens, graph.integers(1))
    x = parts.embed(ids, model.target_embedding.weight, "target_embedding.weight", codes)
    by_sentence = graph.op("Concat", parts.size(mask_BS, 0), graph.integers(-1, config.width), axis=0)
    for i, layer in enumerate(model.decoder):
        name = f"decoder.{i}"
        x, keys, values = _self_attention(parts, x, layer, name, codes, past=pasts[i])
        x = _cross_attention(parts, x, layer, name, memories[i], mask, by_sentence)
        x = _feed_forward(parts, x, layer, name)
        graph.output(f"keys.{i}", keys, FLOAT, ["N", G, "M + 1", K])
        graph.output(f"values.{i}", values, FLOAT, ["N", G, "M + 1", K])
    hidden_ND = graph.reshape(parts.norm(x, model.decoder_norm, "decoder_norm"), -1, config.width)
    bias = [] if model.output_bias_V is None else [graph.weight("output_bias_V", model.output_bias_V)]
    table = graph.weight("output_VD", model.output_VD)
    graph.output(
        "logits", graph.op("Gemm", hidden_ND, table, *bias, transB=1), FLOAT, ["N", config.vocabulary_size]
    )
    return graph


def _self_attention(
    parts: Parts,
    x: str,
    layer: Any,
    name: str,
    codes: tuple[str, ...],
    *,
    mask: str | None = None,
    past: tuple[str, str] | None = None,
) -> tuple[str, str, str]:
    """The sublayer's result, and the keys and values of all positions: those of the past, if any, come first."""
    around, attention = f"{name}.around_attention", f"{name}.attention"
    read = parts.enter(x, layer.around_attention, around)
    queries, keys, values = parts.project(read, layer.attention, attention, codes)
    if past:
        keys, values = (
            parts.graph.op("Concat", before, new, axis=2)
            for before, new in zip(past, (keys, values), strict=True)
        )
    added = parts.combine(parts.attend(queries, keys, values, mask), layer.attention, attention)
    return parts.leave(x, added, layer.around_attention, around), keys, values


def _cross_attention(
    parts: Parts, x: str, layer: Any, name: str, memory: tuple[str, str], mask: str, by_sentence: str
) -> str:
    graph, D = parts.graph, parts.config.width
    around, attention = f"{name}.around_cross_attention", f"{name}.cross_attention"
    read = graph.op("Reshape", parts.enter(x, layer.around_cross_attention, around), by_sentence)
    queries = parts.heads(
        graph.linear(read, layer.cross_attention.queries, f"{attention}.queries"), parts.config.heads
    )
    found = parts.combine(parts.attend(queries, *memory, mask), layer.cross_attention, attention)
    return parts.leave(x, graph.reshape(found, -1, 1, D), layer.around_cross_attention, around)


def _feed_forward(parts: Parts, x: str, layer: Any, name: str) -> str:
    around = f"{name}.around_feed_forward"
    read = parts.enter(x, layer.around_feed_forward, around)
    added = parts.feed_forward(read, layer.feed_forward, f"{name}.feed_forward")
    return parts.leave(x, added, layer.around_feed_forward, around)


@dataclass(frozen=True)
class OnnxState:
    """What a search carries between two steps: the decoder's inputs but for the tokens, by name."""

    memory: dict[str, Any]  # of B sentences, and their mask
    past: dict[str, Any]  # of N = B × W rows

    def select(self, rows_BW: Tensor) -> OnnxState:
        """The state whose row (b, w) continues the old row `rows_BW[b, w]`."""
        old_beam = len(next(iter(self.past.values()))) // len(self.memory["mask"])
        sentences, rows = (rows_BW[:, 0] // old_beam).numpy(), rows_BW.flatten().numpy()
        return OnnxState(
            {name: value[sentences] for name, value in self.memory.items()},
            {name: value[rows] for name, value in self.past.items()},
        )


class OnnxEngine:
    """The written graphs, run by onnxruntime on the CPU; the other side of model/exchange/parity.py."""

    def __init__(self, translator: Translator, folder: Path) -> None:
        self._config, self._banned_ids = translator.model.config, translator.banned_ids
        self._encoder, self._decoder = (_session(folder / name) for name in (ENCODER, DECODER))

    def start(self, sources: Sequence[Sequence[int]]) -> OnnxState:
        """The state before the first position."""
        G, K = self._config.key_value_heads, self._config.head_width
        names = [output.name for output in self._encoder.get_outputs()]
        found = self._encoder.run(names, {"source": padded(sources, self._config.pad_id).numpy()})
        nothing = np.zeros((len(sources), G, 0, K), dtype=np.float32)
        past = {
            f"past_{what}.{i}": nothing
            for i in range(self._config.decoder_layers)
            for what in ("keys", "values")
        }
        return OnnxState(dict(zip(names, found, strict=True)), past)

    def step(self, tokens_N: Tensor, state: OnnxState) -> tuple[Tensor, OnnxState]:
        """Logits (N, V) over what follows `tokens_N`, and the state with one position more."""
        names = [output.name for output in self._decoder.get_outputs()]
        found = self._decoder.run(names, {"tokens": tokens_N.numpy(), **state.memory, **state.past})
        results = dict(zip(names, found, strict=True))
        logits_NV = torch.from_numpy(results.pop("logits"))
        return logits_NV, replace(state, past={f"past_{name}": value for name, value in results.items()})

    def greedy(self, sources: Sequence[Sequence[int]], *, limit: int) -> list[tuple[int, ...]]:
        """The likeliest id at each step, up to `limit` of them."""
        task = SearchTask(
            start_id=self._config.start_id,
            eos_id=self._config.eos_id,
            max_lengths=[limit] * len(sources),
            banned_ids=self._banned_ids,
        )
        return [found.ids for found in greedy_search(self.step, self.start(sources), task)]

    def forced(
        self, sources: Sequence[Sequence[int]], targets: Sequence[Sequence[int]]
    ) -> list[np.ndarray[Any, Any]]:
        """(T + 1, V) logits of each pair: over each id of the target and its end."""
        rows_BT = padded([[self._config.start_id, *target] for target in targets], self._config.pad_id)
        state, steps = self.start(sources), []
        for tokens_B in rows_BT.T:
            logits_BV, state = self.step(tokens_B.contiguous(), state)
            steps.append(logits_BV)
        logits_BTV = torch.stack(steps, dim=1).numpy()
        return [logits_TV[: len(target) + 1] for logits_TV, target in zip(logits_BTV, targets, strict=True)]


def _session(path: Path) -> Any:
    os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")  # before its import, or it reports to its maker
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = torch.get_num_threads()
    options.inter_op_num_threads = 1
    return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
