"""A MarianMT checkpoint, as OPUS-MT publishes them, as a model of this project: the same function, other names."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load
from torch import Tensor

from model.config import ModelConfig
from model.exchange.marian_languages import directions_of, tags_of
from model.positions import SinusoidalPositionsInHalves
from model.transformer import Transformer
from model.translator import Translator
from tokenizer.pair import SOURCE, TARGET, VOCABULARY, PairTokenizer, vocabulary_part

WEIGHTS = ("model.safetensors", "pytorch_model.bin")  # the first that is there
NEEDED = ("config.json", SOURCE, TARGET, "vocab.json")
SHARED = (  # names of the one table; a checkpoint may have any of them, and several
    "model.shared.weight",
    "model.encoder.embed_tokens.weight",
    "model.decoder.embed_tokens.weight",
    "lm_head.weight",
)
POSITIONS = ("model.encoder.embed_positions.weight", "model.decoder.embed_positions.weight")
FEED_FORWARDS = {"swish": "silu", "silu": "silu", "relu": "relu", "gelu": "gelu"}


class ForeignModel(ValueError):
    """The folder holds no MarianMT model, or lacks a part of one, or one that works in another way."""


def read_marian(
    folder: Path, *, sources: Sequence[str] = (), targets: Sequence[str] = ()
) -> tuple[Translator, torch.dtype]:
    """The model in `folder`, and the type that its weights are stored as.

    `sources` and `targets` are language codes. Without them the source is what the folder says, and the targets are
    all that the vocabulary has tags for. ForeignModel names what is missing or differs, UnknownLanguages what is
    not said.
    """
    _check_files(folder)
    config = _json(folder / "config.json")
    model_config = marian_config(config)
    vocabulary = _json(folder / "vocab.json")
    pieces = sorted(vocabulary, key=vocabulary.__getitem__)
    if sorted(vocabulary.values()) != list(range(model_config.vocabulary_size)):
        raise ForeignModel(
            f"vocab.json: its {len(vocabulary):,} pieces do not have the ids from 0 to the vocab_size of config.json, "
            f"{model_config.vocabulary_size:,}"
        )
    described = folder / "tokenizer_config.json"
    tags = tags_of(pieces)
    directions = directions_of(
        names=(folder.resolve().name, str(config.get("_name_or_path", ""))),
        described=_json(described) if described.exists() else {},
        tags=tags,
        sources=sources,
        targets=targets,
    )
    tokenizer = _tokenizer(folder, model_config, pieces, tags)
    weights = _weights(folder)
    dtype = next(weights[name].dtype for name in SHARED if name in weights)
    model = Transformer(model_config)
    fill(model, weights)
    translator = Translator(
        model.eval().requires_grad_(False),
        tokenizer,
        name=folder.resolve().name,
        directions=directions,
        longest=model_config.max_positions,
    )
    return translator, dtype


def marian_config(config: Mapping[str, Any]) -> ModelConfig:
    """The shape that a config.json of transformers' MarianMT describes."""
    if config.get("model_type") != "marian":
        raise ForeignModel(f"config.json: model_type is {config.get('model_type')!r}, must be 'marian'")
    activation = config.get("activation_function", "gelu")
    for field, default, allowed in (  # what is left out has the default of transformers
        ("activation_function", "gelu", tuple(FEED_FORWARDS)),
        ("scale_embedding", False, (True,)),
        ("static_position_embeddings", True, (True,)),
        ("normalize_before", False, (False,)),
        ("normalize_embedding", False, (False,)),
        ("add_final_layer_norm", False, (False,)),
        ("share_encoder_decoder_embeddings", True, (True,)),
        ("tie_word_embeddings", True, (True,)),
        ("decoder_vocab_size", None, (None, config.get("vocab_size"))),
        ("decoder_ffn_dim", None, (config.get("encoder_ffn_dim"),)),
        ("decoder_attention_heads", None, (config.get("encoder_attention_heads"),)),
    ):
        if config.get(field, default) not in allowed:
            known = " or ".join(map(repr, allowed))
            raise ForeignModel(f"config.json: {field} is {config.get(field, default)!r}, must be {known}")
    try:
        return ModelConfig(
            vocabulary_size=config["vocab_size"],
            width=config["d_model"],
            heads=config["encoder_attention_heads"],
            key_value_heads=config["encoder_attention_heads"],
            feed_forward_width=config["encoder_ffn_dim"],
            encoder_layers=config["encoder_layers"],
            decoder_layers=config["decoder_layers"],
            positions="sinusoidal-halves",
            norm="layer",
            norm_epsilon=1e-5,
            placement="post",
            feed_forward=FEED_FORWARDS[activation],  # type: ignore[arg-type]
            tying="all",
            output_bias="learned",
            dropout=config.get("dropout", 0.1),
            max_positions=config["max_position_embeddings"],
            pad_id=config["pad_token_id"],
            start_id=config["decoder_start_token_id"],
            eos_id=config["eos_token_id"],
        )
    except KeyError as error:
        raise ForeignModel(f"config.json: {error} is missing") from None
    except ValueError as error:
        raise ForeignModel(f"config.json: {error}") from None


