"""Decoding options: what they refuse, by name."""

import dataclasses
from typing import Any

import pytest

from model.search import DecodingOptions


@pytest.mark.parametrize(
    ("fields", "allowed"),
    [
        (dict(strategy="bogus"), "greedy, beam, sample"),
        (dict(beam_size=0), "1 … 64"),
        (dict(beam_size=65), "1 … 64"),
        (dict(length_penalty=-5.1), "-5 … 5"),
        (dict(length_penalty=float("nan")), "-5 … 5"),
        (dict(length_penalty=float("inf")), "-5 … 5"),
        (dict(n_best=0), "1 … 5 with beam"),
        (dict(n_best=6), "1 … 5 with beam"),
        (dict(n_best=2, strategy="greedy"), "1 … 1 with greedy"),
        (dict(n_best=65, strategy="sample"), "1 … 64 with sample"),
        (dict(look_ahead=0), "1 or more, or None"),
        (dict(margin=-0.1), "0 or more"),
        (dict(margin=float("nan")), "0 or more"),
        (dict(temperature=0.0), "above 0"),
        (dict(temperature=101.0), "up to 100"),
        (dict(temperature=float("nan")), "above 0"),
        (dict(top_k=-1), "0 (all) or more"),
        (dict(top_p=0.0), "above 0, up to 1"),
        (dict(top_p=1.1), "above 0, up to 1"),
        (dict(seed=-1), "0 … 2^63 − 1"),
        (dict(seed=2**63), "0 … 2^63 − 1"),
        (dict(max_length=0), "1 … 4096"),
        (dict(max_length=5000), "1 … 4096"),
        (dict(min_length=-1), "0 … 4096"),
        (dict(min_length=9, max_length=8), "0 … 8"),
    ],
)
def test_a_bad_option_is_named_with_what_is_allowed(fields: dict[str, Any], allowed: str) -> None:
    with pytest.raises(ValueError) as error:
        DecodingOptions(**fields)
    field, value = next(iter(fields.items()))
    assert f"{field} is {value!r}" in str(error.value)
    assert allowed in str(error.value)


def test_the_ends_of_every_range_are_allowed() -> None:
    DecodingOptions(beam_size=64, n_best=64, length_penalty=5, seed=2**63 - 1, max_length=1, min_length=1)
    DecodingOptions(beam_size=1, length_penalty=-5, top_k=0, top_p=1.0, temperature=100, max_length=4096)


def test_options_cannot_be_changed() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        DecodingOptions().beam_size = 3  # type: ignore[misc]
