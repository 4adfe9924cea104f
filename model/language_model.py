"""A decoder-only language model from the same blocks: masked self-attention and feed-forward, no memory."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from model.config import ModelConfig
from model.dropout import Dropout
from model.positions import Rotation
from model.state import Cache
from model.transformer import Builder, causal_mask


@dataclass(frozen=True)
class LanguageModelState:
    """What the model remembers of N texts: a cache for each layer."""

    caches: tuple[Cache, ...] = ()

    @property
    def length(self) -> int:
        """How many positions have been read."""
        return self.caches[0].length if self.caches else 0

    def select(self, rows_BW: Tensor) -> LanguageModelState:
        """The state whose row (b, w) continues the old row `rows_BW[b, w]`."""
        return LanguageModelState(tuple(cache.select(rows_BW.flatten()) for cache in self.caches))


class LanguageModel(nn.Module):
    """Ids in, logits over the next id out. Of the config's layers it has the `decoder_layers`."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.config = config
        build = Builder(config)
        self.embedding = build.embedding()
        self.positions = build.positions()
        self.dropout = Dropout(config.dropout)
        self.layers = nn.ModuleList([build.self_layer() for _ in range(config.decoder_layers)])
        self.norm = build.final_norm()
        self.output_VD = self.embedding.weight if config.tying != "none" else build.embedding().weight

    def forward(self, ids_BL: Tensor) -> Tensor:
        """All positions in one pass: logits (B, L, V), at l over what follows ids[0 … l]."""
        hidden_BLD, _ = self.read(ids_BL, LanguageModelState())
        return hidden_BLD @ self.output_VD.T

    def step(self, tokens_N: Tensor, state: LanguageModelState) -> tuple[Tensor, LanguageModelState]:
        """One position more: logits (N, V) over what follows `tokens_N`. What every search is built on."""
        hidden_N1D, state = self.read(tokens_N[:, None], state)
        return hidden_N1D[:, 0] @ self.output_VD.T, state

    def read(self, ids_NL: Tensor, state: LanguageModelState) -> tuple[Tensor, LanguageModelState]:
        """L positions after those of `state`: the last layer's output (N, L, D) and the state with them."""
        x = self.embedding(ids_NL) * self.config.width**0.5
        rotation = self.positions(state.length, ids_NL.shape[1])
        if not isinstance(rotation, Rotation):
            x, rotation = x + rotation.to(x.dtype), None
        x = self.dropout(x)
        mask = causal_mask(ids_NL.shape[1], state.length, x.device)
        pasts = state.caches or (None,) * len(self.layers)
        caches = []
        for layer, past in zip(self.layers, pasts, strict=True):
            x, cache = layer(x, mask, rotation, past)
            caches.append(cache)
        return self.norm(x), LanguageModelState(tuple(caches))


def next_id_loss(model: LanguageModel, ids_BL: Tensor) -> Tensor:
    """Mean cross-entropy, in nats, of every id after the first given those before it."""
    logits_BLV = model(ids_BL[:, :-1])
    return nn.functional.cross_entropy(logits_BLV.flatten(0, 1), ids_BL[:, 1:].flatten())


@torch.inference_mode()
def continue_greedily(model: LanguageModel, ids: list[int], count: int) -> list[int]:
    """The `count` likeliest next ids, one after the other, each read once thanks to the cache."""
    hidden_1LD, state = model.read(torch.tensor([ids]), LanguageModelState())
    chosen = [int((hidden_1LD[0, -1] @ model.output_VD.T).argmax())]
    while len(chosen) < count:
        logits_1V, state = model.step(torch.tensor(chosen[-1:]), state)
        chosen.append(int(logits_1V.argmax()))
    return chosen
