"""Small decoders, sentences for them, and ways to search."""

from random import Random
from typing import Any

import pytest
import torch

from model.decoding import PlainDecoder
from model.search import DecodingOptions, Found
from model.sentence import Sentence
from tests.model.variants import small_model

END = 3
GREEDY = DecodingOptions(strategy="greedy")
BEAM = DecodingOptions(beam_size=5, n_best=3)
OPTIONS = [
    GREEDY,
    DecodingOptions(strategy="greedy", min_length=9, max_length=20),
    BEAM,
    DecodingOptions(beam_size=4, n_best=4, look_ahead=None, margin=float("inf"), length_penalty=0.0),
    DecodingOptions(beam_size=2, min_length=6, max_length=7, length_penalty=2.0),
    DecodingOptions(beam_size=3, max_length=1),
    DecodingOptions(beam_size=1),
]


def plain_decoder(**variant: Any) -> PlainDecoder:
    """Of random weights that end sentences now and then."""
    model = small_model(2, **variant).requires_grad_(False)
    with torch.no_grad():
        model.output_VD[END].mul_(2)
    return PlainDecoder(model, eos_id=END, banned_ids=[0, 1, 2], inner_ids=[])


def batch(seed: int = 0, count: int = 9) -> list[Sentence]:
    """Of any length up to 14."""
    random = Random(seed)
    rows = [(*random.choices(range(4, 24), k=random.randint(1, 13)), END) for _ in range(count)]
    return [Sentence("", "de", ids, ()) for ids in rows]


def assert_same(got: list[list[Found]], wanted: list[list[Found]]) -> None:
    assert [[(one.ids, one.truncated) for one in found] for found in got] == [
        [(one.ids, one.truncated) for one in found] for found in wanted
    ]
    for ours, theirs in zip(got, wanted, strict=True):
        for one, other in zip(ours, theirs, strict=True):
            assert one.score == pytest.approx(other.score, abs=1e-4)
            assert one.id_scores == pytest.approx(other.id_scores, abs=1e-4)
