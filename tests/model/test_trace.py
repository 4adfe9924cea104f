"""What is noted of a forward pass is what the model itself computed, in every variant."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor

import model.attention
from model.trace import StackTrace, trace_decoder, trace_encoder
from tests.model.variants import ALL_VARIANTS, named, small_model

SOURCE, TARGET = [4, 9, 7, 12, 5, 3], [2, 6, 11, 8]
VARIANTS = [*ALL_VARIANTS[::17], *ALL_VARIANTS[-3:]]


def traced(transformer: Any) -> tuple[StackTrace, StackTrace]:
    encoder = trace_encoder(transformer, SOURCE)
    return encoder, trace_decoder(transformer, TARGET, encoder.output_LD)


@pytest.mark.parametrize("variant", VARIANTS, ids=named)
def test_its_ends_are_the_models_memory_and_output(variant: dict[str, Any]) -> None:
    transformer = small_model(**variant)
    encoder, decoder = traced(transformer)
    source, target = torch.tensor([SOURCE]), torch.tensor([TARGET])
    memory = transformer.encode(source, torch.ones_like(source, dtype=torch.bool))
    torch.testing.assert_close(encoder.output_LD, memory[0])
    torch.testing.assert_close(decoder.output_LD, transformer.hidden(source, target)[0])


@pytest.mark.parametrize("variant", VARIANTS, ids=named)
def test_its_weights_are_those_the_model_used(
    variant: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    used: list[Tensor] = []
    original = model.attention.attention_weights

    def noting(*arguments: Any) -> Tensor:
        used.append(original(*arguments)[0])
        return original(*arguments)

    transformer = small_model(**variant)
    with monkeypatch.context() as patch:
        patch.setattr(model.attention, "attention_weights", noting)
        transformer(torch.tensor([SOURCE]), torch.tensor([TARGET]))
    encoder, decoder = traced(transformer)
    noted = [layer.attention.weights_HLM for layer in encoder.layers]
    for layer in decoder.layers:
        assert layer.cross is not None
        noted += [layer.attention.weights_HLM, layer.cross.weights_HLM]
    assert len(noted) == len(used)
    for ours, theirs in zip(noted, used, strict=True):
        torch.testing.assert_close(ours, theirs)


@pytest.mark.parametrize("variant", VARIANTS, ids=named)
def test_every_row_sums_to_one_and_no_position_sees_what_comes_after_it(variant: dict[str, Any]) -> None:
    encoder, decoder = traced(small_model(**variant))
    for stack in (encoder, decoder):
        for layer in stack.layers:
            for heads in filter(None, (layer.attention, layer.cross)):
                sums = heads.weights_HLM.sum(dim=-1)
                torch.testing.assert_close(sums, torch.ones_like(sums))
    for layer in decoder.layers:
        assert (layer.attention.weights_HLM.triu(1) == 0).all()


def test_in_a_pre_norm_model_the_stream_is_the_sum_of_all_that_was_written() -> None:
    _, decoder = traced(small_model(placement="pre", positions="sinusoidal"))
    added = [written.added_LD for layer in decoder.layers for written in layer.written]
    total = decoder.embedded_LD + decoder.code_LD + torch.stack(added).sum(dim=0)
    torch.testing.assert_close(decoder.layers[-1].output, total)
