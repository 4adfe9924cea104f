"""Feed-forward networks against their formulas in float64."""

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

from model.feed_forward import GeluFeedForward, ReluFeedForward, SiluFeedForward, SwiGluFeedForward
from tests.model.variants import disturbed

KINDS = [ReluFeedForward, GeluFeedForward, SiluFeedForward, SwiGluFeedForward]


def linear(x: Tensor, layer: nn.Linear) -> Tensor:
    return x @ layer.weight.double().T + layer.bias.double()


def relu_formula(net: ReluFeedForward, x: Tensor) -> Tensor:
    return linear(linear(x, net.up).clamp(min=0), net.down)


def gelu_formula(net: GeluFeedForward, x: Tensor) -> Tensor:
    """x · Φ(x), with Φ the normal distribution: not the tanh approximation."""
    up = linear(x, net.up)
    return linear(up * 0.5 * (1 + torch.erf(up / 2**0.5)), net.down)


def silu_formula(net: SiluFeedForward, x: Tensor) -> Tensor:
    up = linear(x, net.up)
    return linear(up / (1 + (-up).exp()), net.down)


def swiglu_formula(net: SwiGluFeedForward, x: Tensor) -> Tensor:
    gate = linear(x, net.gate)
    return linear(gate / (1 + (-gate).exp()) * linear(x, net.up), net.down)


FORMULAS: list[tuple[type[ReluFeedForward], Callable[..., Tensor]]] = [
    (ReluFeedForward, relu_formula),
    (GeluFeedForward, gelu_formula),
    (SiluFeedForward, silu_formula),
    (SwiGluFeedForward, swiglu_formula),
]


@pytest.mark.parametrize(("kind", "formula"), FORMULAS)
def test_a_feed_forward_network_equals_its_formula(
    kind: type[ReluFeedForward], formula: Callable[..., Tensor]
) -> None:
    torch.manual_seed(0)
    net = disturbed(kind(width=16, inner_width=40))
    x = 3 * torch.randn(2, 5, 16)
    torch.testing.assert_close(net(x).double(), formula(net, x.double()), atol=2e-5, rtol=2e-5)


@pytest.mark.parametrize("kind", KINDS)
def test_changing_one_position_changes_no_other(kind: type[ReluFeedForward]) -> None:
    net = disturbed(kind(width=16, inner_width=40))
    x = torch.randn(2, 5, 16)
    changed = x.clone()
    changed[1, 2] += 1
    is_other = torch.ones(2, 5, dtype=torch.bool)
    is_other[1, 2] = False
    assert torch.equal(net(x)[is_other], net(changed)[is_other])
    assert not torch.allclose(net(x)[1, 2], net(changed)[1, 2])


def test_the_base_network_goes_from_512_to_2048_and_back() -> None:
    net = ReluFeedForward(width=512, inner_width=2048)
    assert net.up(torch.randn(1, 512)).shape == (1, 2048)
    assert net(torch.randn(3, 512)).shape == (3, 512)
