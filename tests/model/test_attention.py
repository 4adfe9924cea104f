"""Attention against the numbers of the paper's formula, worked out by hand or in float64."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from model.attention import CrossAttention, SelfAttention, attend, attention_weights
from model.positions import RotaryPositions
from tests.model.variants import disturbed

DTYPES = [torch.float32, torch.bfloat16, torch.float16]


def heads(B: int, H: int, L: int, K: int) -> Tensor:
    return torch.randn(B, H, L, K)


# --- the formula


def test_scores_two_and_zero_give_the_weights_of_their_softmax() -> None:
    """One head of width 4: q·k = 4 and 0, divided by √4."""
    query = torch.tensor([[[[2.0, 0, 0, 0]]]])
    keys = torch.tensor([[[[2.0, 0, 0, 0], [0, 0, 0, 0]]]])
    values = torch.tensor([[[[1.0, 0.0], [0.0, 2.0]]]])
    weights = attention_weights(query, keys, None)
    torch.testing.assert_close(weights, torch.tensor([[[[0.881, 0.119]]]]), atol=5e-4, rtol=0)
    found = attend(query, keys, values, None)
    torch.testing.assert_close(found, torch.tensor([[[[0.881, 0.238]]]]), atol=5e-4, rtol=0)


@given(
    H_of_G=st.sampled_from([(1, 1), (4, 4), (4, 2), (6, 3), (8, 1)]),
    L=st.integers(1, 5),
    M=st.integers(1, 5),
    K=st.sampled_from([1, 2, 8]),
    seed=st.integers(0, 2**16),
)
def test_attention_equals_the_formula_in_float64(
    H_of_G: tuple[int, int], L: int, M: int, K: int, seed: int
) -> None:
    torch.manual_seed(seed)
    H, G = H_of_G
    queries, keys, values = heads(2, H, L, K), heads(2, G, M, K), heads(2, G, M, K)
    mask = torch.rand(2, 1, L, M) < 0.6
    mask[..., 0] = True
    found = attend(queries, keys, values, mask)
    for b in range(2):
        for h in range(H):
            g = h * G // H
            scores = queries[b, h].double() @ keys[b, g].double().T / K**0.5
            weights = scores.masked_fill(~mask[b, 0], -torch.inf).softmax(dim=1)
            expected = weights @ values[b, g].double()
            torch.testing.assert_close(found[b, h].double(), expected, atol=1e-5, rtol=1e-5)


def test_every_row_of_weights_sums_to_one_whatever_the_mask() -> None:
    """Masking weights after the softmax would leave rows that sum to less."""
    mask = torch.tensor([True, False, True, False, False])
    weights = attention_weights(heads(3, 4, 6, 8), heads(3, 2, 5, 8), mask)
    torch.testing.assert_close(weights.sum(dim=-1), torch.ones(3, 4, 6))
    assert (weights[..., ~mask] == 0).all()


def test_the_scale_brings_the_variance_of_scores_from_the_head_width_to_one() -> None:
    torch.manual_seed(0)
    K = 64
    queries, keys = torch.randn(200_000, K), torch.randn(200_000, K)
    products = (queries * keys).sum(dim=1)
    assert products.var().item() == pytest.approx(K, rel=0.03)
    # The scores that attention really uses, up to a constant a row: the logarithm of its weights.
    weights = attention_weights(heads(1, 1, 400, K).double(), heads(1, 1, 400, K).double(), None)
    assert weights.log().var(dim=-1).mean().item() == pytest.approx(1.0, rel=0.05)


# --- masks


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_row_that_may_look_nowhere_stays_finite_forward_and_backward(dtype: torch.dtype) -> None:
    torch.manual_seed(0)
    queries, keys, values = ((10 * heads(2, 4, 3, 8)).to(dtype).requires_grad_() for _ in range(3))
    mask = torch.tensor([[True, True, False], [False, False, False]])[:, None, None, :]
    found = attend(queries, keys, values, mask)
    found.float().square().sum().backward()
    assert found.isfinite().all()
    for tensor in (queries, keys, values):
        assert tensor.grad is not None
        assert tensor.grad.isfinite().all()


# --- heads


def test_eight_heads_over_a_width_of_512_are_64_wide() -> None:
    attention = SelfAttention(width=512, heads=8, key_value_heads=8)
    queries, keys, values = attention.project(torch.randn(2, 3, 512), None)
    assert queries.shape == keys.shape == values.shape == (2, 8, 3, 64)
    assert attention(torch.randn(2, 3, 512), None, None).shape == (2, 3, 512)


def count(width: int, heads: int, key_value_heads: int) -> int:
    attention = SelfAttention(width=width, heads=heads, key_value_heads=key_value_heads)
    return sum(parameter.numel() for parameter in attention.parameters())


def test_the_number_of_parameters_does_not_depend_on_the_number_of_heads() -> None:
    assert {count(64, heads, heads) for heads in (1, 2, 4, 8, 16, 32)} == {4 * (64 * 64 + 64)}


def test_fewer_key_value_heads_need_fewer_parameters_and_a_smaller_cache() -> None:
    for G in (1, 2, 4, 8):
        attention = SelfAttention(width=64, heads=8, key_value_heads=G)
        _, keys, values = attention.project(torch.randn(1, 10, 64), None)
        assert keys.numel() + values.numel() == 2 * G * 10 * 8  # H/G times fewer than with all heads
        assert count(64, 8, G) == 2 * (64 * 64 + 64) + 2 * (64 * 8 * G + 8 * G)


@pytest.mark.parametrize("G", [1, 2, 4])
def test_grouped_self_attention_equals_the_multi_head_attention_it_expands_to(G: int) -> None:
    torch.manual_seed(1)
    grouped = disturbed(SelfAttention(width=32, heads=4, key_value_heads=G))
    full = SelfAttention(width=32, heads=4, key_value_heads=4)
    full.output.load_state_dict(grouped.output.state_dict())
    projection = grouped.queries_keys_values
    with torch.no_grad():
        for name, value in (("weight", projection.weight), ("bias", projection.bias)):
            queries, keys, values = value.split([32, 8 * G, 8 * G])
            keys, values = copied_out(keys, 4 // G), copied_out(values, 4 // G)
            getattr(full.queries_keys_values, name).copy_(torch.cat([queries, keys, values]))
    x, mask = torch.randn(2, 7, 32), torch.ones(7, 7, dtype=torch.bool).tril()
    rotation = RotaryPositions(head_width=8, max_positions=7)(0, 7)
    torch.testing.assert_close(grouped(x, mask, rotation), full(x, mask, rotation), atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("G", [1, 2, 4])
def test_grouped_cross_attention_equals_the_multi_head_attention_it_expands_to(G: int) -> None:
    torch.manual_seed(2)
    grouped = disturbed(CrossAttention(width=32, heads=4, key_value_heads=G))
    full = CrossAttention(width=32, heads=4, key_value_heads=4)
    full.output.load_state_dict(grouped.output.state_dict())
    full.queries.load_state_dict(grouped.queries.state_dict())
    with torch.no_grad():
        for name, value in (("weight", grouped.keys_values.weight), ("bias", grouped.keys_values.bias)):
            both = torch.cat([copied_out(half, 4 // G) for half in value.chunk(2)])
            getattr(full.keys_values, name).copy_(both)
    x, memory = torch.randn(2, 7, 32), torch.randn(2, 5, 32)
    torch.testing.assert_close(
        grouped(x, *grouped.project_memory(memory), None),
        full(x, *full.project_memory(memory), None),
        atol=1e-5,
        rtol=1e-5,
    )


def copied_out(rows: Tensor, times: int) -> Tensor:
    """Rows of heads 8 wide, each head `times` times in a row."""
    return rows.unflatten(0, (-1, 8)).repeat_interleave(times, dim=0).flatten(0, 1)


def test_cross_weights_have_a_row_a_target_and_a_column_a_source_position() -> None:
    cross = CrossAttention(width=16, heads=4, key_value_heads=2)
    keys, _ = cross.project_memory(torch.randn(3, 5, 16))
    weights = attention_weights(cross.project_queries(torch.randn(3, 7, 16)), keys, None)
    assert weights.shape == (3, 4, 7, 5)


# --- order


def test_self_attention_without_positions_and_mask_follows_any_permutation() -> None:
    torch.manual_seed(3)
    attention = disturbed(SelfAttention(width=16, heads=4, key_value_heads=2))
    x, order = torch.randn(2, 9, 16), torch.randperm(9)
    before, after = attention(x, None, None), attention(x[:, order], None, None)
    torch.testing.assert_close(after, before[:, order], atol=1e-6, rtol=1e-5)


def test_rotation_makes_self_attention_see_the_order() -> None:
    torch.manual_seed(3)
    attention = disturbed(SelfAttention(width=16, heads=4, key_value_heads=2))
    rotation = RotaryPositions(head_width=4, max_positions=9)(0, 9)
    x, order = torch.randn(2, 9, 16), torch.arange(9).flip(0)
    before, after = attention(x, None, rotation), attention(x[:, order], None, rotation)
    assert (after - before[:, order]).abs().max() > 1e-2


def test_rotation_turns_queries_and_keys_and_leaves_values_alone() -> None:
    attention = disturbed(SelfAttention(width=16, heads=4, key_value_heads=2))
    rotation = RotaryPositions(head_width=4, max_positions=5)(0, 5)
    x = torch.randn(2, 5, 16)
    plain, turned = attention.project(x, None), attention.project(x, rotation)
    assert not torch.allclose(plain[0][:, :, 1:], turned[0][:, :, 1:], atol=1e-3)
    assert not torch.allclose(plain[1][:, :, 1:], turned[1][:, :, 1:], atol=1e-3)
    torch.testing.assert_close(plain[2], turned[2])
