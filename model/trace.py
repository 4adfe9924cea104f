"""The forward pass of one sentence with everything that it computes on its way kept: the model's own steps, noted.

Each sublayer is called with the functions that `model/layers.py` calls it with, in the same order, so that what is
noted is what decoding used; tests hold the two together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, cast

import torch
from torch import Tensor, nn

from model.attention import CrossAttention, SelfAttention, attend, attention_weights
from model.layers import DecoderLayer, PreNorm, SelfLayer
from model.positions import Rotation
from model.transformer import Transformer, causal_mask


class HeadsAtWork(NamedTuple):
    """What the heads of one sublayer asked, were offered, and did with it, for one sequence of L positions."""

    queries_HLK: Tensor
    keys_GMK: Tensor
    values_GMK: Tensor
    weights_HLM: Tensor  # each row sums to 1


class Written(NamedTuple):
    """What one sublayer added to the residual stream, and the stream after it."""

    sublayer: str  # "attention", "cross-attention" or "feed-forward"
    added_LD: Tensor
    stream_LD: Tensor


@dataclass(frozen=True)
class LayerTrace:
    """One block. `cross` is None in the encoder."""

    attention: HeadsAtWork
    cross: HeadsAtWork | None
    written: tuple[Written, ...]

    @property
    def output(self) -> Tensor:
        """The residual stream as the block leaves it."""
        return self.written[-1].stream_LD


@dataclass(frozen=True)
class StackTrace:
    """Encoder or decoder, from the embeddings to its output."""

    embedded_LD: Tensor  # pieces alone, scaled by √D
    code_LD: Tensor  # what tells the positions: added, or for rotary positions (cos, sin) side by side
    layers: tuple[LayerTrace, ...]
    output_LD: Tensor


@torch.inference_mode()
def trace_encoder(model: Transformer, source_ids: Sequence[int]) -> StackTrace:
    """How one source becomes its memory, `output_LD`; there is no padding, so every position may look everywhere."""
    ids_1L, x, rotation = _entered(model, source_ids, model.source_embedding, model.source_positions)
    mask = torch.ones_like(ids_1L, dtype=torch.bool)[:, None, None, :]
    layers = []
    for layer in cast("list[SelfLayer]", list(model.encoder)):
        heads, written, x = _self_attention(layer.attention, layer.around_attention, x, mask, rotation)
        fed, x = _feed_forward(layer, x)
        layers.append(LayerTrace(heads, None, (written, fed)))
    return StackTrace(
        *_embedding(model, ids_1L, model.source_embedding, model.source_positions),
        tuple(layers),
        model.encoder_norm(x)[0],
    )


@torch.inference_mode()
def trace_decoder(model: Transformer, target_ids: Sequence[int], memory_SD: Tensor) -> StackTrace:
    """How each position of a target, which begins with the start id, comes to say what follows it."""
    ids_1L, x, rotation = _entered(model, target_ids, model.target_embedding, model.target_positions)
    mask = causal_mask(len(target_ids), 0, x.device)
    memory_mask = torch.ones(1, 1, 1, len(memory_SD), dtype=torch.bool, device=x.device)
    layers = []
    for layer in cast("list[DecoderLayer]", list(model.decoder)):
        heads, written, x = _self_attention(layer.attention, layer.around_attention, x, mask, rotation)
        cross, looked, x = _cross_attention(layer, x, memory_SD[None], memory_mask)
        fed, x = _feed_forward(layer, x)
        layers.append(LayerTrace(heads, cross, (written, looked, fed)))
    return StackTrace(
        *_embedding(model, ids_1L, model.target_embedding, model.target_positions),
        tuple(layers),
        model.decoder_norm(x)[0],
    )


def _entered(
    model: Transformer, ids: Sequence[int], embedding: nn.Embedding, positions: nn.Module
) -> tuple[Tensor, Tensor, Rotation | None]:
    ids_1L = torch.tensor([list(ids)], device=model.output_VD.device)
    return ids_1L, *model._embed(ids_1L, embedding, positions(0, len(ids)))


def _embedding(
    model: Transformer, ids_1L: Tensor, embedding: nn.Embedding, positions: nn.Module
) -> tuple[Tensor, Tensor]:
    code = positions(0, ids_1L.shape[1])
    told = torch.cat([code.cos, code.sin], dim=1) if isinstance(code, Rotation) else code
    return embedding(ids_1L)[0] * model.config.width**0.5, told


def _self_attention(
    attention: SelfAttention, around: PreNorm, x: Tensor, mask: Tensor | None, rotation: Rotation | None
) -> tuple[HeadsAtWork, Written, Tensor]:
    queries, keys, values = attention.project(around.enter(x), rotation)
    added = attention.combine(attend(queries, keys, values, mask))
    stream = around.leave(x, added)
    return _at_work(queries, keys, values, mask), Written("attention", added[0], stream[0]), stream


def _cross_attention(
    layer: DecoderLayer, x: Tensor, memory_1SD: Tensor, mask: Tensor
) -> tuple[HeadsAtWork, Written, Tensor]:
    cross: CrossAttention = layer.cross_attention
    asking = layer.around_cross_attention.enter(x)
    memory = layer.remember(memory_1SD)
    added = cross(asking, memory.keys, memory.values, mask)
    stream = layer.around_cross_attention.leave(x, added)
    heads = _at_work(cross.project_queries(asking), memory.keys, memory.values, mask)
    return heads, Written("cross-attention", added[0], stream[0]), stream


def _feed_forward(layer: SelfLayer | DecoderLayer, x: Tensor) -> tuple[Written, Tensor]:
    added = layer.feed_forward(layer.around_feed_forward.enter(x))
    stream = layer.around_feed_forward.leave(x, added)
    return Written("feed-forward", added[0], stream[0]), stream


def _at_work(queries: Tensor, keys: Tensor, values: Tensor, mask: Tensor | None) -> HeadsAtWork:
    return HeadsAtWork(queries[0], keys[0], values[0], attention_weights(queries, keys, mask)[0])
