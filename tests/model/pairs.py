"""A small model of random weights, built and spelled as Marian's are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch

from model.config import ModelConfig
from model.transformer import Transformer
from model.translator import Translator
from tests.model.variants import OF_MARIAN, SMALL, disturbed
from tests.tokenizer.pairs import pair_parts
from tokenizer import PairTokenizer


def pair_translator(
    tags: Mapping[str, str] | None = None, directions: Sequence[tuple[str, str]] = (("en", "de"),)
) -> Translator:
    """A translator that has learnt nothing; with `tags` it serves several target languages."""
    torch.manual_seed(0)
    tokenizer = PairTokenizer(pair_parts(tags))
    ids: dict[str, Any] = dict(pad_id=tokenizer.pad_id, start_id=tokenizer.bos_id, eos_id=tokenizer.eos_id)
    config = ModelConfig(**{**SMALL, **OF_MARIAN, **ids, "vocabulary_size": tokenizer.size})
    model = disturbed(Transformer(config)).eval()
    return Translator(model, tokenizer, name="pair", directions=directions, longest=30)
