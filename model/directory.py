"""A model as a directory of plain parts with checksums: written whole, refused when damaged, no pickle."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load, save

from model.config import ModelConfig
from model.device import choose_device, choose_dtype
from model.transformer import Transformer
from model.translator import Translator
from tokenizer import Tokenizer

FORMAT = 1
PARTS = ("config.json", "model.safetensors", "tokenizer.model", "MODEL_CARD.md")
CHECKSUMS = "checksums.json"


class ModelDirectoryError(ValueError):
    """The directory is no model, or a part of it is missing, damaged or not from this model."""


def save_translator(translator: Translator, directory: Path, *, card: str, dtype: torch.dtype) -> None:
    """Write the parts beside `directory` and put them in its place at once. Weights are stored as `dtype`."""
    weights = {name: value.detach().to("cpu", dtype) for name, value in translator.model.named_parameters()}
    config = {
        "format": FORMAT,
        "directions": translator.directions,
        "longest": translator.longest,
        "model": translator.model.config.to_json(),
    }
    write_parts(
        directory,
        {
            "config.json": (json.dumps(config, indent=2) + "\n").encode(),
            "model.safetensors": save({name: value.contiguous() for name, value in weights.items()}),
            "tokenizer.model": translator.tokenizer.model,
            "MODEL_CARD.md": card.encode(),
        },
    )


def write_parts(directory: Path, parts: Mapping[str, bytes]) -> None:
    """All parts and their checksums, or nothing: a reader sees the old directory or the new one."""
    unfinished = directory.with_name(f".{directory.name}.tmp")
    shutil.rmtree(unfinished, ignore_errors=True)
    unfinished.mkdir(parents=True)
    for name, content in parts.items():
        _write_synced(unfinished / name, content)
    checksums = {name: hashlib.sha256(content).hexdigest() for name, content in parts.items()}
    _write_synced(unfinished / CHECKSUMS, (json.dumps(checksums, indent=2) + "\n").encode())
    if directory.exists():
        old = directory.with_name(f".{directory.name}.old")
        shutil.rmtree(old, ignore_errors=True)
        directory.replace(old)
        unfinished.replace(directory)
        shutil.rmtree(old)
    else:
        unfinished.replace(directory)


def load_translator(directory: Path, *, device: str = "auto", dtype: str = "auto") -> Translator:
    """Read and check a model directory; ModelDirectoryError names the part at fault.

    `device`: auto, cpu, cuda. `dtype`: auto (measured), float32, bfloat16.
    """
    if not (directory / CHECKSUMS).exists() and (directory / "model" / CHECKSUMS).exists():
        directory = directory / "model"  # a run's folder was named: its model is meant
    parts = read_parts(directory)
    config = _config(directory, parts["config.json"])
    try:
        tokenizer = Tokenizer(parts["tokenizer.model"])
        model_config = ModelConfig.from_json(config["model"])
        weights = load(parts["model.safetensors"])
        directions = [(str(source), str(target)) for source, target in config["directions"]]
        longest = int(config["longest"])
    except (SafetensorError, ValueError, KeyError, TypeError) as error:
        raise ModelDirectoryError(f"{directory}: {error}") from error
    if tokenizer.size != model_config.vocabulary_size:
        raise ModelDirectoryError(
            f"{directory}: the tokenizer has {tokenizer.size} pieces, "
            f"the model was trained with {model_config.vocabulary_size}"
        )
    place = choose_device(device)
    model = _with_weights(model_config, weights, directory)
    model = model.to(place, choose_dtype(dtype, place, width=model_config.width))
    return Translator(model, tokenizer, name=directory.resolve().name, directions=directions, longest=longest)


def read_parts(directory: Path) -> dict[str, bytes]:
    """The content of every part, each checked against its checksum before anybody parses it."""
    if not directory.is_dir():
        raise ModelDirectoryError(f"{directory}: no such directory")
    try:
        checksums = json.loads((directory / CHECKSUMS).read_bytes())
    except FileNotFoundError:
        raise ModelDirectoryError(
            f"{directory}: {CHECKSUMS} is missing; this is no model directory"
        ) from None
    except ValueError as error:
        raise ModelDirectoryError(f"{directory / CHECKSUMS}: damaged: {error}") from error
    parts = {}
    for name in PARTS:
        try:
            parts[name] = (directory / name).read_bytes()
        except OSError as error:
            raise ModelDirectoryError(f"{directory / name}: cannot be read: {error.strerror}") from error
        if checksums.get(name) != hashlib.sha256(parts[name]).hexdigest():
            raise ModelDirectoryError(f"{directory / name}: damaged or replaced: its checksum differs")
    return parts


def _config(directory: Path, content: bytes) -> dict[str, Any]:
    config = json.loads(content)
    if config.get("format") != FORMAT:
        raise ModelDirectoryError(
            f"{directory}: format {config.get('format')!r}, this version reads format {FORMAT}"
        )
    return dict(config)


def _with_weights(config: ModelConfig, weights: Mapping[str, torch.Tensor], directory: Path) -> Transformer:
    with torch.device("meta"):  # no random numbers are drawn for weights that get replaced
        shape = Transformer(config)
    parameters = dict(shape.named_parameters())
    if set(parameters) != set(weights):
        differing = sorted(set(parameters) ^ set(weights))
        raise ModelDirectoryError(f"{directory}: weights and config differ in {', '.join(differing[:3])}")
    for name, parameter in parameters.items():
        if parameter.shape != weights[name].shape:
            raise ModelDirectoryError(
                f"{directory}: {name} is {tuple(weights[name].shape)}, "
                f"the config asks for {tuple(parameter.shape)}"
            )
    model = Transformer(config)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            parameter.copy_(weights[name])
    return model.eval().requires_grad_(False)


def _write_synced(path: Path, content: bytes) -> None:
    with path.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
