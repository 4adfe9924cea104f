"""Dropout: the share that is dropped, the mean that stays, and quiet when not training."""

import pytest
import torch

from model.dropout import Dropout

MANY = 400_000


@pytest.mark.parametrize("rate", [0.1, 0.25, 0.5, 0.9])
def test_dropout_drops_its_share_and_keeps_the_mean(rate: float) -> None:
    torch.manual_seed(0)
    kept = Dropout(rate)(torch.ones(MANY))
    share = (kept == 0).float().mean().item()
    assert share == pytest.approx(rate, abs=1 / 512 + 0.003)  # the nearest 256th, and chance
    assert kept.mean().item() == pytest.approx(1.0, rel=0.02)
    assert len(kept.unique()) == 2  # dropped, or scaled up by one factor


@pytest.mark.parametrize("count", [1, 7, 8, 9, 1001])
def test_any_number_of_features_can_be_dropped_from(count: int) -> None:
    assert Dropout(0.5)(torch.ones(count)).shape == (count,)


def test_neighbours_are_dropped_independently() -> None:
    """Eight masks come out of one random number: none may say anything about the next."""
    torch.manual_seed(0)
    is_kept = (Dropout(0.5)(torch.ones(MANY)) != 0).float()
    for distance in (1, 2, 7, 8, 9):
        both = (is_kept[:-distance] * is_kept[distance:]).mean().item()
        assert both == pytest.approx(0.25, abs=0.005)


@pytest.mark.parametrize("rate", [0.0, 0.1, 0.999])
def test_outside_training_nothing_is_dropped(rate: float) -> None:
    x = torch.randn(1000)
    assert torch.equal(Dropout(rate).eval()(x), x)


def test_a_rate_of_zero_drops_nothing_in_training() -> None:
    x = torch.randn(1000)
    assert torch.equal(Dropout(0.0)(x), x)


def test_a_rate_close_to_one_stays_finite() -> None:
    assert Dropout(0.999)(torch.ones(MANY)).isfinite().all()


def test_gradients_flow_through_what_was_kept_alone() -> None:
    x = torch.ones(1000, requires_grad=True)
    kept = Dropout(0.5)(x)
    kept.sum().backward()
    assert x.grad is not None
    assert torch.equal(x.grad, kept.detach())


def test_the_same_seed_drops_the_same_features() -> None:
    dropout, x = Dropout(0.3), torch.ones(1000)
    torch.manual_seed(5)
    first = dropout(x)
    assert not torch.equal(first, dropout(x))
    torch.manual_seed(5)
    assert torch.equal(first, dropout(x))
