"""A model as a directory of plain parts with checksums: written whole, refused when damaged, no pickle."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import torch
from safetensors import SafetensorError
from safetensors.torch import load, save

from model.config import ModelConfig
from model.device import choose_device, choose_dtype
from model.durable import sync_folder, write_durably
from model.transformer import Transformer
from model.translator import Translator
from tokenizer import AnyTokenizer, open_tokenizer, tokenizer_parts

FORMAT = 1
PARTS = ("config.json", "model.safetensors", "MODEL_CARD.md")  # beside those of the tokenizer
CHECKSUMS = "checksums.json"


class ModelDirectoryError(ValueError):
    """The directory is no model, or a part of it is missing, damaged or not from this model."""


def save_translator(translator: Translator, directory: Path, *, card: str, dtype: torch.dtype) -> None:
    """Write the parts beside `directory` and put them in its place at once. Weights are stored as `dtype`."""
    weights = {name: value.detach().to("cpu", dtype) for name, value in translator.model.named_parameters()}
    for name, value in weights.items():
        if not value.isfinite().all():
            raise ModelDirectoryError(
                f"{directory}: not written: {name} has values that are not finite in {dtype}"
            )
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
            **translator.tokenizer.parts,
            "MODEL_CARD.md": card.encode(),
        },
    )


def write_parts(directory: Path, parts: Mapping[str, bytes]) -> None:
    """All parts and their checksums, or nothing: a reader sees the old directory or the new one."""
    unfinished = directory.with_name(f".{directory.name}.tmp")
    shutil.rmtree(unfinished, ignore_errors=True)
    unfinished.mkdir(parents=True)
    checksums = {name: hashlib.sha256(content).hexdigest() for name, content in parts.items()}
    try:
        for name, content in parts.items():
            write_durably(unfinished / name, content)
        write_durably(unfinished / CHECKSUMS, (json.dumps(checksums, indent=2) + "\n").encode())
    except OSError:
        shutil.rmtree(unfinished, ignore_errors=True)  # half a model, where there may be no room for it
        raise
    sync_folder(unfinished)
    old = _aside(directory)
    if directory.exists():
        shutil.rmtree(old, ignore_errors=True)
        directory.replace(old)
    unfinished.replace(directory)
    sync_folder(directory.parent)
    shutil.rmtree(old, ignore_errors=True)


def load_translator(directory: Path, *, device: str = "auto", dtype: str = "auto") -> Translator:
    """Read and check a model directory; ModelDirectoryError names the part at fault.

    `device`: auto, cpu, cuda. `dtype`: auto (measured), float32, bfloat16.
    """
    name = directory.resolve().name
    directory = located(directory)
    parts = read_parts(directory)
    with _reading(directory / "config.json"):
        config = json.loads(parts["config.json"])
        if config.get("format") != FORMAT:
            raise ValueError(f"format {config.get('format')!r}, this version reads format {FORMAT}")
        model_config = ModelConfig.from_json(config["model"])
        directions = [(str(source), str(target)) for source, target in config["directions"]]
        longest = int(config["longest"])
        if not 2 < longest <= model_config.max_positions:
            raise ValueError(
                f"longest is {longest}, must be 3 … {model_config.max_positions}, the max_positions"
            )
    with _reading(directory / ", ".join(tokenizer_parts(parts))):
        tokenizer = open_tokenizer(parts)
        _check_fit(tokenizer, model_config, [target for _, target in directions])
    place = choose_device(device)
    with _reading(directory / "model.safetensors"):
        model = _with_weights(model_config, load(parts["model.safetensors"]))
    model = model.to(place, choose_dtype(dtype, place, width=model_config.width))
    return Translator(model, tokenizer, name=name, directions=directions, longest=longest)


def located(directory: Path) -> Path:
    """The model directory itself: where a run's folder was named, its model is meant."""
    is_run = not (directory / CHECKSUMS).exists() and (directory / "model" / CHECKSUMS).exists()
    return directory / "model" if is_run else directory


def read_parts(directory: Path) -> dict[str, bytes]:
    """The content of every part, each checked against its checksum before anybody parses it."""
    place = directory if directory.is_dir() else _aside(directory)
    if not place.is_dir():
        raise ModelDirectoryError(f"{directory}: no such directory")
    if not (place / CHECKSUMS).exists():
        raise ModelDirectoryError(f"{directory}: {CHECKSUMS} is missing; this is no model directory")
    with _reading(place / CHECKSUMS):
        checksums = dict(json.loads((place / CHECKSUMS).read_bytes()))
    parts = {}
    for name in (*PARTS, *tokenizer_parts(checksums)):
        with _reading(place / name):
            parts[name] = (place / name).read_bytes()
            if checksums.get(name) != hashlib.sha256(parts[name]).hexdigest():
                raise ValueError("damaged or replaced: its checksum differs")
    return parts


def _aside(directory: Path) -> Path:
    """Where the old directory waits while the new one takes its place; a writer killed then leaves it there."""
    return directory.with_name(f".{directory.name}.old")


@contextmanager
def _reading(part: Path) -> Iterator[None]:
    """Whatever is wrong with a part becomes one kind of error that names it."""
    try:
        yield
    except OSError as error:
        raise ModelDirectoryError(f"{part}: cannot be read: {error.strerror}") from error
    except KeyError as error:
        raise ModelDirectoryError(f"{part}: {error} is missing") from error
    except (SafetensorError, ValueError, TypeError, AttributeError, OverflowError, RecursionError) as error:
        raise ModelDirectoryError(f"{part}: {error}") from error


def _check_fit(tokenizer: AnyTokenizer, config: ModelConfig, targets: Sequence[str]) -> None:
    """A tokenizer of another model would give fluent nonsense: what can be compared is."""
    for what, own, wanted in (
        ("pieces", tokenizer.size, config.vocabulary_size),
        ("the pad id", tokenizer.pad_id, config.pad_id),
        ("the start id", tokenizer.bos_id, config.start_id),
        ("the end id", tokenizer.eos_id, config.eos_id),
    ):
        if own != wanted:
            raise ValueError(f"the tokenizer of another model: {what}: {own}, the config says {wanted}")
    for target in targets:
        try:
            tokenizer.source_prefix(target)
        except KeyError as error:
            raise ValueError(f"the tokenizer of another model: {error.args[0]}") from None


def _with_weights(config: ModelConfig, weights: Mapping[str, torch.Tensor]) -> Transformer:
    held = sum(tensor.numel() for tensor in weights.values())
    if held != config.parameter_count:  # asked before a config that asks for too much takes the memory for it
        raise ValueError(
            f"weights and config differ: {held:,} numbers, the config asks for {config.parameter_count:,}"
        )
    model = Transformer(config)
    parameters = dict(model.named_parameters())
    if set(parameters) != set(weights):
        differing = sorted(set(parameters) ^ set(weights))
        raise ValueError(f"weights and config differ in {', '.join(differing[:3])}")
    with torch.no_grad():
        for name, parameter in parameters.items():
            if parameter.shape != weights[name].shape:
                raise ValueError(
                    f"{name} is {tuple(weights[name].shape)}, the config asks for {tuple(parameter.shape)}"
                )
            parameter.copy_(weights[name])
            if not parameter.sum().isfinite():  # one pass: a single NaN or infinity gets into the sum
                raise ValueError(f"{name} has values that are not finite")
    return model.eval().requires_grad_(False)
