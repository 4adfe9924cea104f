"""A run's folder, begun, or gone on with under other settings."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import replace
from operator import attrgetter
from pathlib import Path

import torch
from rich.console import Console

from model.device import choose_dtype
from tokenizer import Tokenizer
from training.corpora.corpus import Corpus, Mixture
from training.corpora.pairs import Pair
from training.preparation import prepare
from training.recipes import Recipe

MAY_CHANGE = (  # between two sessions of a run; all else decided its data, its shape or the order of its batches
    "updates",
    "accumulate",
    "learning_rate",
    "warmup",
    "cooldown",
    "smoothing",
    "consistency",
    "clip",
    "weight_decay",
    "model.dropout",
    "average_decay",
    "validate_every",
    "validation_sentences",
    "patience",
    "keep_best",
    "sharding",
    "precision",
    "sharding",
    "blend",
)


def begin(
    folder: Path,
    recipe: Recipe,
    corpus: Corpus | Mixture,
    console: Console,
    *,
    device: torch.device,
    tokenizer: bytes | None = None,
    old_pairs: Sequence[Pair] = (),
) -> None:
    """Make a run's folder: data, tokenizer, and the recipe with what was left open decided.

    Fine-tuning brings its `tokenizer` along, and perhaps some `old_pairs` to be trained on as well.
    """
    refuse_begun(folder)
    shutil.rmtree(folder / "data", ignore_errors=True)  # a preparation that was killed before the recipe
    prepare(recipe, corpus, folder / "data", console, tokenizer=tokenizer, old_pairs=old_pairs)
    size = Tokenizer((folder / "data" / "tokenizer.model").read_bytes()).size
    precision = choose_dtype(recipe.precision, device, rows=2048, width=recipe.model.width)
    write_recipe(
        folder,
        replace(
            recipe,
            model=replace(recipe.model, vocabulary_size=size),
            precision=str(precision).removeprefix("torch."),
        ),
    )


def refuse_begun(folder: Path) -> None:
    """RunError where there is a run already."""
    if (folder / "recipe.json").exists():
        raise RunError(f"{folder} holds a run already; --resume continues it, another --output starts afresh")


def read_recipe(folder: Path) -> Recipe:
    """The recipe of a run."""
    return Recipe.from_json(json.loads((folder / "recipe.json").read_text()))


def change_settings(folder: Path, settings: Mapping[str, str]) -> None:
    """Put `--set` texts over the recipe of a run that goes on. RunError for what decided its data or its shape."""
    recipe = read_recipe(folder)
    changed = recipe.with_settings(dict(settings))
    for path in settings:
        value = attrgetter(path)
        if path not in MAY_CHANGE and value(changed) != value(recipe):
            raise RunError(
                f"--set {path}={settings[path]}: a run keeps the {path} it began with ({value(recipe)}), on which its "
                f"data, its weights or their order depend; may change: {', '.join(MAY_CHANGE)}; else begin a new run "
                "with another --output"
            )
    write_recipe(folder, changed)


class RunError(ValueError):
    """The folder is not in the state that the command asks for."""


def write_recipe(folder: Path, recipe: Recipe) -> None:
    """recipe.json, whole or not at all."""
    unfinished = folder / "recipe.json.tmp"
    unfinished.write_text(json.dumps(recipe.to_json(), indent=2) + "\n")
    unfinished.replace(folder / "recipe.json")
