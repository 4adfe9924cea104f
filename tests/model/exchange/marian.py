"""MarianMT checkpoints of random weights, as OPUS-MT publishes them: made by the transformers library itself."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch

from tests.model.phrasebook import ENGLISH, GERMAN
from tests.tokenizer.pairs import marian_pieces, sentencepiece

SMALL: dict[str, Any] = dict(
    d_model=32,
    ffn_dim=48,
    heads=4,
    encoder_layers=2,
    decoder_layers=3,
    max_position_embeddings=128,
    end_bias=0.5,
)
OPUS_MT: dict[str, Any] = dict(
    d_model=512,
    ffn_dim=2048,
    heads=8,
    encoder_layers=6,
    decoder_layers=6,
    max_position_embeddings=512,
    end_bias=4.5,
)


def write_checkpoint(
    folder: Path,
    *,
    shape: dict[str, Any] = SMALL,
    tags: Sequence[str] = (),
    vocabulary_size: int | None = None,
    source_lines: Sequence[str] = ENGLISH,
    target_lines: Sequence[str] = GERMAN,
    sentencepiece_size: int = 120,
    languages: tuple[str, str] | None = ("eng", "deu"),
) -> Any:
    """Write the folder and give back the MarianMTModel. `vocabulary_size`: filled up with pieces of no model."""
    from transformers import MarianConfig, MarianMTModel

    source = sentencepiece(tuple(source_lines), sentencepiece_size)
    target = sentencepiece(tuple(target_lines), sentencepiece_size)
    pieces = marian_pieces(source, target, tags=tags)
    more = (vocabulary_size or len(pieces)) - len(pieces)
    pieces[-1:-1] = [f"▁filler{number}" for number in range(more)]
    pad = len(pieces) - 1
    config = MarianConfig(
        vocab_size=len(pieces),
        decoder_vocab_size=len(pieces),
        d_model=shape["d_model"],
        encoder_ffn_dim=shape["ffn_dim"],
        decoder_ffn_dim=shape["ffn_dim"],
        encoder_attention_heads=shape["heads"],
        decoder_attention_heads=shape["heads"],
        encoder_layers=shape["encoder_layers"],
        decoder_layers=shape["decoder_layers"],
        max_position_embeddings=shape["max_position_embeddings"],
        activation_function="swish",
        scale_embedding=True,
        pad_token_id=pad,
        decoder_start_token_id=pad,
        eos_token_id=0,
        forced_eos_token_id=0,
    )
    torch.manual_seed(0)
    model = MarianMTModel(config).eval()
    disturb(model, shape["end_bias"])
    model.save_pretrained(folder)
    (folder / "source.spm").write_bytes(source)
    (folder / "target.spm").write_bytes(target)
    (folder / "vocab.json").write_text(json.dumps({piece: i for i, piece in enumerate(pieces)}))
    if languages:
        told = {"source_lang": languages[0], "target_lang": languages[1]}
        (folder / "tokenizer_config.json").write_text(json.dumps(told))
    return model


def disturb(model: Any, end_bias: float) -> None:
    """Weights that hide nothing: every gain and bias off its start, and targets that end at some time."""
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if "embed_positions" in name:
                continue
            std = model.config.d_model**-0.5 if parameter.ndim > 1 else 0.1
            parameter.add_(torch.randn_like(parameter) * std)
        model.model.shared.weight[model.config.pad_token_id] = 0.0  # as converted checkpoints have it
        model.final_logits_bias.normal_(std=0.5)
        model.model.shared.weight[model.config.eos_token_id] *= (
            3  # an end that is likely here and unlikely there
        )
        model.final_logits_bias[0, model.config.eos_token_id] = end_bias
