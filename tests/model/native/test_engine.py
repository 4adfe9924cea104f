"""The native engine against the Transformer: the same logits, whatever the variant, the batch and the reordering."""

from itertools import product
from typing import Any

import pytest
import torch
from torch import Tensor

from model.native.engine import NativeModel
from tests.model.native.models import native, transformer

VARIANTS = [
    dict(
        positions=positions, norm=norm, placement=placement, feed_forward=feed_forward, key_value_heads=groups
    )
    for positions, norm, placement, feed_forward, groups in product(
        ("sinusoidal", "learned", "rope"),
        ("layer", "rms"),
        ("pre", "post"),
        ("relu", "gelu", "silu", "swiglu"),
        (4, 2, 1),
    )
]


SOURCES = torch.tensor([[5, 9, 23, 7, 88, 3], [6, 3, 0, 0, 0, 0], [41, 42, 43, 3, 0, 0]])
MOVES = [  # after each step, which row goes on where: widening, reordering, a sentence that leaves
    [[0, 0], [1, 1], [2, 2]],
    [[1, 0], [2, 2], [5, 4]],
    [[0, 1], [2, 3], [4, 5]],
    [[5, 4], [0, 1]],
    [[0, 0], [3, 2]],
    [[3, 2]],
]


def walk(model: Any) -> list[Tensor]:
    """The logits of every step along the moves, for tokens that do not depend on them."""
    state, tokens = model.start(SOURCES), torch.full((3,), 2)
    generator = torch.Generator().manual_seed(1)
    logits = []
    with torch.inference_mode():
        for move in MOVES:
            now, state = model.step(tokens, state)
            logits.append(now)
            state = state.select(torch.tensor(move))
            tokens = torch.randint(4, 101, (len(move) * len(move[0]),), generator=generator)
    return logits


@pytest.mark.parametrize("variant", VARIANTS, ids=lambda variant: "-".join(map(str, variant.values())))
def test_logits_equal_those_of_the_transformer(variant: dict[str, Any]) -> None:
    model = transformer(**variant)
    for wanted, got in zip(walk(model), walk(native(model)), strict=True):
        torch.testing.assert_close(got, wanted, atol=2e-5, rtol=0)


@pytest.mark.parametrize("tying", ["all", "output", "none"])
@pytest.mark.parametrize("bias", ["none", "learned"])
def test_tables_and_the_bias_of_the_output_are_where_the_config_has_them(tying: str, bias: str) -> None:
    model = transformer(tying=tying, output_bias=bias)
    for wanted, got in zip(walk(model), walk(native(model)), strict=True):
        torch.testing.assert_close(got, wanted, atol=2e-5, rtol=0)


def test_int8_stays_near_the_transformer() -> None:
    model = transformer(width=64, feed_forward_width=128)
    for wanted, got in zip(walk(model), walk(native(model, "int8")), strict=True):
        off = (got.log_softmax(-1) - wanted.log_softmax(-1)).square().mean().sqrt()
        assert off < 0.05 * wanted.log_softmax(-1).std()


@pytest.mark.parametrize("precision", ["float32", "int8"])
def test_a_row_is_computed_alike_to_the_last_bit_alone_and_beside_others(precision: str) -> None:
    model = native(transformer(), precision)
    together = model.start(SOURCES)
    tokens = torch.tensor([2, 2, 2])
    logits, _ = model.step(tokens, together)
    logits, _ = model.step(torch.tensor([9, 8, 7]), together)
    for row, token in enumerate((9, 8, 7)):
        source = SOURCES[row : row + 1]
        alone = model.start(source[:, : int((source != 0).sum())])
        model.step(torch.tensor([2]), alone)
        assert torch.equal(model.step(torch.tensor([token]), alone)[0][0], logits[row])


@pytest.mark.parametrize("precision", ["float32", "int8"])
@pytest.mark.parametrize("rows", [1, 2, 3, 4, 5, 7, 30])
def test_any_number_of_rows_gives_the_rows_of_one(precision: str, rows: int) -> None:
    model = native(transformer(), precision)
    one, many = model.start(SOURCES[:1]), model.start(SOURCES[:1].expand(rows, -1))
    wanted, got = model.step(torch.tensor([2]), one)[0], model.step(torch.full((rows,), 2), many)[0]
    assert torch.equal(got, wanted.expand(rows, -1))


def test_a_long_past_is_remembered_exactly() -> None:
    model = transformer()
    engine = native(model)
    tokens = torch.randint(4, 101, (300,), generator=torch.Generator().manual_seed(5))
    state = engine.start(SOURCES[:1])
    stepped = torch.cat([engine.step(token[None], state)[0] for token in tokens])
    at_once = model(SOURCES[:1], tokens[None])[0]
    torch.testing.assert_close(stepped, at_once, atol=5e-5, rtol=0)


def test_wrong_numbers_of_tokens_are_refused() -> None:
    model = native(transformer())
    with pytest.raises(ValueError, match="2 tokens for 3 rows"):
        model.step(torch.tensor([2, 2]), model.start(SOURCES))


def test_an_unknown_precision_is_named_beside_the_known_ones() -> None:
    with pytest.raises(ValueError, match=r"'int4'.*'float32', 'int8'"):
        NativeModel(transformer(), "int4")
