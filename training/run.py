"""A run: a folder that holds its recipe, its data, its checkpoints and the best model so far."""

from __future__ import annotations

import json
import os
import platform
import shutil
import signal
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from operator import attrgetter
from pathlib import Path

import torch
from rich.console import Console

from model.device import choose_dtype
from model.directory import save_translator
from model.search import DecodingOptions
from model.translator import Translator
from tokenizer import Tokenizer
from training.batches import Batches, encode_example, fits
from training.card import model_card
from training.checkpoint import CheckpointFolder
from training.corpora.corpus import Corpus
from training.journal import Journal
from training.preparation import RunData, load_run_data, prepare
from training.recipes import Recipe
from training.scoring.metrics import Scores
from training.trainer import ALONE, Trainer, UpdateReport
from training.validation import GREEDY, translate_and_score, translator_of, validate
from training.world import World

SAVE_SECONDS = 240.0
MAY_CHANGE = (  # between two sessions of a run; all else decided its data, its shape or the order of its batches
    "updates",
    "accumulate",
    "learning_rate",
    "warmup",
    "cooldown",
    "smoothing",
    "clip",
    "weight_decay",
    "model.dropout",
    "average_decay",
    "validate_every",
    "validation_sentences",
    "patience",
    "keep_best",
    "precision",
)
STORED_AS = torch.float16  # of the weights in the model directory; half the size, no change in BLEU


def begin(folder: Path, recipe: Recipe, corpus: Corpus, console: Console, *, device: torch.device) -> None:
    """Make a run's folder: data, tokenizer, and the recipe with what was left open decided."""
    if (folder / "recipe.json").exists():
        raise RunError(f"{folder} holds a run already; --resume continues it, another --output starts afresh")
    shutil.rmtree(folder / "data", ignore_errors=True)  # a preparation that was killed before the recipe
    prepare(recipe, corpus, folder / "data", console)
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
        if self.trainer.resume(self.checkpoints):
            console.print(f"going on at update {self.trainer.progress.update:,} of {self.recipe.updates:,}")
        else:
            self.describe()

    def describe(self) -> None:
        """Say what will be trained, and what will not because it is too long."""
        too_long = sum(
            not fits(encode_example(pair, self.data.tokenizer, target), self.recipe.max_length)
            for _, target in self.recipe.directions[:1]
            for pair in self.data.train
        )
        self.console.print(
            f"{self.recipe.model.parameter_count:,} parameters, {self.data.tokenizer.size:,} pieces, "
            f"{len(self.data.train):,} pairs in {len(self.recipe.directions)} direction(s), "
            f"{self.recipe.precision} on {self.device}; "
            f"{too_long:,} pairs are longer than {self.recipe.max_length} pieces and are left out"
        )

    def train(self, *, minutes: float | None = None) -> bool:
        """Train to the end, or for some minutes, or until a signal. Says whether the end was reached."""
        deadline = time.monotonic() + 60 * minutes if minutes else float("inf")
        saved = time.monotonic()
        progress = self.trainer.progress
        journal = Journal(self.folder, self.console, updates=self.recipe.updates, done=progress.update)

        def after_update(report: UpdateReport) -> bool:
            nonlocal saved
            if self.world.is_first:
                journal.update(progress.update, report, skipped=progress.skipped)
            is_last = progress.update == self.recipe.updates
            is_measured = is_last or progress.update % self.recipe.validate_every == 0
            if is_measured and self.world.is_first:
                self._validate(journal)
            is_late = time.monotonic() - saved > SAVE_SECONDS
            is_over = self.stopping or time.monotonic() > deadline or self.is_out_of_patience
            stops, saves = self.world.agree(is_over, is_late or is_measured)
            if stops or saves:
                self.trainer.save(self.checkpoints)
                saved = time.monotonic()
            return not stops

        with self._signals(), journal.open():
            self.trainer.run(after_update)
        return progress.update >= self.recipe.updates or self.is_out_of_patience

    def finish(self, command: str) -> dict[str, Scores]:
        """Score the best weights on the test part and write them, with their card, as the model directory."""
        if self.trainer.progress.best:
            self.trainer.load_update(self.checkpoints, self.trainer.progress.best[0][1])
        translator = self._better_translator()
        scores = {}
        for direction in self.recipe.directions:
            pairs = self.data.oriented(self.data.test, direction)
            _, scores["-".join(direction)] = translate_and_score(
                translator, pairs, direction, DecodingOptions()
            )
        self._export(translator, scores, command)
        return scores

    def _better_translator(self) -> Translator:
        """The averaged weights or, where they are better on the validation part, the last ones.

        After a long cooldown the average still remembers the noise from before it.
        """
        bleu = {}
        for model in (self.trainer.averaged, self.trainer.model.eval()):
            translator = translator_of(model, self.recipe, self.data)
            bleu[translator] = sum(
                translate_and_score(
                    translator, self.data.oriented(self.data.validation, direction), direction, GREEDY
                )[1].bleu
                for direction in self.recipe.directions
            )
        averaged, last = (value / len(self.recipe.directions) for value in bleu.values())
        self.console.print(f"validation part, greedy: BLEU {averaged:.2f} averaged weights, {last:.2f} last")
        return max(bleu, key=lambda translator: bleu[translator])

    def _validate(self, journal: Journal) -> None:
        """Measure, and keep the best."""
        result = validate(self.trainer, self.data)
        progress = self.trainer.progress
        is_best = progress.record(result.mean_bleu, self.recipe.keep_best)
        journal.validation(progress.update, result, is_best=is_best)
        if is_best:
            self._export(translator_of(self.trainer.averaged, self.recipe, self.data), {}, "")
        if self.is_out_of_patience:
            self.console.print(f"stopping: no better BLEU in {self.recipe.patience} validations")

    @property
    def is_out_of_patience(self) -> bool:
        """Whether BLEU has not risen for as many validations as the recipe allows."""
        return self.trainer.progress.validations_without_gain >= self.recipe.patience

    def _export(self, translator: Translator, scores: dict[str, Scores], command: str) -> None:
        card = model_card(
            self.recipe,
            self.data,
            self.trainer.progress,
            scores,
            name=self.recipe.name,
            command=command,
            device=device_name(self.device),
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


def write_recipe(folder: Path, recipe: Recipe) -> None:
    """recipe.json, whole or not at all."""
    unfinished = folder / "recipe.json.tmp"
    unfinished.write_text(json.dumps(recipe.to_json(), indent=2) + "\n")
    unfinished.replace(folder / "recipe.json")


def device_name(device: torch.device) -> str:
    """The device in words, for the card."""
    if device.type == "cuda":
        return torch.cuda.get_device_name(device)
    return f"CPU ({platform.machine()}, {os.cpu_count()} cores)"
