"""Sinusoids, the learned table and RoPE, against their formulas."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor, nn

from model.positions import (
    LearnedPositions,
    RotaryPositions,
    SinusoidalPositions,
    SinusoidalPositionsInHalves,
    rotate,
    sinusoids,
)

K = 8


# --- sinusoids


def test_position_zero_is_zero_at_even_and_one_at_odd_features() -> None:
    torch.testing.assert_close(sinusoids(1, 6)[0], torch.tensor([0.0, 1, 0, 1, 0, 1]))


def test_position_one_is_sin_and_cos_of_falling_frequencies() -> None:
    D = 512
    code = sinusoids(2, D)[1]
    second = 1 / 10000 ** (2 / D)
    expected = torch.tensor([math.sin(1), math.cos(1), math.sin(second), math.cos(second)])
    torch.testing.assert_close(code[:4], expected)
    last = 1 / 10000 ** ((D - 2) / D)
    torch.testing.assert_close(code[-2:], torch.tensor([math.sin(last), math.cos(last)]))


@given(p=st.integers(0, 400), k=st.integers(0, 100))
def test_a_shift_of_sinusoids_is_one_linear_map_whatever_the_position(p: int, k: int) -> None:
    """PE(p+k) = M_k · PE(p), with M_k turning each pair (sin, cos) by k times its frequency."""
    D = 32
    table = sinusoids(501, D).double()
    shift = torch.zeros(D, D, dtype=torch.float64)
    for i in range(0, D, 2):
        angle = k / 10000 ** (i / D)
        shift[i, i], shift[i, i + 1] = math.cos(angle), math.sin(angle)
        shift[i + 1, i], shift[i + 1, i + 1] = -math.sin(angle), math.cos(angle)
    torch.testing.assert_close(table[p + k], shift @ table[p], atol=1e-6, rtol=0)


def test_in_halves_are_all_sines_and_then_all_cosines() -> None:
    code = SinusoidalPositionsInHalves(width=6, max_positions=5)(3, 1)[0]
    angles = [3 / 10000 ** (2 * i / 6) for i in range(3)]
    torch.testing.assert_close(code, torch.tensor([*map(math.sin, angles), *map(math.cos, angles)]))


# --- what all tables share


def tables() -> list[nn.Module]:
    return [
        SinusoidalPositions(width=K, max_positions=10),
        SinusoidalPositionsInHalves(width=K, max_positions=10),
        LearnedPositions(width=K, max_positions=10),
        RotaryPositions(head_width=K, max_positions=10),
    ]


def rows(code: Tensor | tuple[Tensor, ...]) -> Tensor:
    return torch.cat(code, dim=1) if isinstance(code, tuple) else code


@pytest.mark.parametrize("table", tables(), ids=lambda table: type(table).__name__)
def test_a_later_start_gives_the_rows_of_later_positions(table: nn.Module) -> None:
    whole = rows(table(0, 10))
    for start in range(10):
        torch.testing.assert_close(rows(table(start, 10 - start)), whole[start:])
    assert len(whole.unique(dim=0)) == 10


@pytest.mark.parametrize("table", tables(), ids=lambda table: type(table).__name__)
@pytest.mark.parametrize(("start", "length"), [(0, 11), (10, 1), (4, 7)])
def test_a_position_beyond_the_table_is_an_error_that_says_how_many_there_are(
    table: nn.Module, start: int, length: int
) -> None:
    with pytest.raises(ValueError, match=r"11 positions asked for, this model has 10"):
        table(start, length)


def test_only_the_learned_table_has_weights() -> None:
    assert [sum(p.numel() for p in table.parameters()) for table in tables()] == [0, 0, 10 * K, 0]


# --- RoPE


def turned(x_LK: Tensor, start: int) -> Tensor:
    positions = RotaryPositions(head_width=K, max_positions=600)
    return rotate(x_LK[None, None], positions(start, len(x_LK)))[0, 0]


def test_rotation_is_multiplication_of_complex_pairs() -> None:
    torch.manual_seed(0)
    x = torch.randn(5, K)
    pairs = torch.complex(x[:, : K // 2].double(), x[:, K // 2 :].double())
    angles = torch.outer(torch.arange(7, 12).double(), 10000.0 ** (-torch.arange(0, K, 2).double() / K))
    expected = pairs * torch.polar(torch.ones_like(angles), angles)
    found = turned(x, start=7).double()
    torch.testing.assert_close(
        torch.complex(found[:, : K // 2], found[:, K // 2 :]), expected, atol=1e-5, rtol=0
    )


@given(m=st.integers(0, 250), n=st.integers(0, 250), shift=st.integers(0, 300), seed=st.integers(0, 99))
def test_products_of_turned_vectors_depend_on_their_distance_alone(
    m: int, n: int, shift: int, seed: int
) -> None:
    torch.manual_seed(seed)
    query, key = torch.randn(1, K), torch.randn(1, K)
    here = (turned(query, m) * turned(key, n)).sum()
    there = (turned(query, m + shift) * turned(key, n + shift)).sum()
    torch.testing.assert_close(here, there, atol=1e-4, rtol=0)


def test_products_of_turned_vectors_do_depend_on_their_distance() -> None:
    query = key = torch.ones(1, K)
    products = [float((turned(query, 0) * turned(key, n)).sum()) for n in range(4)]
    assert products == sorted(products, reverse=True)
    assert products[0] - products[3] > 1


@given(position=st.integers(0, 599), seed=st.integers(0, 99))
def test_rotation_keeps_norms(position: int, seed: int) -> None:
    torch.manual_seed(seed)
    x = torch.randn(1, K)
    torch.testing.assert_close(turned(x, position).norm(), x.norm(), atol=1e-5, rtol=1e-5)


def test_every_head_and_sentence_is_turned_alike() -> None:
    """A rotation that broadcast over heads instead of positions would turn head h by the angles of position h."""
    rotation = RotaryPositions(head_width=K, max_positions=6)(0, 6)
    x = torch.randn(3, 6, 6, K)
    together = rotate(x, rotation)
    for b in range(3):
        for h in range(6):
            torch.testing.assert_close(together[b, h], rotate(x[b : b + 1, h : h + 1], rotation)[0, 0])
