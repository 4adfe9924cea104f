"""Alignments are the cross-attention that decoding itself had, and point at the right words."""

from __future__ import annotations

import pytest
import torch

from model.alignment import cross_attention, spans
from model.attention import CrossAttention, attention_weights
from model.search import DecodingOptions
from tests.model.boats import boats
from tests.model.phrasebook import ENGLISH, phrasebook


def test_weights_are_those_of_decoding_step_by_step(monkeypatch: pytest.MonkeyPatch) -> None:
    """One position at a time with a cache sees the same weights as the whole target at once."""
    model = boats().model
    source, target = torch.randint(4, 200, (1, 7)), torch.randint(4, 200, (1, 5))
    together = cross_attention(model, source, target)
    stepwise: list[torch.Tensor] = []
    original = CrossAttention.forward

    def noting(self, x, keys, values, mask):
        stepwise.append(attention_weights(self.project_queries(x), keys, mask))
        return original(self, x, keys, values, mask)

    monkeypatch.setattr(CrossAttention, "forward", noting)
    state = model.start(source)
    for t in range(5):
        _, state = model.step(target[:, t], state)
    for layer in range(len(model.decoder)):
        rows = torch.cat(stepwise[layer :: len(model.decoder)], dim=2)
        torch.testing.assert_close(together[layer], rows, atol=1e-5, rtol=1e-4)


def test_a_row_for_each_target_piece_and_a_column_for_each_source_piece() -> None:
    translator = phrasebook()
    sentence = translator.prepare(ENGLISH[0], "en", "de")
    alignment = translator.align(sentence, "Der Bäcker sieht eine Lampe.")
    assert len(alignment.weights_TS) == len(alignment.target_spans)
    assert all(len(row) == len(alignment.source_spans) for row in alignment.weights_TS)
    assert all(sum(row) == pytest.approx(1, abs=1e-4) for row in alignment.weights_TS)


@pytest.mark.parametrize("text", ["a boat", "é😀 x", "", "▁", "río\u0301"])
def test_spans_join_to_the_text(text: str) -> None:
    tokenizer = boats().tokenizer
    ids = tokenizer.encode(text)
    decoded = tokenizer.decode(ids)
    assert "".join(decoded[start:end] for start, end in spans(tokenizer, ids)) == decoded


def test_an_empty_target_has_no_rows() -> None:
    translator = boats()
    assert translator.align(translator.prepare("a boat", "en", "de"), "").weights_TS == []


def test_a_learnt_model_looks_at_the_word_it_translates() -> None:
    """In the phrasebook's sentences the nouns at the end correspond: most of the weight is on them."""
    translator = phrasebook()
    right = 0
    for english in ENGLISH[:40]:
        sentence = translator.prepare(english, "en", "de")
        [[best]] = translator.translate([sentence], DecodingOptions(strategy="greedy"))
        alignment = translator.align(sentence, best.text)
        last = next(t for t, (_, end) in enumerate(alignment.target_spans) if end > len(best.text) - 3)
        weights = alignment.weights_TS[last]
        heaviest = max(range(len(weights)), key=weights.__getitem__)
        right += alignment.source_spans[heaviest][1] > len(english) / 2
    assert right >= 30
