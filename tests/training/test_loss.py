"""The fused loss against the formula in float64."""

import pytest
import torch
from torch import Tensor
from torch.nn import functional

from training.loss import CHUNK, output_loss


def example(rows: int) -> tuple[Tensor, Tensor, Tensor]:
    generator = torch.Generator().manual_seed(rows)
    hidden = torch.randn(rows, 12, generator=generator, dtype=torch.float64)
    output = torch.randn(31, 12, generator=generator, dtype=torch.float64)
    return hidden, output, torch.randint(31, (rows,), generator=generator)


@pytest.mark.parametrize("rows", [1, 7, CHUNK, CHUNK + 1, 2 * CHUNK + 5])
@pytest.mark.parametrize("smoothing", [0.0, 0.1, 0.5])
def test_loss_and_gradients_equal_smoothed_cross_entropy(rows: int, smoothing: float) -> None:
    hidden, output, targets = example(rows)
    wanted_hidden, wanted_output = hidden.clone().requires_grad_(), output.clone().requires_grad_()
    wanted = functional.cross_entropy(
        wanted_hidden @ wanted_output.T, targets, label_smoothing=smoothing, reduction="sum"
    )
    wanted.backward()

    got_hidden, got_output = hidden.float().requires_grad_(), output.float().requires_grad_()
    got = output_loss(got_hidden[None], got_output, targets, smoothing=smoothing)
    got.backward()

    torch.testing.assert_close(got.double(), wanted.detach(), rtol=1e-5, atol=1e-4)
    assert got_hidden.grad is not None
    assert got_output.grad is not None
    torch.testing.assert_close(got_hidden.grad.double(), wanted_hidden.grad, rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(got_output.grad.double(), wanted_output.grad, rtol=1e-4, atol=2e-4)


@pytest.mark.parametrize("rows", [1, CHUNK + 3])
@pytest.mark.parametrize("consistency", [0.0, 5.0])
def test_the_loss_of_two_passes_is_their_mean_of_two_passes_and_their_divergence(
    rows: int, consistency: float
) -> None:
    hidden, output, targets = example(rows)
    twins = torch.stack([hidden, hidden + 0.5 * torch.sin(7 * hidden)])
    wanted_hidden, wanted_output = twins.clone().requires_grad_(), output.clone().requires_grad_()
    first, second = (wanted_hidden @ wanted_output.T).log_softmax(dim=-1)
    wanted = torch.zeros((), dtype=torch.float64)
    for a, b in ((first, second), (second, first)):
        wanted = wanted + consistency / 4 * functional.kl_div(a, b, log_target=True, reduction="sum")
    for one in (first, second):
        wanted = wanted + functional.cross_entropy(one, targets, label_smoothing=0.1, reduction="sum") / 2
    wanted.backward()

    got_hidden, got_output = twins.float().requires_grad_(), output.float().requires_grad_()
    got = output_loss(got_hidden, got_output, targets, smoothing=0.1, consistency=consistency)
    got.backward()

    torch.testing.assert_close(got.double(), wanted.detach(), rtol=1e-5, atol=1e-4)
    assert got_hidden.grad is not None
    assert got_output.grad is not None
    torch.testing.assert_close(got_hidden.grad.double(), wanted_hidden.grad, rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(got_output.grad.double(), wanted_output.grad, rtol=1e-4, atol=2e-3)


def test_two_equal_passes_cost_what_one_does() -> None:
    hidden, output, targets = example(20)
    one = output_loss(hidden.float()[None], output.float(), targets, smoothing=0.1)
    two = output_loss(
        torch.stack([hidden, hidden]).float(), output.float(), targets, smoothing=0.1, consistency=5
    )
    torch.testing.assert_close(one, two)


def test_a_factor_after_the_loss_reaches_the_gradients() -> None:
    hidden, output, targets = example(9)
    once, thrice = hidden.float().requires_grad_(), hidden.float().requires_grad_()
    output_loss(once[None], output.float(), targets, smoothing=0.1).backward()
    (3 * output_loss(thrice[None], output.float(), targets, smoothing=0.1)).backward()
    assert once.grad is not None
    torch.testing.assert_close(thrice.grad, 3 * once.grad)


def test_bfloat16_rounds_the_products_and_not_the_softmax() -> None:
    hidden, output, targets = example(40)
    exact = output_loss(hidden.float()[None], output.float(), targets, smoothing=0.1)
    narrow = output_loss(hidden.bfloat16()[None], output.bfloat16(), targets, smoothing=0.1)
    assert narrow.dtype == torch.float32
    torch.testing.assert_close(narrow, exact, rtol=1e-2, atol=0)
