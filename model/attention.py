"""Scaled dot-product attention and its two uses: a sequence about itself, and a target about its memory."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from model.positions import Rotation, rotate


def attention_weights(queries_BHLK: Tensor, keys_BGMK: Tensor, mask: Tensor | None) -> Tensor:
    """softmax(QKᵀ/√K) over the keys: (B, H, L, M), each row sums to 1 (arXiv 1706.03762, section 3.2.1).

    `mask` broadcasts to (B, 1, L, M), True where a query may look. H is a multiple of G: each key/value head
    serves H/G query heads in order. A row that may look nowhere gets even weights, so it stays finite.
    """
    B, H, L, K = queries_BHLK.shape
    G, M = keys_BGMK.shape[1:3]
    # The scale is that of ONE head; it goes on the queries, the smaller side. Query heads of one group are
    # laid under one another so that a group's keys are multiplied once, without being copied.
    queries = (queries_BHLK * K**-0.5).reshape(B, G, H // G * L, K)
    scores_BHLM = (queries @ keys_BGMK.transpose(-1, -2)).view(B, H, L, M)
    if mask is not None:
        scores_BHLM = scores_BHLM.masked_fill(~mask, torch.finfo(scores_BHLM.dtype).min)
    return scores_BHLM.softmax(dim=-1)


def attend(queries_BHLK: Tensor, keys_BGMK: Tensor, values_BGMK: Tensor, mask: Tensor | None) -> Tensor:
    """The values each query finds: (B, H, L, K).

    Two matrix products and a softmax, not torch's fused kernel: on CPU its backward is made for long
    sequences and costs a third of a training step on sentences (docs/PERFORMANCE.md).
    """
    weights_BHLM = attention_weights(queries_BHLK, keys_BGMK, mask)
    B, H, L, M = weights_BHLM.shape
    G = values_BGMK.shape[1]
    found = weights_BHLM.view(B, G, H // G * L, M) @ values_BGMK
    return found.view(B, H, L, -1)


class SelfAttention(nn.Module):
    """Multi-head attention of a sequence about itself; MHA, GQA or MQA by `key_value_heads`."""

    def __init__(self, *, width: int, heads: int, key_value_heads: int) -> None:
        super().__init__()
        self.heads, self.key_value_heads, self.head_width = heads, key_value_heads, width // heads
        self.queries_keys_values = nn.Linear(width, (heads + 2 * key_value_heads) * self.head_width)
        self.output = nn.Linear(width, width)

    def project(self, x_BLD: Tensor, rotation: Rotation | None) -> tuple[Tensor, Tensor, Tensor]:
        """Queries (B, H, L, K), keys and values (B, G, L, K); `rotation`, if given, turns the first two."""
        B, L, _ = x_BLD.shape
        heads = self.queries_keys_values(x_BLD).view(B, L, -1, self.head_width).transpose(1, 2)
        queries, keys, values = heads.split([self.heads, self.key_value_heads, self.key_value_heads], dim=1)
        if rotation is not None:
            queries, keys = rotate(queries, rotation), rotate(keys, rotation)
        return queries, keys, values

    def combine(self, found_BHLK: Tensor) -> Tensor:
        """The heads side by side, through the output projection: (B, L, D)."""
        return self.output(found_BHLK.transpose(1, 2).flatten(2))

    def forward(self, x_BLD: Tensor, mask: Tensor | None, rotation: Rotation | None) -> Tensor:
        """Every position looks at the positions `mask` allows: (B, L, D)."""
        return self.combine(attend(*self.project(x_BLD, rotation), mask))


class CrossAttention(nn.Module):
    """Multi-head attention of the target (queries) about the encoder's output (keys and values)."""

    def __init__(self, *, width: int, heads: int, key_value_heads: int) -> None:
        super().__init__()
        self.heads, self.key_value_heads, self.head_width = heads, key_value_heads, width // heads
        self.queries = nn.Linear(width, width)
        self.keys_values = nn.Linear(width, 2 * key_value_heads * self.head_width)
        self.output = nn.Linear(width, width)

    def project_memory(self, memory_BSD: Tensor) -> tuple[Tensor, Tensor]:
        """Keys and values (B, G, S, K) of the memory; made once a sentence, whatever the number of steps."""
        B, S, _ = memory_BSD.shape
        heads = self.keys_values(memory_BSD).view(B, S, -1, self.head_width).transpose(1, 2)
        keys, values = heads.chunk(2, dim=1)
        return keys, values

    def project_queries(self, x_BLD: Tensor) -> Tensor:
        """Queries (B, H, L, K)."""
        B, L, _ = x_BLD.shape
        return self.queries(x_BLD).view(B, L, self.heads, self.head_width).transpose(1, 2)

    def forward(self, x_BLD: Tensor, keys_BGSK: Tensor, values_BGSK: Tensor, mask: Tensor | None) -> Tensor:
        """Every target position looks at the source positions `mask` allows: (B, L, D)."""
        found_BHLK = attend(self.project_queries(x_BLD), keys_BGSK, values_BGSK, mask)
        return self.output(found_BHLK.transpose(1, 2).flatten(2))
