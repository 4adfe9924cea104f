"""A run: a folder that holds its recipe, its data, its checkpoints and the best model so far."""

from __future__ import annotations

import math
import os
import platform
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path

import torch
from rich.console import Console

from model.device import choose_dtype
from model.directory import save_translator
from model.transformer import Transformer
from model.translator import Translator
from training.batches import Batches
from training.card import model_card
from training.checkpoint import CheckpointFolder
from training.journal import Journal
from training.measurement import EvaluationFiles, Measurement, Results, measure
from training.preparation import RunData, load_run_data
from training.run_folder import read_recipe
from training.sharding import fill, whole_model
from training.start import MODEL, blended, model_of, old_test_of
from training.trainer import ALONE, Trainer, TrainingDiverged, UpdateReport
from training.validation import GREEDY, translate_and_score, translator_of, validate
from training.world import World

SAVE_SECONDS = 240.0
STORED_AS = torch.float16  # of the weights in the model directory; half the size, no change in BLEU


class Run:
    """A folder that `begin` made, with its trainer; it goes on from the newest checkpoint if there is one."""

    def __init__(self, folder: Path, console: Console, *, device: torch.device, world: World = ALONE) -> None:
        self.folder, self.console, self.device, self.world = folder, console, device, world
        self.recipe = read_recipe(folder)
        self.data: RunData = load_run_data(folder / "data")
        self.checkpoints = CheckpointFolder(folder / "checkpoints")
        self.trainer = Trainer(
            self.recipe,
            Batches(self.data, self.recipe),
            device=device,
            precision=choose_dtype(self.recipe.precision, device),
            world=world,
        )
        self.stopping = False
        self.start: Translator | None = None  # of a fine-tuned run, what it started from
        if self.recipe.started_from:
            self.start = model_of(folder, self.recipe.started_from)
            self._take_weights(self.start.model)
        if world.size > 1:
            console.print(f"{self.trainer.engine}; {self.recipe.accumulate} batch(es) an update among them")
        if self.trainer.resume(self.checkpoints):
            console.print(f"going on at update {self.trainer.progress.update:,} of {self.recipe.updates:,}")
        else:
            self.describe()

    def describe(self) -> None:
        """Say what will be trained, and what will not because it is too long."""
        too_long = self.data.count_longer(self.recipe.max_length)
        self.console.print(
            f"{self.recipe.model.parameter_count:,} parameters, {self.data.tokenizer.size:,} pieces, "
            f"{len(self.data.train):,} pairs in {len(self.recipe.directions)} direction(s), "
            f"{self.recipe.precision} on {self.device}; "
            f"{too_long:,} pairs are longer than {self.recipe.max_length} pieces and are left out"
        )

    def _take_weights(self, start: Transformer) -> None:
        for model in (self.trainer.model, self.trainer.averaged):
            for parameter, given in zip(model.parameters(), start.parameters(), strict=True):
                fill(parameter, given)

    def train(self, *, minutes: float | None = None) -> bool:
        """Train to the end, or for some minutes, or until a signal. Says whether the end was reached."""
        deadline = time.monotonic() + 60 * minutes if minutes else float("inf")
        saved = time.monotonic()
        progress = self.trainer.progress
        journal = self._journal() if self.world.is_first else None

        def after_update(report: UpdateReport) -> bool:
            nonlocal saved
            if journal:
                journal.update(progress.update, report, skipped=progress.skipped)
            is_last = progress.update == self.recipe.updates
            is_measured = is_last or progress.update % self.recipe.validate_every == 0
            if is_measured:
                self._validate(journal)
            is_late = time.monotonic() - saved > SAVE_SECONDS
            is_over = self.stopping or time.monotonic() > deadline or self.is_out_of_patience
            stops, saves = self.world.agree(is_over, is_late or is_measured)
            if stops or saves:
                self.trainer.save(self.checkpoints)
                saved = time.monotonic()
            return not stops

        with self._signals(), journal.open() if journal else nullcontext():
            if self.start and progress.update == 0:  # nothing is the best yet, unless it beats this
                if not progress.best:
                    self._validate(journal)
                self.trainer.save(self.checkpoints)
            if not self.is_out_of_patience:
                self.trainer.run(after_update)
        return progress.update >= self.recipe.updates or self.is_out_of_patience

    def finish(self, command: str) -> Results:
        """Write the best weights as the model directory, measure it on the test sets, and put that on its card.

        For the first process alone: the weights come out of a checkpoint, where they are whole.
        """
        progress = self.trainer.progress
        best = progress.best[0][1] if progress.best else progress.update
        translator = self._better_translator(*self.trainer.models_at(self.checkpoints, best))
        if self.start:
            translator.model = blended(self.start.model, translator.model, self.recipe.blend)
        self._export(translator, Results(), command)
        results = Results(self._measure("model"), self._measure(MODEL) if self.start else [])
        self._export(translator, results, command)
        if progress.best and progress.best[0][0] == 0:
            self.console.print(
                "BLEU on the validation part never moved from 0.0: this model has learnt too little"
            )
        return results

    def _measure(self, model: str) -> list[Measurement]:
        """A model directory in the run's folder on the held-out part and, of a fine-tuned run, on the old test."""
        name = f"held out of {self.data.facts['corpus']}"
        held_out = [
            EvaluationFiles(name, way, *(self.folder / "data" / f"test.{language}" for language in way))
            for way in self.recipe.directions
        ]
        return [
            measure(self.folder / model, files, device=self.device)
            for files in [*held_out, *old_test_of(self.folder, self.recipe.directions)]
        ]

    def _better_translator(self, averaged: Transformer, last: Transformer) -> Translator:
        """The averaged weights or, where they are better on the validation part, the last ones.

        After a long cooldown the average still remembers the noise from before it.
        """
        bleu = {}
        for model in (averaged, last):
            translator = translator_of(model, self.recipe, self.data)
            bleu[translator] = sum(
                translate_and_score(
                    translator, self.data.oriented(self.data.validation, direction), direction, GREEDY
                )[1].bleu
                for direction in self.recipe.directions
            )
        of_averaged, of_last = (value / len(self.recipe.directions) for value in bleu.values())
        self.console.print(
            f"validation part, greedy: BLEU {of_averaged:.2f} averaged weights, {of_last:.2f} last"
        )
        return max(bleu, key=lambda translator: bleu[translator])

    def _journal(self) -> Journal:
        return Journal(
            self.folder, self.console, updates=self.recipe.updates, done=self.trainer.progress.update
        )

    def _validate(self, journal: Journal | None) -> None:
        """Measure, and keep the best. All processes put the weights together; the one with the journal measures."""
        averaged = whole_model(self.trainer.averaged)
        if not journal:
            return
        result = validate(self.trainer, averaged, self.data)
        progress = self.trainer.progress
        if not math.isfinite(result.loss):
            raise TrainingDiverged(
                f"the validation loss at update {progress.update} is {result.loss}: these weights are not kept; lower "
                f"the learning rate ({self.recipe.learning_rate})"
            )
        is_best = progress.record(result.mean_bleu, self.recipe.keep_best)
        journal.validation(progress.update, result, is_best=is_best)
        if is_best:
            self._export(translator_of(averaged, self.recipe, self.data), Results(), "")
        if self.is_out_of_patience:
            self.console.print(f"stopping: no better BLEU in {self.recipe.patience} validations")

    @property
    def is_out_of_patience(self) -> bool:
        """Whether BLEU has not risen for as many validations as the recipe allows."""
        return self.trainer.progress.validations_without_gain >= self.recipe.patience

    def _export(self, translator: Translator, results: Results, command: str) -> None:
        card = model_card(
            self.recipe,
            self.data,
            self.trainer.progress,
            results,
            command=command,
            machine=machine(self.device, self.world),
            started_from=(self.folder / MODEL / "MODEL_CARD.md").read_text() if self.start else "",
        )
        save_translator(translator, self.folder / "model", card=card, dtype=STORED_AS)

    @contextmanager
    def _signals(self) -> Iterator[None]:
        """SIGTERM and Ctrl+C finish the update, save and stop; a second Ctrl+C stops at once."""

        def stop(number: int, _: object) -> None:
            self.stopping = True
            signal.signal(number, signal.SIG_DFL)
            self.console.print("stopping after this update; --resume will go on from here")

        before = {number: signal.signal(number, stop) for number in (signal.SIGTERM, signal.SIGINT)}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


def machine(device: torch.device, world: World) -> str:
    """What trains, in words, for the card."""
    if device.type == "cuda":
        return f"{world.size} × {torch.cuda.get_device_name(device)}"
    threads = f"{world.size} process(es) of {torch.get_num_threads()} thread(s)"
    return f"CPU ({platform.machine()}, {os.cpu_count()} cores, {threads})"
