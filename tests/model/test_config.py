"""The config: what it refuses, by name, and that it survives JSON."""

import dataclasses
import json
from typing import Any

import pytest

from model.config import PRESETS, ModelConfig, preset
from tests.model.variants import ALL_VARIANTS, small_config


@pytest.mark.parametrize(
    ("field", "value", "allowed"),
    [
        ("positions", "alibi", "'sinusoidal', 'sinusoidal-halves', 'learned', 'rope'"),
        ("norm", "batch", "'layer', 'rms'"),
        ("placement", "middle", "'pre', 'post'"),
        ("feed_forward", "tanh", "'relu', 'gelu', 'silu', 'swiglu'"),
        ("tying", "some", "'all', 'output', 'none'"),
        ("output_bias", True, "'none', 'learned'"),
        ("vocabulary_size", 0, "at least 1"),
        ("width", -16, "at least 1"),
        ("heads", 0, "at least 1"),
        ("heads", 5, "a divisor of the width 16"),
        ("key_value_heads", 0, "at least 1"),
        ("key_value_heads", 3, "a divisor of the 4 heads"),
        ("key_value_heads", 8, "a divisor of the 4 heads"),
        ("feed_forward_width", 0, "at least 1"),
        ("encoder_layers", 0, "at least 1"),
        ("decoder_layers", 0, "at least 1"),
        ("max_positions", 0, "at least 1"),
        ("width", 16.0, "a whole number"),
        ("heads", "4", "a whole number"),
        ("heads", True, "a whole number"),
        ("eos_id", 3.5, "a whole number"),
        ("dropout", 1.0, "in [0, 1)"),
        ("dropout", -0.1, "in [0, 1)"),
        ("dropout", float("nan"), "in [0, 1)"),
        ("dropout", "0.1", "a number"),
        ("norm_epsilon", 0.0, "above 0"),
        ("norm_epsilon", float("nan"), "above 0"),
        ("norm_epsilon", None, "a number"),
        ("pad_id", -1, "an id below the vocabulary_size 24"),
        ("start_id", 24, "an id below the vocabulary_size 24"),
        ("eos_id", 99, "an id below the vocabulary_size 24"),
        ("eos_id", 0, "another id than pad_id"),
    ],
)
def test_a_bad_value_is_named_with_what_is_allowed(field: str, value: Any, allowed: str) -> None:
    with pytest.raises(ValueError) as error:
        small_config(**{field: value})
    assert field in str(error.value)
    assert repr(value) in str(error.value)
    assert allowed in str(error.value)


def test_odd_heads_are_refused_where_features_are_turned_in_pairs() -> None:
    with pytest.raises(ValueError, match="RoPE"):
        small_config(width=12, positions="rope")
    small_config(width=12, positions="learned")


def test_an_odd_width_is_refused_where_features_are_sines_and_cosines() -> None:
    for positions in ("sinusoidal", "sinusoidal-halves"):
        with pytest.raises(ValueError, match="sinusoidal"):
            small_config(width=15, heads=1, key_value_heads=1, positions=positions)


def test_every_config_survives_json() -> None:
    for variant in ALL_VARIANTS:
        config = small_config(**variant)
        assert ModelConfig.from_json(json.loads(json.dumps(config.to_json()))) == config


def test_a_config_of_before_the_output_bias_is_one_without() -> None:
    fields = small_config().to_json()
    del fields["output_bias"]
    assert ModelConfig.from_json(fields) == small_config(output_bias="none")


def test_every_field_is_written_to_json() -> None:
    names = {field.name for field in dataclasses.fields(ModelConfig)}
    assert set(small_config().to_json()) == names


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"vocabulary_size": 9, "layers": 6}, "layers"),
        ({}, "vocabulary_size"),
        ({"vocabulary_size": "many"}, "vocabulary_size"),
        ({"vocabulary_size": 9, "positions": ["rope"]}, "positions"),
        ({"vocabulary_size": 9, "width": None}, "width"),
    ],
)
def test_a_bad_field_of_json_is_named(fields: dict[str, Any], named: str) -> None:
    with pytest.raises(ValueError, match=named):
        ModelConfig.from_json(fields)


@pytest.mark.parametrize("name", PRESETS)
def test_fields_can_be_put_over_a_preset(name: str) -> None:
    config = preset(name, vocabulary_size=100, decoder_layers=1)
    assert config.decoder_layers == 1
    assert config.width == PRESETS[name]["width"]


def test_an_unknown_preset_is_told_which_there_are() -> None:
    with pytest.raises(ValueError, match=r"'huge'.*tiny, small, base, big"):
        preset("huge", vocabulary_size=100)


def test_a_config_cannot_be_changed() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        small_config().width = 3  # type: ignore[misc]
