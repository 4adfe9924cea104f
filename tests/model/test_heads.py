"""A head that is switched off writes nothing, and nothing else changes."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from model.heads import Head, attention_of, without_heads
from tests.model.variants import ids, small_model

OFF = [Head("encoder", 0, 1), Head("decoder", 1, 3), Head("cross", 1, 0)]


@pytest.mark.parametrize("key_value_heads", [1, 2, 4])
def test_it_is_as_if_what_the_heads_found_were_nothing(key_value_heads: int) -> None:
    model = small_model(key_value_heads=key_value_heads)
    source, target = ids(2, 6), ids(2, 5)
    without = without_heads(model, OFF)(source, target)
    for head in OFF:
        attention = attention_of(model, head.part, head.layer)
        K = attention.head_width

        def erase(module: Any, inputs: tuple[Any, ...], number: int = head.number, K: int = K) -> Any:
            found = inputs[0].clone()
            found[..., number * K : (number + 1) * K] = 0
            return (found,)

        attention.output.register_forward_pre_hook(erase)
    torch.testing.assert_close(without, model(source, target))


def test_the_model_itself_is_left_as_it_is() -> None:
    model = small_model()
    source, target = ids(2, 6), ids(2, 5)
    before = model(source, target)
    assert not torch.allclose(without_heads(model, OFF)(source, target), before)
    assert torch.equal(model(source, target), before)


def test_all_other_weights_are_shared() -> None:
    model = small_model()
    theirs = {id(parameter) for parameter in model.parameters()}
    changed = [
        name
        for name, parameter in without_heads(model, OFF).named_parameters()
        if id(parameter) not in theirs
    ]
    assert changed == [
        "encoder.0.attention.output.weight",
        "decoder.1.attention.output.weight",
        "decoder.1.cross_attention.output.weight",
    ]


@pytest.mark.parametrize(
    ("head", "message"),
    [
        (("encoder", 2, 0), "no layer 2; there are 0 to 1"),
        (("cross", 0, 4), "no head 4; there are 0 to 3"),
        (("lens", 0, 0), "no part 'lens'; there are encoder, decoder, cross"),
    ],
)
def test_a_head_that_is_not_there_is_named(head: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        without_heads(small_model(), [Head(*head)])
