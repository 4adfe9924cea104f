"""A model directory measured on files, by the very command that its card then names."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from rich.table import Table

from model.device import choose_device
from training.evaluate import measured


@dataclass(frozen=True)
class EvaluationFiles:
    """A test set in one direction: line n of `reference` translates line n of `source`."""

    name: str  # such as "held out of tatoeba-deu-eng"
    direction: tuple[str, str]
    source: Path
    reference: Path


@dataclass(frozen=True)
class Measurement:
    """What `training.evaluate` said of a model."""

    files: EvaluationFiles
    command: str  # gives the same numbers again
    report: dict[str, Any]

    @property
    def bleu(self) -> float:
        return float(self.report["bleu"])

    @property
    def chrf(self) -> float:
        return float(self.report["chrf"])


@dataclass(frozen=True)
class Results:
    """A model on all its test sets, and, where it was fine-tuned, the model that it started from on the same."""

    after: Sequence[Measurement] = ()
    before: Sequence[Measurement] = field(default=())

    def headings(self) -> list[str]:
        """Of the columns of `rows`."""
        scores = [f"{name} before" for name in ("BLEU", "chrF")] if self.before else []
        return ["test set", "direction", *scores, "BLEU", "chrF", "sentences", "length ratio"]

    def rows(self) -> list[list[str]]:
        """One for each test set and direction; a gain or a loss stands in brackets."""
        before: Sequence[Measurement | None] = self.before or [None] * len(self.after)
        return [_row(one, earlier) for one, earlier in zip(self.after, before, strict=True)]

    def table(self) -> Table:
        """For the console."""
        table = Table(title="Test, beam 5")
        for heading in self.headings():
            table.add_column(heading)
        for row in self.rows():
            table.add_row(*row)
        return table


def measure(model: Path, files: EvaluationFiles, *, device: torch.device) -> Measurement:
    """Translates with the default beam, in float32, which machines agree on but for the last digits."""
    source_language, target_language = files.direction
    arguments = [
        *(str(model), "--source-language", source_language, "--target-language", target_language),
        *("--source", str(files.source), "--reference", str(files.reference), "--dtype", "float32"),
    ]
    if choose_device("auto").type != device.type:
        arguments += ["--device", device.type]
    return Measurement(files, f"python -m training.evaluate {shlex.join(arguments)}", measured(arguments))


def _row(one: Measurement, earlier: Measurement | None) -> list[str]:
    old = [f"{earlier.bleu:.1f}", f"{earlier.chrf:.1f}"] if earlier else []
    gains = (
        [f" ({one.bleu - earlier.bleu:+.1f})", f" ({one.chrf - earlier.chrf:+.1f})"] if earlier else ["", ""]
    )
    new = [f"{one.bleu:.1f}{gains[0]}", f"{one.chrf:.1f}{gains[1]}"]
    sizes = [f"{one.report['sentences']:,}", f"{one.report['length_ratio']:.2f}"]
    return [one.files.name, " → ".join(one.files.direction), *old, *new, *sizes]
