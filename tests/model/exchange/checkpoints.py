"""A checkpoint in Marian's names that needs no library: a small model of ours, renamed."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file

from model.exchange.from_marian import marian_names
from model.translator import Translator
from tests.model.pairs import pair_translator


def renamed(translator: Translator) -> dict[str, torch.Tensor]:
    """The weights as a checkpoint has them."""
    weights: dict[str, torch.Tensor] = {}
    for name, parameter in translator.model.named_parameters():
        names = marian_names(name, weights)
        weights |= dict(zip(names, parameter.detach().chunk(len(names)), strict=True))
    weights["final_logits_bias"] = weights["final_logits_bias"][None]
    return {name: value.clone() for name, value in weights.items()}


def config_of(translator: Translator, **changed: Any) -> dict[str, Any]:
    """A config.json as OPUS-MT has them."""
    shape = translator.model.config
    return {
        "model_type": "marian",
        "architectures": ["MarianMTModel"],
        "activation_function": "swish",
        "vocab_size": shape.vocabulary_size,
        "d_model": shape.width,
        "encoder_attention_heads": shape.heads,
        "decoder_attention_heads": shape.heads,
        "encoder_ffn_dim": shape.feed_forward_width,
        "decoder_ffn_dim": shape.feed_forward_width,
        "encoder_layers": shape.encoder_layers,
        "decoder_layers": shape.decoder_layers,
        "max_position_embeddings": shape.max_positions,
        "scale_embedding": True,
        "static_position_embeddings": True,
        "normalize_before": False,
        "normalize_embedding": False,
        "pad_token_id": shape.pad_id,
        "decoder_start_token_id": shape.start_id,
        "eos_token_id": shape.eos_id,
        **changed,
    }


def write_renamed(folder: Path, *, tags: Sequence[str] = (), **changed: Any) -> Translator:
    """Write the folder, with what is `changed` in its config.json, and give back the model that it holds."""
    translator = pair_translator({tag: tag for tag in tags}, [("en", tag) for tag in tags or ("de",)])
    folder.mkdir()
    save_file(renamed(translator), folder / "model.safetensors")
    (folder / "config.json").write_text(json.dumps(config_of(translator, **changed)))
    tokenizer = translator.tokenizer
    for name in ("source.spm", "target.spm"):
        (folder / name).write_bytes(tokenizer.parts[name])
    vocabulary = {piece: i for i, piece in enumerate(tokenizer.pieces(range(tokenizer.size)))}
    (folder / "vocab.json").write_text(json.dumps(vocabulary))
    return translator
