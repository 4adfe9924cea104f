"""What a fine-tuned run keeps of the model it started from: the model itself, and its old test set.

Both are inside of the run's folder, so that it goes on, and can be measured, whatever becomes of the originals.
"""

from __future__ import annotations

import copy
import json
import shutil
from collections.abc import Sequence
from pathlib import Path

import torch

from model.directory import CHECKSUMS, load_translator, read_parts, write_parts
from model.transformer import Transformer
from model.translator import Translator
from training.corpora.pairs import CorpusError, Pair
from training.measurement import EvaluationFiles

MODEL = "start"
OLD_TEST = "old-test"


def keep_model(folder: Path, model: Path) -> str:
    """Copy the model directory into the run's folder; returns the SHA-256 of its weights."""
    if not (model / CHECKSUMS).exists() and (model / "model" / CHECKSUMS).exists():
        model = model / "model"  # a run's folder was named
    write_parts(folder / MODEL, read_parts(model))
    return _checksum_of(folder / MODEL)


def model_of(folder: Path, started_from: str) -> Translator:
    """The model that the run started from, in float32 on the CPU. CorpusError if it is another one."""
    translator = load_translator(folder / MODEL, device="cpu", dtype="float32")
    if (found := _checksum_of(folder / MODEL)) != started_from:
        raise CorpusError(
            f"{folder / MODEL}: weights of SHA-256 {found}; the run started from {started_from}"
        )
    return translator


def keep_old_test(folder: Path, name: str, languages: tuple[str, str], pairs: Sequence[Pair]) -> None:
    """Write the test set, if there is one, as aligned files; `pairs` are in the order of `languages`."""
    place = folder / OLD_TEST
    shutil.rmtree(place, ignore_errors=True)  # of a command that was killed before the run began
    if not pairs:
        return
    place.mkdir(parents=True)
    for language, side in zip(languages, zip(*pairs, strict=True), strict=True):
        text = "".join(f"{line}\n" for line in side)
        (place / f"test.{language}").write_text(text, encoding="utf-8", newline="\n")
    (place / "test.json").write_text(json.dumps({"name": name}) + "\n")


def old_test_of(folder: Path, directions: Sequence[tuple[str, str]]) -> list[EvaluationFiles]:
    """The old test set in each direction; none where none was named."""
    place = folder / OLD_TEST
    if not (place / "test.json").exists():
        return []
    name = json.loads((place / "test.json").read_text())["name"]
    return [
        EvaluationFiles(name, direction, *(place / f"test.{language}" for language in direction))
        for direction in directions
    ]


@torch.no_grad()
def blended(start: Transformer, tuned: Transformer, share: float) -> Transformer:
    """Between the two, number by number: 0 is `start`, 1 is `tuned` (arXiv 2109.01903)."""
    if share == 1.0:
        return tuned
    model = copy.deepcopy(tuned)
    for parameter, old in zip(model.parameters(), start.parameters(), strict=True):
        parameter.copy_(old.to(parameter.device).lerp(parameter, share))
    return model


def _checksum_of(model: Path) -> str:
    return str(json.loads((model / CHECKSUMS).read_text())["model.safetensors"])
