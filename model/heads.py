"""Attention heads by name, and a model in which some of them are switched off."""

from __future__ import annotations

import copy
from collections.abc import Iterable
from typing import Literal, NamedTuple, cast, get_args

from torch import nn

from model.attention import CrossAttention, SelfAttention
from model.layers import DecoderLayer, SelfLayer
from model.transformer import Transformer

Part = Literal["encoder", "decoder", "cross"]


class Head(NamedTuple):
    """One head: `encoder` and `decoder` are self-attention, `cross` is the decoder's attention about the source."""

    part: Part
    layer: int
    number: int


def attention_of(model: Transformer, part: Part, layer: int) -> SelfAttention | CrossAttention:
    """The sublayer; ValueError names what is not there and what is."""
    if part not in get_args(Part):
        raise ValueError(f"no part {part!r}; there are {', '.join(get_args(Part))}")
    layers = model.encoder if part == "encoder" else model.decoder
    if not 0 <= layer < len(layers):
        raise ValueError(f"{part}: no layer {layer}; there are 0 to {len(layers) - 1}")
    if part == "encoder":
        return cast(SelfLayer, layers[layer]).attention
    decoder_layer = cast(DecoderLayer, layers[layer])
    return decoder_layer.cross_attention if part == "cross" else decoder_layer.attention


def without_heads(model: Transformer, heads: Iterable[Head]) -> Transformer:
    """The same model, but these heads write nothing into the residual stream; `model` itself is left as it is.

    What a head has found enters the sum through its own columns of the output projection: they become zero. All
    other weights are shared with `model`, so this costs one matrix a head. ValueError for a head that is not there.
    """
    heads = list(heads)
    if not heads:
        return model
    shared = {id(tensor): tensor for tensor in (*model.parameters(), *model.buffers())}
    changed = copy.deepcopy(model, memo=shared)  # the modules anew, their tensors the same
    for part, layer, number in heads:
        attention = attention_of(changed, part, layer)
        if not 0 <= number < attention.heads:
            raise ValueError(f"{part}, layer {layer}: no head {number}; there are 0 to {attention.heads - 1}")
        weight = attention.output.weight.detach().clone()
        weight[:, number * attention.head_width : (number + 1) * attention.head_width] = 0
        attention.output.weight = nn.Parameter(weight, requires_grad=False)
    return changed
