"""The whole Transformer: masks, padding, positions, tying, and its count of parameters."""

from typing import Any

import pytest
import torch
from torch import nn

from model.config import ModelConfig, preset
from model.norms import RMSNorm
from model.positions import sinusoids
from model.state import DecoderState, Memory
from model.transformer import Builder, Transformer, causal_mask
from tests.model.variants import (
    ALL_VARIANTS,
    POSITIONS,
    disturbed,
    ids,
    named,
    padded,
    small_config,
    small_model,
)

KINDS = [dict(positions=kind, placement=place) for kind in POSITIONS for place in ("pre", "post")]


# --- masks


def test_the_causal_mask_of_four_positions_is_the_lower_triangle_with_itself() -> None:
    mask = causal_mask(4, 0, torch.device("cpu"))
    assert mask is not None
    assert mask.int().tolist() == [[1, 0, 0, 0], [1, 1, 0, 0], [1, 1, 1, 0], [1, 1, 1, 1]]


def test_new_positions_may_look_at_the_whole_past_and_at_what_is_before_them() -> None:
    mask = causal_mask(2, 3, torch.device("cpu"))
    assert mask is not None
    assert mask.int().tolist() == [[1, 1, 1, 1, 0], [1, 1, 1, 1, 1]]


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_changing_a_future_token_changes_no_earlier_logit(kind: dict[str, Any]) -> None:
    model = small_model(**kind)
    source, target = ids(2, 6), ids(2, 8)
    before = model(source, target)
    for place in range(1, 8):
        changed = target.clone()
        changed[:, place] = 4 + (changed[:, place] - 3) % 20
        after = model(source, changed)
        assert torch.equal(before[:, :place], after[:, :place])
        assert not torch.allclose(before[:, place:], after[:, place:], atol=1e-4)


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_the_encoder_looks_in_both_directions(kind: dict[str, Any]) -> None:
    model = small_model(**kind)
    source, everywhere = ids(1, 6), torch.ones(1, 6, dtype=torch.bool)
    before = model.encode(source, everywhere)
    for place in range(6):
        changed = source.clone()
        changed[:, place] = 4 + (changed[:, place] - 3) % 20
        is_changed = (model.encode(changed, everywhere) - before).abs().amax(dim=2)[0] > 1e-5
        assert is_changed.all()


# --- padding


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_padding_changes_no_real_position(kind: dict[str, Any]) -> None:
    model = small_model(**kind)
    sources, targets = [ids(3), ids(9), ids(1)], [ids(7), ids(2), ids(5)]
    together = model(padded(sources), padded(targets))
    for row, (source, target) in enumerate(zip(sources, targets, strict=True)):
        alone = model(source[None], target[None])[0]
        torch.testing.assert_close(together[row, : len(target)], alone, atol=1e-5, rtol=1e-5)


def test_what_stands_in_padded_positions_does_not_matter() -> None:
    model = small_model()
    mask = torch.arange(7) < torch.tensor([[3], [7], [5]])
    source = ids(3, 7)
    other = torch.where(mask, source, ids(3, 7))
    assert torch.equal(model.encode(source, mask)[mask], model.encode(other, mask)[mask])


def test_another_padding_id_gives_the_same_logits() -> None:
    model, other = small_model(), small_model(pad_id=9)
    sources = [torch.tensor([4, 5, 6]), torch.tensor([7, 8, 10, 11, 12])]
    target = torch.tensor([[2, 4], [2, 5]])
    torch.testing.assert_close(model(padded(sources), target), other(padded(sources, 9), target))


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_a_source_that_is_all_padding_stays_finite_forward_and_backward(
    kind: dict[str, Any], dtype: torch.dtype
) -> None:
    model = small_model(**kind).to(dtype)
    source = padded([ids(4), torch.empty(0, dtype=torch.long)])
    logits = model(source, ids(2, 5))
    logits.float().logsumexp(dim=-1).sum().backward()
    assert logits.isfinite().all()
    assert all(parameter.grad is None or parameter.grad.isfinite().all() for parameter in model.parameters())


# --- source and order


def test_the_decoder_depends_on_the_source() -> None:
    model, target = small_model(), ids(1, 5)
    first, second = model(ids(1, 6), target), model(ids(1, 6), target)
    assert (first - second).abs().amax(dim=2).min() > 1e-4


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_the_encoder_sees_the_order_of_the_source(kind: dict[str, Any]) -> None:
    model, source, everywhere = small_model(**kind), ids(1, 6), torch.ones(1, 6, dtype=torch.bool)
    before, after = model.encode(source, everywhere), model.encode(source.flip(1), everywhere)
    assert (after.flip(1) - before).abs().max() > 1e-3


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_cross_attention_knows_no_positions(kind: dict[str, Any]) -> None:
    """The memory's positions may come in any order: RoPE turns nothing here."""
    model, order = small_model(**kind), torch.tensor([3, 0, 5, 1, 4, 2])
    state = model.start(padded([ids(6), ids(4)]))
    mixed = DecoderState(
        (),
        tuple(Memory(keys[:, :, order], values[:, :, order]) for keys, values in state.memories),
        state.memory_mask_BS[:, order],
    )
    target = ids(2, 5)
    torch.testing.assert_close(
        model.decode(target, mixed)[0], model.decode(target, state)[0], atol=1e-5, rtol=1e-5
    )