def fill(model: Transformer, weights: Mapping[str, Tensor]) -> None:
    """Copy a checkpoint's weights into a model of its shape; all of them must find a place."""
    used: set[str] = set()
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            sources = marian_names(name, weights)
            if missing := [source for source in sources if source not in weights]:
                raise ForeignModel(f"the weights: {missing[0]} is missing")
            value = torch.cat([weights[source] for source in sources])
            value = value.squeeze(0) if name == "output_bias_V" else value
            if value.shape != parameter.shape:
                raise ForeignModel(
                    f"the weights: {' + '.join(sources)} is {tuple(value.shape)}, config.json asks for "
                    f"{tuple(parameter.shape)}"
                )
            parameter.copy_(value)
            used.update(sources)
    _check_rest(model, {name: value for name, value in weights.items() if name not in used})


def marian_names(name: str, weights: Mapping[str, Tensor]) -> list[str]:
    """Those tensors of a checkpoint that our parameter `name` is made of, one below the other."""
    if name == "output_VD":  # the one table, under the first of its three names here
        return [next((shared for shared in SHARED if shared in weights), SHARED[0])]
    if name == "output_bias_V":
        return ["final_logits_bias"]
    side, layer, part, *inner, kind = name.split(".")
    kind = {"gain": "weight"}.get(kind, kind)
    theirs = {
        "attention.queries_keys_values": ["self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj"],
        "attention.output": ["self_attn.out_proj"],
        "around_attention.norm": ["self_attn_layer_norm"],
        "cross_attention.queries": ["encoder_attn.q_proj"],
        "cross_attention.keys_values": ["encoder_attn.k_proj", "encoder_attn.v_proj"],
        "cross_attention.output": ["encoder_attn.out_proj"],
        "around_cross_attention.norm": ["encoder_attn_layer_norm"],
        "feed_forward.up": ["fc1"],
        "feed_forward.down": ["fc2"],
        "around_feed_forward.norm": ["final_layer_norm"],
    }[".".join([part, *inner])]
    return [f"model.{side}.layers.{layer}.{their}.{kind}" for their in theirs]


def _check_rest(model: Transformer, rest: Mapping[str, Tensor]) -> None:
    """What has no parameter here must be what the model computes, or another name of the one table."""
    config = model.config
    for name, value in rest.items():
        if name in SHARED:
            expected = model.source_embedding.weight
        elif name in POSITIONS:
            expected = SinusoidalPositionsInHalves(
                width=config.width, max_positions=config.max_positions
            ).table_LD
        else:
            raise ForeignModel(f"the weights: {name} has no place in a MarianMT model")
        if value.shape != expected.shape or not torch.allclose(value.float(), expected, atol=1e-3):
            what = "the one shared table" if name in SHARED else "the sinusoids of its size"
            raise ForeignModel(f"the weights: {name} is not {what}")


def _check_files(folder: Path) -> None:
    if not folder.is_dir():
        raise ForeignModel(f"{folder}: no such folder")
    there = {path.name for path in folder.iterdir()}
    missing = [name for name in NEEDED if name not in there]
    if not there & set(WEIGHTS):
        missing.append(" or ".join(WEIGHTS))
    if missing:
        raise ForeignModel(f"{folder}: no whole MarianMT model: {', '.join(missing)} missing")


def _json(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(path.read_bytes())
    except (ValueError, RecursionError) as error:
        raise ForeignModel(f"{path.name}: {error}") from error
    if not isinstance(content, dict):
        raise ForeignModel(f"{path.name}: a {type(content).__name__}, must be an object with names")
    return content


def _weights(folder: Path) -> dict[str, Tensor]:
    """Tensors by name. Neither kind of file can run code: a pickle is read by torch's restricted reader."""
    path = next(folder / name for name in WEIGHTS if (folder / name).exists())
    weights: Any
    try:
        if path.suffix == ".safetensors":
            weights = load(path.read_bytes())
        else:
            weights = torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:  # a damaged pickle fails in any way it likes
        raise ForeignModel(f"{path.name}: cannot be read as weights: {error}") from error
    if not isinstance(weights, dict) or not all(isinstance(value, Tensor) for value in weights.values()):
        raise ForeignModel(f"{path.name}: holds no tensors by name")
    if not set(SHARED) & set(weights):
        raise ForeignModel(f"{path.name}: {SHARED[0]} is missing")
    return weights


def _tokenizer(
    folder: Path, config: ModelConfig, pieces: Sequence[str], tags: Mapping[str, str]
) -> PairTokenizer:
    vocabulary = vocabulary_part(
        pieces, padding=pieces[config.pad_id], unknown="<unk>", end=pieces[config.eos_id], tags=tags
    )
    spm = {name: (folder / name).read_bytes() for name in (SOURCE, TARGET)}
    try:
        tokenizer = PairTokenizer({**spm, VOCABULARY: vocabulary})
    except ValueError as error:
        raise ForeignModel(str(error).replace(VOCABULARY, "vocab.json")) from error
    return tokenizer
