"""The encoder-decoder Transformer (arXiv 1706.03762): the place that reads the config and builds all parts."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import torch
from torch import Tensor, nn
from torch.nn import functional

from model.attention import CrossAttention, SelfAttention
from model.config import ModelConfig
from model.dropout import Dropout
from model.feed_forward import GeluFeedForward, ReluFeedForward, SiluFeedForward, SwiGluFeedForward
from model.layers import DecoderLayer, PostNorm, PreNorm, SelfLayer
from model.norms import LayerNorm, RMSNorm
from model.positions import (
    Code,
    LearnedPositions,
    RotaryPositions,
    Rotation,
    SinusoidalPositions,
    SinusoidalPositionsInHalves,
)
from model.state import DecoderState

Part = TypeVar("Part", bound=nn.Module)

NORMS: dict[str, type[nn.Module]] = {"layer": LayerNorm, "rms": RMSNorm}
PLACEMENTS: dict[str, type[PreNorm]] = {"pre": PreNorm, "post": PostNorm}
FEED_FORWARDS: dict[str, type[nn.Module]] = {
    "relu": ReluFeedForward,
    "gelu": GeluFeedForward,
    "silu": SiluFeedForward,
    "swiglu": SwiGluFeedForward,
}
POSITIONS: dict[str, Callable[[ModelConfig], nn.Module]] = {
    "sinusoidal": lambda c: SinusoidalPositions(width=c.width, max_positions=c.max_positions),
    "sinusoidal-halves": lambda c: SinusoidalPositionsInHalves(width=c.width, max_positions=c.max_positions),
    "learned": lambda c: LearnedPositions(width=c.width, max_positions=c.max_positions),
    "rope": lambda c: RotaryPositions(head_width=c.head_width, max_positions=c.max_positions),
}


class Transformer(nn.Module):
    """Source ids in, logits over the next target id out.

    Training calls `forward`; decoding calls `encode`, `start`, then `step` once a position.
    """

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.config = config
        build = Builder(config)
        self.source_embedding = build.embedding()
        self.target_embedding = self.source_embedding if config.tying == "all" else build.embedding()
        self.source_positions = build.positions()
        self.target_positions = build.positions()
        self.dropout = Dropout(config.dropout)
        self.encoder = nn.ModuleList([build.self_layer() for _ in range(config.encoder_layers)])
        self.encoder_norm = build.final_norm()
        self.decoder = nn.ModuleList([build.decoder_layer() for _ in range(config.decoder_layers)])
        self.decoder_norm = build.final_norm()
        self.output_VD = self.target_embedding.weight if config.tying != "none" else build.embedding().weight
        self.output_bias_V = build.output_bias()

    def forward(self, source_BS: Tensor, target_BT: Tensor) -> Tensor:
        """Teacher forcing: logits (B, T, V), at t over what follows target[0 … t]."""
        return self.logits(self.hidden(source_BS, target_BT))

    def hidden(self, source_BS: Tensor, target_BT: Tensor) -> Tensor:
        """The decoder's output (B, T, D) before the projection to the vocabulary."""
        hidden_BTD, _ = self.decode(target_BT, self.start(source_BS))
        return hidden_BTD

    def logits(self, hidden: Tensor) -> Tensor:
        """(…, D) to (…, V)."""
        return functional.linear(hidden, self.output_VD, self.output_bias_V)

    def encode(self, source_BS: Tensor, mask_BS: Tensor) -> Tensor:
        """The memory (B, S, D): every real position has looked at every real position."""
        x, rotation = self._embed(
            source_BS, self.source_embedding, self.source_positions(0, source_BS.shape[1])
        )
        mask = mask_BS[:, None, None, :]
        for layer in self.encoder:
            x, _ = layer(x, mask, rotation)
        return self.encoder_norm(x)

    def start(self, source_BS: Tensor) -> DecoderState:
        """The state before the first target position; padding is where the ids are `pad_id`."""
        mask_BS = source_BS != self.config.pad_id
        memory_BSD = self.encode(source_BS, mask_BS)
        memories = tuple(layer.remember(memory_BSD) for layer in self.decoder)  # type: ignore[operator]
        return DecoderState(caches=(), memories=memories, memory_mask_BS=mask_BS)

    def step(self, tokens_N: Tensor, state: DecoderState) -> tuple[Tensor, DecoderState]:
        """One position more: logits (N, V) over what follows `tokens_N`."""
        hidden_N1D, state = self.decode(tokens_N[:, None], state)
        return self.logits(hidden_N1D[:, 0]), state

    def decode(self, target_NL: Tensor, state: DecoderState) -> tuple[Tensor, DecoderState]:
        """L positions after those of `state`: the decoder's output (N, L, D) and the state with them."""
        length, past = target_NL.shape[1], state.length
        code = self.target_positions(past, length)
        return self.decode_at(target_NL, state, code, causal_mask(length, past, target_NL.device))

    def decode_at(
        self, target_NL: Tensor, state: DecoderState, code: Code, mask: Tensor | None
    ) -> tuple[Tensor, DecoderState]:
        """The same, for a caller who says where the positions are, and which ones of the cache they may look at."""
        x, rotation = self._embed(target_NL, self.target_embedding, code)
        memory_mask = state.memory_mask_BS[:, None, None, :]
        pasts = state.caches or (None,) * len(self.decoder)
        caches = []
        for layer, past, memory in zip(self.decoder, pasts, state.memories, strict=True):
            x, cache = layer(x, mask, rotation, past, memory, memory_mask)
            caches.append(cache)
        return self.decoder_norm(x), DecoderState(tuple(caches), state.memories, state.memory_mask_BS)

    def _embed(self, ids_BL: Tensor, embedding: nn.Embedding, code: Code) -> tuple[Tensor, Rotation | None]:
        x_BLD = embedding(ids_BL) * self.config.width**0.5
        if isinstance(code, Rotation):
            return self.dropout(x_BLD), code
        return self.dropout(x_BLD + code.to(x_BLD.dtype)), None


