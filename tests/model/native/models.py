"""Small models with random weights, and the native engine of them."""

from typing import Any

import pytest
import torch

from model.config import ModelConfig
from model.native.engine import NativeModel
from model.native.library import NoNativeEngine
from model.transformer import Transformer


def transformer(**variant: Any) -> Transformer:
    """Random weights; sizes that fill no register evenly."""
    torch.manual_seed(7)
    shape: dict[str, Any] = dict(
        vocabulary_size=101, width=40, heads=4, feed_forward_width=70, encoder_layers=2, decoder_layers=2
    )
    model = Transformer(ModelConfig(**{**shape, **variant})).eval().requires_grad_(False)
    for parameter in model.parameters():
        parameter.add_(0.05 * torch.randn_like(parameter))
    return model


def native(model: Transformer, precision: str = "float32") -> NativeModel:
    try:
        return NativeModel(model, precision)
    except NoNativeEngine as error:
        pytest.skip(str(error))