@pytest.mark.parametrize("positions", POSITIONS)
def test_too_long_an_input_is_an_error_that_says_how_long_it_may_be(positions: str) -> None:
    model = small_model(positions=positions, max_positions=6)
    model(ids(1, 6), ids(1, 6))
    with pytest.raises(ValueError, match="7 positions asked for, this model has 6"):
        model(ids(1, 7), ids(1, 3))
    with pytest.raises(ValueError, match="7 positions asked for, this model has 6"):
        model(ids(1, 3), ids(1, 7))


# --- embeddings


def test_a_table_of_50000_pieces_at_width_512_has_25_6_million_parameters() -> None:
    config = ModelConfig(vocabulary_size=50_000, width=512, heads=8, key_value_heads=8)
    with torch.device("meta"):
        embedding = Builder(config).embedding()
    assert embedding.weight.numel() == 25_600_000


def silenced(model: Transformer) -> Transformer:
    """With sublayers that add nothing: what the encoder puts out is its final norm of what it read."""
    for name, parameter in model.named_parameters():
        if ".output." in name or ".down." in name:
            nn.init.zeros_(parameter)
    return model


@pytest.mark.parametrize("positions", POSITIONS)
def test_embeddings_are_scaled_by_the_root_of_the_width_before_positions_are_added(positions: str) -> None:
    model = silenced(small_model(positions=positions, norm="rms"))
    source = ids(2, 7)
    read = model.source_embedding.weight[source].double() * 16**0.5
    if positions == "sinusoidal":
        read = read + sinusoids(7, 16)
    if positions == "sinusoidal-halves":
        read = read + sinusoids(7, 16).view(7, 8, 2).transpose(1, 2).flatten(1)
    if positions == "learned":
        read = read + model.source_positions.get_parameter("table_LD")[:7]
    norm = model.encoder_norm
    assert isinstance(norm, RMSNorm)
    expected = read / (read.square().mean(dim=-1, keepdim=True) + norm.epsilon).sqrt() * norm.gain
    found = model.encode(source, torch.ones(2, 7, dtype=torch.bool))
    torch.testing.assert_close(found.double(), expected, atol=1e-5, rtol=1e-5)


def test_fresh_embeddings_are_of_unit_variance_once_scaled() -> None:
    weight = Builder(preset("tiny", vocabulary_size=2000)).embedding().weight
    assert (weight * 128**0.5).var().item() == pytest.approx(1.0, rel=0.02)


@pytest.mark.parametrize(("tying", "tables"), [("all", 1), ("output", 2), ("none", 3)])
def test_tying_shares_the_tables_that_it_names(tying: str, tables: int) -> None:
    model = Transformer(small_config(tying=tying))
    source, target, output = model.source_embedding.weight, model.target_embedding.weight, model.output_VD
    assert (source is target) == (tying == "all")
    assert (target is output) == (tying != "none")
    assert output is not source or tying == "all"
    shared = [parameter for parameter in model.parameters() if parameter.shape == (24, 16)]
    assert len({id(parameter) for parameter in shared} | {id(source), id(target), id(output)}) >= tables
    assert len({id(source), id(target), id(output)}) == tables
    assert output.requires_grad and any(output is parameter for parameter in model.parameters())


def test_the_output_table_gets_the_gradients_of_both_its_uses() -> None:
    model = small_model(tying="all")
    model(torch.tensor([[4, 5]]), torch.tensor([[6]])).square().sum().backward()
    gradient = model.output_VD.grad
    assert gradient is not None
    assert gradient.abs().amax(dim=1).min() > 0  # the projection reaches every piece


def test_an_output_bias_shifts_the_logits_of_every_position_alike() -> None:
    without, biased = small_model(), small_model(output_bias="learned")
    parameters = dict(without.named_parameters())
    with torch.no_grad():
        for name, parameter in biased.named_parameters():
            parameter.copy_(parameters.get(name, torch.arange(24.0)))
    source, target = ids(2, 6), ids(2, 5)
    expected = without(source, target) + torch.arange(24.0)
    torch.testing.assert_close(biased(source, target), expected)
    stepped, _ = biased.step(target[:, 0], biased.start(source))
    torch.testing.assert_close(stepped, expected[:, 0])


