"""Where norm and residual sum stand around each sublayer, written out plainly."""

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from model.layers import DecoderLayer, PreNorm, SelfLayer
from model.state import Memory
from model.transformer import Builder, causal_mask
from tests.model.variants import disturbed, small_config

Sublayer = Callable[[Tensor], Tensor]


def pre(x: Tensor, around: PreNorm, sublayer: Sublayer) -> Tensor:
    return x + sublayer(around.norm(x))


def post(x: Tensor, around: PreNorm, sublayer: Sublayer) -> Tensor:
    return around.norm(x + sublayer(x))


PLACEMENTS = [("pre", pre), ("post", post)]


@pytest.mark.parametrize(("placement", "around"), PLACEMENTS)
def test_an_encoder_layer_is_attention_then_feed_forward(
    placement: str, around: Callable[[Tensor, PreNorm, Sublayer], Tensor]
) -> None:
    layer = disturbed(Builder(small_config(placement=placement)).self_layer())
    assert isinstance(layer, SelfLayer)
    x, mask = torch.randn(2, 6, 16), torch.rand(2, 1, 1, 6) < 0.7
    y = around(x, layer.around_attention, lambda inner: layer.attention(inner, mask, None))
    expected = around(y, layer.around_feed_forward, layer.feed_forward)
    torch.testing.assert_close(layer(x, mask, None)[0], expected)


@pytest.mark.parametrize(("placement", "around"), PLACEMENTS)
def test_a_decoder_layer_is_attention_then_cross_attention_then_feed_forward(
    placement: str, around: Callable[[Tensor, PreNorm, Sublayer], Tensor]
) -> None:
    layer = disturbed(Builder(small_config(placement=placement)).decoder_layer())
    assert isinstance(layer, DecoderLayer)
    x, memory_BSD = torch.randn(2, 6, 16), torch.randn(2, 5, 16)
    mask, memory_mask = causal_mask(6, 0, x.device), torch.rand(2, 1, 1, 5) < 0.7
    memory = Memory(*layer.cross_attention.project_memory(memory_BSD))
    y = around(x, layer.around_attention, lambda inner: layer.attention(inner, mask, None))
    z = around(
        y, layer.around_cross_attention, lambda inner: layer.cross_attention(inner, *memory, memory_mask)
    )
    expected = around(z, layer.around_feed_forward, layer.feed_forward)
    torch.testing.assert_close(layer(x, mask, None, None, memory, memory_mask)[0], expected)


def test_post_norm_puts_out_normalised_features_and_pre_norm_does_not() -> None:
    x = 5 * torch.randn(3, 7, 16)
    for placement, is_normalised in (("pre", False), ("post", True)):
        layer = Builder(small_config(placement=placement)).self_layer()
        deviation = layer(x, None, None)[0].std(dim=-1, correction=0)
        assert torch.allclose(deviation, torch.ones(3, 7), atol=1e-3) == is_normalised
