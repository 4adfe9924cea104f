"""A small model of random weights with a tokenizer of its own, to be saved, damaged and loaded."""

from __future__ import annotations

from functools import cache
from typing import Any

import torch

from model.config import ModelConfig
from model.directory import PARTS
from model.transformer import Transformer
from model.translator import Translator
from tests.model.variants import SMALL, disturbed, ids
from tokenizer import Tokenizer
from tokenizer.train import train_tokenizer

ALL_PARTS = (*PARTS, "tokenizer.model")
LINES = ["a small boat on the river", "ein kleines Boot auf dem Fluss"] * 20


@cache
def boat_tokenizer() -> Tokenizer:
    return Tokenizer(train_tokenizer(LINES, size=290, languages=["de", "en"]))


def boats(seed: int = 0, **fields: Any) -> Translator:
    """A translator that has learnt nothing; every seed has weights of its own."""
    torch.manual_seed(seed)
    config = ModelConfig(**{**SMALL, **fields, "vocabulary_size": boat_tokenizer().size})
    model = disturbed(Transformer(config)).eval()
    directions = [("en", "de"), ("de", "en")]
    return Translator(model, boat_tokenizer(), name="any", directions=directions, longest=30)


def logits(translator: Translator) -> torch.Tensor:
    """What it says of ids that are always the same."""
    torch.manual_seed(0)
    result: torch.Tensor = translator.model(ids(2, 6), ids(2, 5))
    return result
