"""Encoder and decoder layers: attention and feed-forward, each with its norm and its residual sum."""

from __future__ import annotations

from torch import Tensor, nn

from model.attention import CrossAttention, SelfAttention, attend
from model.dropout import Dropout
from model.positions import Rotation
from model.state import Cache, Memory


class PreNorm(nn.Module):
    """Residual sum around a sublayer that reads normalised input (arXiv 2002.04745): x + f(norm(x))."""

    def __init__(self, norm: nn.Module, dropout: Dropout) -> None:
        super().__init__()
        self.norm, self.dropout = norm, dropout

    def enter(self, x: Tensor) -> Tensor:
        """What the sublayer reads."""
        return self.norm(x)

    def leave(self, x: Tensor, added: Tensor) -> Tensor:
        """The sum with what the sublayer wrote."""
        return x + self.dropout(added)


class PostNorm(PreNorm):
    """The original placement (arXiv 1706.03762): norm(x + f(x))."""

    def enter(self, x: Tensor) -> Tensor:
        """What the sublayer reads."""
        return x

    def leave(self, x: Tensor, added: Tensor) -> Tensor:
        """The normalised sum with what the sublayer wrote."""
        return self.norm(x + self.dropout(added))


class SelfLayer(nn.Module):
    """Self-attention, then feed-forward: a layer of the encoder, and of the decoder-only language model."""

    def __init__(
        self,
        *,
        attention: SelfAttention,
        feed_forward: nn.Module,
        around_attention: PreNorm,
        around_feed_forward: PreNorm,
    ) -> None:
        super().__init__()
        self.attention, self.around_attention = attention, around_attention
        self.feed_forward, self.around_feed_forward = feed_forward, around_feed_forward

    def forward(
        self, x_BLD: Tensor, mask: Tensor | None, rotation: Rotation | None, past: Cache | None = None
    ) -> tuple[Tensor, Cache]:
        """L positions after those in `past`: (B, L, D), and the cache with them."""
        x = x_BLD
        added, cache = attend_to_self(self.attention, self.around_attention.enter(x), mask, rotation, past)
        x = self.around_attention.leave(x, added)
        x = self.around_feed_forward.leave(x, self.feed_forward(self.around_feed_forward.enter(x)))
        return x, cache


class DecoderLayer(nn.Module):
    """Masked self-attention, cross-attention to the memory, then feed-forward."""

    def __init__(
        self,
        *,
        attention: SelfAttention,
        cross_attention: CrossAttention,
        feed_forward: nn.Module,
        around_attention: PreNorm,
        around_cross_attention: PreNorm,
        around_feed_forward: PreNorm,
    ) -> None:
        super().__init__()
        self.attention, self.around_attention = attention, around_attention
        self.cross_attention, self.around_cross_attention = cross_attention, around_cross_attention
        self.feed_forward, self.around_feed_forward = feed_forward, around_feed_forward

    def remember(self, memory_BSD: Tensor) -> Memory:
        """What the layer's cross-attention asks at every step, made once a sentence."""
        return Memory(*self.cross_attention.project_memory(memory_BSD))

    def forward(
        self,
        x_NLD: Tensor,
        mask: Tensor | None,
        rotation: Rotation | None,
        past: Cache | None,
        memory: Memory,
        memory_mask: Tensor,
    ) -> tuple[Tensor, Cache]:
        """L positions after those in `past`, for N = B × W rows over a memory of B sentences."""
        x = x_NLD
        added, cache = attend_to_self(self.attention, self.around_attention.enter(x), mask, rotation, past)
        x = self.around_attention.leave(x, added)
        # The W hypotheses of a sentence ask the same memory: they are laid side by side as W × L queries.
        asking = self.around_cross_attention.enter(x).reshape(len(memory.keys), -1, x.shape[-1])
        found = self.cross_attention(asking, memory.keys, memory.values, memory_mask)
        x = self.around_cross_attention.leave(x, found.view_as(x))
        x = self.around_feed_forward.leave(x, self.feed_forward(self.around_feed_forward.enter(x)))
        return x, cache


def attend_to_self(
    attention: SelfAttention,
    x_NLD: Tensor,
    mask: Tensor | None,
    rotation: Rotation | None,
    past: Cache | None,
) -> tuple[Tensor, Cache]:
    """Self-attention of L new positions about themselves and the past; the cache comes out longer by them."""
    queries, keys, values = attention.project(x_NLD, rotation)
    cache = Cache(keys, values) if past is None else past.extend(keys, values)
    return attention.combine(attend(queries, cache.keys, cache.values, mask)), cache