# --- counts and presets


def closed_formula(config: ModelConfig) -> int:
    """Parameters of a model with biases, LayerNorm, sinusoids, one table and two-matrix feed-forward."""
    V, D, F = config.vocabulary_size, config.width, config.feed_forward_width
    attention = 2 * (D * D + D) + 2 * (D + 1) * (D // config.heads) * config.key_value_heads
    feed_forward = 2 * D * F + F + D
    encoder = attention + feed_forward + 2 * 2 * D
    decoder = 2 * attention + feed_forward + 3 * 2 * D
    final = 2 * 2 * D if config.placement == "pre" else 0
    return V * D + config.encoder_layers * encoder + config.decoder_layers * decoder + final


@pytest.mark.parametrize("name", ["tiny", "small", "base", "big"])
@pytest.mark.parametrize("placement", ["pre", "post"])
def test_a_preset_has_as_many_parameters_as_the_formula_says(name: str, placement: str) -> None:
    config = preset(name, vocabulary_size=8000, placement=placement)
    assert config.parameter_count == closed_formula(config)


@pytest.mark.parametrize("variant", ALL_VARIANTS, ids=named)
def test_a_config_knows_the_count_of_its_parameters_before_they_are_made(variant: dict[str, Any]) -> None:
    config = small_config(**variant)
    made = sum(parameter.numel() for parameter in Transformer(config).parameters())
    assert config.parameter_count == made


def test_the_base_preset_is_the_base_model_of_the_paper() -> None:
    """Six and six layers of width 512, eight heads, 2048 inside, tied; 37,000 pieces make its 63 million."""
    config = preset("base", vocabulary_size=37_000, placement="post")
    assert (config.width, config.heads, config.head_width, config.feed_forward_width) == (512, 8, 64, 2048)
    assert (config.encoder_layers, config.decoder_layers, config.tying) == (6, 6, "all")
    attention, feed_forward, norm = 4 * (512 * 512 + 512), 2 * 512 * 2048 + 2048 + 512, 2 * 512
    encoder, decoder = attention + feed_forward + 2 * norm, 2 * attention + feed_forward + 3 * norm
    assert config.parameter_count == 37_000 * 512 + 6 * encoder + 6 * decoder == 63_082_496


# --- training


@pytest.mark.parametrize("positions", POSITIONS)
@pytest.mark.parametrize("norm", ["layer", "rms"])
def test_twelve_pre_norm_layers_have_finite_gradients_at_the_first_step(positions: str, norm: str) -> None:
    model = Transformer(
        small_config(
            encoder_layers=12, decoder_layers=12, dropout=0.1, positions=positions, norm=norm, width=32
        )
    )
    target = ids(4, 10)
    logits = model(ids(4, 9), target[:, :-1])
    nn.functional.cross_entropy(logits.flatten(0, 1), target[:, 1:].flatten()).backward()
    for name, parameter in model.named_parameters():
        assert parameter.grad is not None, name
        assert parameter.grad.isfinite().all(), name
        assert parameter.grad.abs().max() < 100, name
    first = model.encoder[0].get_parameter("feed_forward.up.weight").grad
    assert first is not None and first.abs().max() > 0


def test_the_first_loss_is_near_that_of_guessing() -> None:
    model = Transformer(small_config(vocabulary_size=1000, width=64)).eval()
    target = ids(8, 20, vocabulary_size=1000)
    logits = model(ids(8, 20, vocabulary_size=1000), target[:, :-1])
    loss = nn.functional.cross_entropy(logits.flatten(0, 1), target[:, 1:].flatten())
    assert loss.item() == pytest.approx(torch.tensor(1000.0).log().item(), abs=1.5)


def test_dropout_is_at_work_in_training_and_silent_in_evaluation() -> None:
    model = disturbed(Transformer(small_config(dropout=0.3)))
    source, target = ids(2, 6), ids(2, 6)
    assert not torch.equal(model(source, target), model(source, target))
    model.eval()
    assert torch.equal(model(source, target), model(source, target))


def test_a_model_can_be_saved_by_its_parameters_alone() -> None:
    """Position tables are made anew from the config, so they never travel with the weights."""
    model, twin = small_model(seed=1, positions="rope"), small_model(seed=2, positions="rope")
    assert not any(
        "LK" in name or "LD" in name for name in [*model.state_dict(), *dict(model.named_parameters())]
    )
    with torch.no_grad():
        for name, parameter in twin.named_parameters():
            parameter.copy_(model.get_parameter(name))
    source, target = ids(2, 5), ids(2, 5)
    assert torch.equal(model(source, target), twin(source, target))
