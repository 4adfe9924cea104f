"""Small models of every variant, with weights that hide nothing: no gain is one, no bias is zero."""

from __future__ import annotations

from itertools import product
from typing import Any, TypeVar

import torch
from torch import Tensor, nn

from model.config import ModelConfig
from model.transformer import Transformer

Part = TypeVar("Part", bound=nn.Module)

POSITIONS = ("sinusoidal", "sinusoidal-halves", "learned", "rope")
KEY_VALUE_HEADS = (1, 2, 4)
SMALL: dict[str, Any] = dict(
    vocabulary_size=24,
    width=16,
    heads=4,
    key_value_heads=2,
    feed_forward_width=24,
    encoder_layers=2,
    decoder_layers=2,
    dropout=0.0,
    max_positions=40,
)
AXES: dict[str, tuple[Any, ...]] = dict(
    positions=("sinusoidal", "learned", "rope"),
    norm=("layer", "rms"),
    placement=("pre", "post"),
    feed_forward=("relu", "gelu", "swiglu"),
    key_value_heads=KEY_VALUE_HEADS,
    tying=("all", "output", "none"),
)
# How Marian builds models, and what of it could get on badly with the rest.
OF_MARIAN: dict[str, Any] = dict(
    positions="sinusoidal-halves",
    norm="layer",
    placement="post",
    feed_forward="silu",
    key_value_heads=4,
    tying="all",
    output_bias="learned",
    start_id=0,
)
ALL_VARIANTS = [
    *(dict(zip(AXES, values, strict=True)) for values in product(*AXES.values())),
    OF_MARIAN,
    OF_MARIAN | dict(placement="pre", norm="rms", tying="none"),
    OF_MARIAN | dict(positions="rope", key_value_heads=1, tying="output"),
]


def named(variant: dict[str, Any]) -> str:
    return "-".join(str(value) for value in variant.values())


def small_config(**fields: Any) -> ModelConfig:
    return ModelConfig(**{**SMALL, **fields})


def small_model(seed: int = 0, **fields: Any) -> Transformer:
    """A model in evaluation mode with every parameter off its neutral start."""
    torch.manual_seed(seed)
    return disturbed(Transformer(small_config(**fields))).eval()


def disturbed(part: Part) -> Part:
    with torch.no_grad():
        for parameter in part.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.1)
    return part


def ids(*shape: int, vocabulary_size: int = SMALL["vocabulary_size"]) -> Tensor:
    """Random text ids: above the control ids 0 … 3."""
    return torch.randint(4, vocabulary_size, shape)


def padded(rows: list[Tensor], pad_id: int = 0) -> Tensor:
    return nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=pad_id)
