"""The parts of a Transformer as ONNX operations: what the modules of model/ do, in the same words."""

from __future__ import annotations

from typing import Any

from torch import Tensor, nn

from model.attention import CrossAttention, SelfAttention
from model.config import ModelConfig
from model.exchange.onnx_graph import Graph
from model.feed_forward import SwiGluFeedForward
from model.norms import RMSNorm
from model.positions import RotaryPositions

Codes = tuple[str, ...]  # rows of positions: what is added to embeddings, or cosines and sines


class Parts:
    """Writes parts into a graph; names are those of the modules."""

    def __init__(self, graph: Graph, config: ModelConfig) -> None:
        self.graph, self.config = graph, config

    def size(self, value: str, axis: int) -> str:
        """How long a tensor is along an axis, as a vector of one."""
        return self.graph.op("Shape", value, start=axis, end=axis + 1)

    def codes(self, positions: nn.Module, name: str, start: str, end: str) -> Codes:
        """What positions start … end − 1 add or turn by."""
        tables = ("cos_LK", "sin_LK") if isinstance(positions, RotaryPositions) else ("table_LD",)
        return tuple(
            self.graph.op(
                "Slice",
                self.graph.weight(f"{name}.{table}", getattr(positions, table)),
                start,
                end,
                self.graph.integers(0),
            )
            for table in tables
        )

    def embed(self, ids: str, table_VD: Tensor, name: str, codes: Codes) -> str:
        """(B, L) to (B, L, D), with the code of each position added if that is how positions are told."""
        graph = self.graph
        rows = graph.op("Gather", graph.weight(name, table_VD), ids)
        x = graph.op("Mul", rows, graph.number(self.config.width**0.5))
        return graph.op("Add", x, codes[0]) if len(codes) == 1 else x

    def norm(self, x: str, norm: nn.Module, name: str) -> str:
        """LayerNorm, RMSNorm, or nothing at all."""
        graph = self.graph
        if isinstance(norm, nn.Identity):
            return x
        gain = graph.weight(f"{name}.gain", norm.get_parameter("gain"))
        epsilon = self.config.norm_epsilon
        if not isinstance(norm, RMSNorm):
            bias = graph.weight(f"{name}.bias", norm.get_parameter("bias"))
            return graph.op("LayerNormalization", x, gain, bias, axis=-1, epsilon=epsilon)
        mean = graph.op("ReduceMean", graph.op("Mul", x, x), graph.integers(-1), keepdims=1)
        root = graph.op("Sqrt", graph.op("Add", mean, graph.number(epsilon)))
        return graph.op("Mul", graph.op("Div", x, root), gain)

    def enter(self, x: str, around: Any, name: str) -> str:
        """What a sublayer reads."""
        return self.norm(x, around.norm, f"{name}.norm") if self.config.placement == "pre" else x

    def leave(self, x: str, added: str, around: Any, name: str) -> str:
        """The sum with what a sublayer wrote."""
        total = self.graph.op("Add", x, added)
        return total if self.config.placement == "pre" else self.norm(total, around.norm, f"{name}.norm")

    def project(self, x: str, attention: SelfAttention, name: str, codes: Codes) -> tuple[str, str, str]:
        """Queries (B, H, L, K), keys and values (B, G, L, K)."""
        H, G = self.config.heads, self.config.key_value_heads
        fused = self.heads(
            self.graph.linear(x, attention.queries_keys_values, f"{name}.queries_keys_values"), H + 2 * G
        )
        queries, keys, values = self.graph.ops("Split", 3, fused, self.graph.integers(H, G, G), axis=1)
        if len(codes) == 2:
            queries, keys = self.rotate(queries, codes), self.rotate(keys, codes)
        return queries, keys, values

    def project_memory(self, memory: str, attention: CrossAttention, name: str) -> tuple[str, str]:
        """Keys and values (B, G, S, K)."""
        G = self.config.key_value_heads
        fused = self.heads(self.graph.linear(memory, attention.keys_values, f"{name}.keys_values"), 2 * G)
        keys, values = self.graph.ops("Split", 2, fused, self.graph.integers(G, G), axis=1)
        return keys, values

    def heads(self, x: str, count: int) -> str:
        """(B, L, count × K) to (B, count, L, K)."""
        apart = self.graph.reshape(x, 0, 0, count, self.config.head_width)
        return self.graph.op("Transpose", apart, perm=[0, 2, 1, 3])

    def rotate(self, heads: str, codes: Codes) -> str:
        """Each head's vector turned by the angles of its position."""
        graph, half = self.graph, self.config.head_width // 2
        cos, sin = codes
        first, second = graph.ops("Split", 2, heads, graph.integers(half, half), axis=-1)
        left = graph.op("Sub", graph.op("Mul", first, cos), graph.op("Mul", second, sin))
        right = graph.op("Add", graph.op("Mul", second, cos), graph.op("Mul", first, sin))
        return graph.op("Concat", left, right, axis=-1)

    def attend(self, queries: str, keys: str, values: str, mask: str | None) -> str:
        """What each query finds, (B, H, L, K); `mask` broadcasts to (B, 1, L, M), True where it may look."""
        graph, H, G = self.graph, self.config.heads, self.config.key_value_heads
        scaled = graph.op("Mul", queries, graph.number(self.config.head_width**-0.5))
        grouped = graph.reshape(scaled, 0, G, -1, 0)  # the H/G heads of a group, one below the other
        scores = graph.op("MatMul", grouped, graph.op("Transpose", keys, perm=[0, 1, 3, 2]))
        scores = graph.reshape(scores, 0, H, -1, 0)
        if mask is not None:
            scores = graph.op("Where", mask, scores, graph.number(LOWEST))
        weights = graph.op("Softmax", scores, axis=-1)
        found = graph.op("MatMul", graph.reshape(weights, 0, G, -1, 0), values)
        return graph.reshape(found, 0, H, -1, 0)

    def combine(self, found: str, attention: SelfAttention | CrossAttention, name: str) -> str:
        """The heads side by side, through the output projection: (B, L, D)."""
        side_by_side = self.graph.op("Transpose", found, perm=[0, 2, 1, 3])
        joined = self.graph.reshape(side_by_side, 0, 0, self.config.width)
        return self.graph.linear(joined, attention.output, f"{name}.output")

    def feed_forward(self, x: str, net: Any, name: str) -> str:
        """(…, D) to (…, D)."""
        graph = self.graph
        inner = graph.linear(x, net.up, f"{name}.up")
        if isinstance(net, SwiGluFeedForward):
            inner = graph.op("Mul", self.silu(graph.linear(x, net.gate, f"{name}.gate")), inner)
        else:
            inner = {"relu": self.relu, "gelu": self.gelu, "silu": self.silu}[self.config.feed_forward](inner)
        return graph.linear(inner, net.down, f"{name}.down")

    def relu(self, x: str) -> str:
        """max(x, 0)."""
        return self.graph.op("Relu", x)

    def gelu(self, x: str) -> str:
        """x · Φ(x), exact."""
        graph = self.graph
        erf = graph.op("Erf", graph.op("Mul", x, graph.number(0.5**0.5)))
        return graph.op("Mul", x, graph.op("Mul", graph.op("Add", erf, graph.number(1.0)), graph.number(0.5)))

    def silu(self, x: str) -> str:
        """x · sigmoid(x)."""
        return self.graph.op("Mul", x, self.graph.op("Sigmoid", x))


LOWEST = -3.4028234663852886e38  # of float32: a row that may look nowhere gets even weights and stays finite