class Builder:
    """Makes the parts that a config asks for; each variant is looked up once, here."""

    def __init__(self, config: ModelConfig) -> None:
        self.config = config

    def embedding(self) -> nn.Embedding:
        """Table (V, D). Its entries start at variance 1/D, so that scaled by √D they have variance 1."""
        embedding = nn.Embedding(self.config.vocabulary_size, self.config.width)
        nn.init.normal_(embedding.weight, std=self.config.width**-0.5)
        return embedding

    def positions(self) -> nn.Module:
        return POSITIONS[self.config.positions](self.config)

    def output_bias(self) -> nn.Parameter | None:
        """(V,), zero at first, if the config has one."""
        is_learned = self.config.output_bias == "learned"
        return nn.Parameter(torch.zeros(self.config.vocabulary_size)) if is_learned else None

    def norm(self) -> nn.Module:
        return NORMS[self.config.norm](width=self.config.width, epsilon=self.config.norm_epsilon)

    def final_norm(self) -> nn.Module:
        """Pre-norm leaves the residual sum itself unnormalised: it needs one more norm at the end."""
        return self.norm() if self.config.placement == "pre" else nn.Identity()

    def around(self) -> PreNorm:
        return PLACEMENTS[self.config.placement](self.norm(), Dropout(self.config.dropout))

    def self_attention(self) -> SelfAttention:
        return initialise(SelfAttention(**self._heads()))

    def feed_forward(self) -> nn.Module:
        kind = FEED_FORWARDS[self.config.feed_forward]
        return initialise(kind(width=self.config.width, inner_width=self.config.feed_forward_width))

    def self_layer(self) -> SelfLayer:
        return SelfLayer(
            attention=self.self_attention(),
            feed_forward=self.feed_forward(),
            around_attention=self.around(),
            around_feed_forward=self.around(),
        )

    def decoder_layer(self) -> DecoderLayer:
        return DecoderLayer(
            attention=self.self_attention(),
            cross_attention=initialise(CrossAttention(**self._heads())),
            feed_forward=self.feed_forward(),
            around_attention=self.around(),
            around_cross_attention=self.around(),
            around_feed_forward=self.around(),
        )

    def _heads(self) -> dict[str, int]:
        return dict(
            width=self.config.width, heads=self.config.heads, key_value_heads=self.config.key_value_heads
        )


def causal_mask(length: int, past: int, device: torch.device) -> Tensor | None:
    """(L, past + L), True where new position l may look: all of the past, itself and what is before it.

    None for a single position, which may look everywhere.
    """
    if length == 1:
        return None
    return torch.ones(length, past + length, dtype=torch.bool, device=device).tril(past)


def initialise(part: Part) -> Part:
    """Xavier-uniform matrices and zero biases, in place."""
    for module in part.modules():
        if isinstance(module, nn.Linear):
            nn.init.xavier_uniform_(module.weight)
            nn.init.zeros_(module.bias)
    return part
