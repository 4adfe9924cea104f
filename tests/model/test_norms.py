"""Norms against their formulas in float64."""

import pytest
import torch
from torch import Tensor, nn

from model.norms import LayerNorm, RMSNorm
from tests.model.variants import disturbed


def layer_formula(norm: LayerNorm, x: Tensor) -> Tensor:
    mean = x.mean(dim=-1, keepdim=True)
    variance = (x - mean).square().mean(dim=-1, keepdim=True)
    return (x - mean) / (variance + norm.epsilon).sqrt() * norm.gain.double() + norm.bias.double()


def rms_formula(norm: RMSNorm, x: Tensor) -> Tensor:
    return x / (x.square().mean(dim=-1, keepdim=True) + norm.epsilon).sqrt() * norm.gain.double()


# Values far from zero, and a spread so small that ε decides.
SPREAD = torch.randn(2, 3, 8, generator=torch.Generator().manual_seed(0))
INPUTS = [SPREAD, 100 + SPREAD, 1e-3 * SPREAD, torch.zeros(1, 8)]


@pytest.mark.parametrize("epsilon", [1e-6, 1e-2])
@pytest.mark.parametrize("x", INPUTS, ids=["unit", "shifted", "narrow", "zero"])
def test_layer_norm_equals_its_formula(x: Tensor, epsilon: float) -> None:
    norm = disturbed(LayerNorm(width=8, epsilon=epsilon))
    torch.testing.assert_close(norm(x).double(), layer_formula(norm, x.double()), atol=2e-5, rtol=2e-5)


@pytest.mark.parametrize("epsilon", [1e-6, 1e-2])
@pytest.mark.parametrize("x", INPUTS, ids=["unit", "shifted", "narrow", "zero"])
def test_rms_norm_equals_its_formula(x: Tensor, epsilon: float) -> None:
    norm = disturbed(RMSNorm(width=8, epsilon=epsilon))
    torch.testing.assert_close(norm(x).double(), rms_formula(norm, x.double()), atol=2e-5, rtol=2e-5)


@pytest.mark.parametrize("norm", [LayerNorm(width=8, epsilon=1e-5), RMSNorm(width=8, epsilon=1e-5)])
def test_each_position_is_normalised_alone(norm: nn.Module) -> None:
    x = torch.randn(2, 5, 8)
    changed = x.clone()
    changed[0, 3] = 7 * torch.randn(8)
    same = torch.ones(2, 5, dtype=torch.bool)
    same[0, 3] = False
    assert torch.equal(norm(x)[same], norm(changed)[same])


def test_rms_norm_has_no_bias_and_keeps_the_mean() -> None:
    norm = RMSNorm(width=8, epsilon=1e-6)
    assert [name for name, _ in norm.named_parameters()] == ["gain"]
    assert norm(3 + torch.zeros(8)).mean().item() == pytest.approx(1.0, abs=1e-4)
