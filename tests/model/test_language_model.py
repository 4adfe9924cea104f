"""The decoder-only model: same blocks, no memory; it learns a sequence and goes on with it."""

import pytest
import torch
from torch import nn

from model.config import ModelConfig
from model.language_model import LanguageModel, LanguageModelState, continue_greedily, next_id_loss
from tests.model.variants import POSITIONS, disturbed, ids, small_config

GPT = ModelConfig(
    vocabulary_size=100,
    width=32,
    heads=4,
    key_value_heads=4,
    feed_forward_width=128,
    decoder_layers=2,
    positions="learned",
    feed_forward="gelu",
    placement="pre",
    dropout=0.0,
    max_positions=64,
)


def test_two_rows_of_eight_ids_give_logits_over_a_hundred_and_a_loss_to_learn_from() -> None:
    model = LanguageModel(GPT)
    batch = ids(2, 8, vocabulary_size=100)
    assert model(batch).shape == (2, 8, 100)
    loss = next_id_loss(model, batch)
    loss.backward()
    assert loss.item() > 0
    for name, parameter in model.named_parameters():
        assert parameter.grad is not None and parameter.grad.isfinite().all(), name


def test_the_loss_is_the_mean_surprise_at_each_next_id() -> None:
    model = disturbed(LanguageModel(GPT))
    batch = ids(2, 8, vocabulary_size=100)
    log_probs = model(batch).double().log_softmax(dim=-1)
    surprises = [-log_probs[row, place, batch[row, place + 1]] for row in range(2) for place in range(7)]
    torch.testing.assert_close(next_id_loss(model, batch).double(), torch.stack(surprises).mean())


def test_it_learns_a_sequence_and_continues_it() -> None:
    """Counting by threes: the next id depends on the last; and a song whose verses share their first half."""
    model = LanguageModel(GPT)
    song = [5, 6, 7, 8, 20, 21, 5, 6, 7, 8, 30, 31, 5, 6, 7, 8, 40, 41, 50, 51]
    batch = torch.tensor([song, [(3 * step) % 89 + 4 for step in range(20)]])
    optimiser = torch.optim.Adam(model.parameters(), lr=3e-3)
    for _ in range(150):
        optimiser.zero_grad()
        loss = next_id_loss(model, batch)
        loss.backward()
        optimiser.step()
    assert loss.item() < 0.05
    model.eval()
    for row in batch.tolist():
        for known in (2, 5, 10):
            assert continue_greedily(model, row[:known], 20 - known) == row[known:]


@pytest.mark.parametrize("positions", POSITIONS)
@pytest.mark.parametrize("G", [1, 4])
def test_step_by_step_with_its_cache_equals_all_in_one_pass(positions: str, G: int) -> None:
    model = disturbed(LanguageModel(small_config(positions=positions, key_value_heads=G))).eval()
    batch = ids(3, 12)
    whole, state = model(batch), LanguageModelState()
    for place in range(6):
        logits, state = model.step(batch[:, place], state)
        torch.testing.assert_close(logits, whole[:, place], atol=1e-5, rtol=1e-5)
    rows = torch.tensor([[2, 2], [0, 1]])
    logits, state = model.step(batch[rows.flatten(), 6], state.select(rows))
    torch.testing.assert_close(logits, whole[rows.flatten(), 6], atol=1e-5, rtol=1e-5)
    assert state.length == 7


@pytest.mark.parametrize("positions", POSITIONS)
def test_a_later_id_changes_no_earlier_logit(positions: str) -> None:
    model = disturbed(LanguageModel(small_config(positions=positions))).eval()
    batch = ids(1, 8)
    before = model(batch)
    for place in range(1, 8):
        changed = batch.clone()
        changed[:, place] = 4 + (changed[:, place] - 3) % 20
        assert torch.equal(model(changed)[:, :place], before[:, :place])
        assert not torch.allclose(model(changed)[:, place], before[:, place], atol=1e-4)


def test_its_parameters_are_those_of_its_blocks() -> None:
    """No cross-attention, no encoder: V·D + L·D + layers + the final norm."""
    D, F, V, L = 32, 128, 100, 64
    layer = 4 * (D * D + D) + 2 * D * F + F + D + 2 * 2 * D
    assert sum(p.numel() for p in LanguageModel(GPT).parameters()) == V * D + L * D + 2 * layer + 2 * D


def test_a_continuation_beyond_its_positions_is_an_error() -> None:
    model = LanguageModel(GPT).eval()
    with pytest.raises(ValueError, match="65 positions asked for, this model has 64"):
        continue_greedily(model, [4] * 60, 10)


def test_tying_is_a_choice_here_too() -> None:
    tied, untied = (LanguageModel(small_config(tying=tying)) for tying in ("all", "none"))
    assert tied.output_VD is tied.embedding.weight
    assert untied.output_VD is not untied.embedding.weight
    assert isinstance(untied.output_VD, nn.Parameter)
