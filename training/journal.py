"""What a person sees of a run: a live line, the log, TensorBoard."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn
from torch.utils.tensorboard import SummaryWriter

from model.durable import naming
from training.estimate import in_words
from training.trainer import UpdateReport
from training.validation import Validation

EVERY = 20  # updates between two entries; in between, their means
LINE_SECONDS = 30  # between two lines where there is no live one


class Journal:
    """Writes log.jsonl and TensorBoard events into `folder`, and shows progress on `console`."""

    def __init__(self, folder: Path, console: Console, *, updates: int, done: int) -> None:
        self.folder, self.console, self.updates = folder, console, updates
        self.events = SummaryWriter(str(folder / "tensorboard"), purge_step=done)
        self.window: list[UpdateReport] = []
        self.printed = 0.0
        self.live = Progress(
            TextColumn("update"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[state]}"),
            TimeRemainingColumn(),
            console=console,
            disable=not console.is_terminal,
        )
        self.line: TaskID = self.live.add_task("update", total=updates, completed=done, state="")

    @contextmanager
    def open(self) -> Iterator[Journal]:
        """The live line is there inside of this."""
        with self.live:
            yield self
        self.events.close()

    def update(self, number: int, report: UpdateReport, *, skipped: int) -> None:
        """One update is done; `skipped` of the run so far were not used, their gradient was not finite."""
        self.window.append(report)
        self.live.advance(self.line)
        if len(self.window) < EVERY and number < self.updates:
            return
        pieces = sum(one.target_pieces for one in self.window)
        speed = pieces / sum(one.seconds for one in self.window)
        loss = sum(one.loss * one.target_pieces for one in self.window) / pieces
        self.window.clear()
        state = f"loss {loss:.3f}  {speed:,.0f} tokens/s" + (f"  {skipped} skipped" if skipped else "")
        self.live.update(self.line, state=state)
        if not self.console.is_terminal and time.monotonic() - self.printed > LINE_SECONDS:
            left = in_words((self.updates - number) * report.seconds)
            self._say(f"update {number:,} of {self.updates:,}  {state}  about {left} left")
            self.printed = time.monotonic()
        self._log(
            number,
            loss=loss,
            tokens_per_second=speed,
            gradient_norm=report.gradient_norm,
            learning_rate=report.learning_rate,
            skipped=skipped,
        )

    def validation(self, number: int, result: Validation, *, is_best: bool) -> None:
        """The averaged weights have been measured."""
        bleu = "  ".join(f"{direction} {value:.1f}" for direction, value in result.bleu.items())
        self._say(
            f"validation at {number:,}: loss {result.loss:.3f}  BLEU {bleu}{'  best' if is_best else ''}"
        )
        if result.mean_bleu == 0:
            self._say("BLEU is 0.0: it has not moved yet, so patience does not count")
        for sample in result.samples:
            self._say(f"  {sample.source}\n    → {sample.translation}\n    = {sample.reference}")
            self.events.add_text("sample", f"{sample.source} → {sample.translation}", number)
        values = {f"bleu_{direction}": value for direction, value in result.bleu.items()}
        self._log(number, validation_loss=result.loss, skipped_pairs=result.skipped, **values)

    def _say(self, text: str) -> None:
        self.console.print(text, highlight=False, markup=False, soft_wrap=True)

    def _log(self, number: int, **values: Any) -> None:
        log = self.folder / "log.jsonl"
        with naming(log), log.open("a") as file:
            file.write(json.dumps({"update": number, "time": round(time.time()), **values}) + "\n")
        with naming(self.folder / "tensorboard"):
            for name, value in values.items():
                self.events.add_scalar(name, value, number)
