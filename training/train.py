"""Train a model: `python -m training.train RECIPE`."""

from __future__ import annotations

import argparse
import json
import signal
import sys
import time
from pathlib import Path
from types import FrameType

import torch
from rich.console import Console

from training.batches import Batches
from training.checkpoint import CheckpointError, CheckpointFolder
from training.corpus import open_corpus
from training.pairs import CorpusError
from training.preparation import load_run_data, prepare
from training.recipes import RECIPES, Recipe, recipe_named
from training.trainer import Trainer, TrainingDiverged, UpdateReport
from dataclasses import replace


def main(arguments: list[str] | None = None) -> int:
    options = parse(arguments)
    console = Console()
    try:
        train(options, console)
    except (CorpusError, CheckpointError, TrainingDiverged, ValueError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


def parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m training.train")
    parser.add_argument("recipe", help=f"one of {', '.join(RECIPES)}")
    parser.add_argument("--corpora", type=Path, default=Path("corpora"))
    parser.add_argument("--output", type=Path)
    parser.add_argument("--resume", action="store_true")
    parser.add_argument("--set", action="append", default=[], metavar="FIELD=VALUE")
    parser.add_argument("--threads", type=int, default=0)
    return parser.parse_args(arguments)


def train(options: argparse.Namespace, console: Console) -> None:
    recipe = recipe_named(options.recipe).with_settings(dict(item.split("=", 1) for item in options.set))
    output = options.output or Path("runs") / recipe.name
    if options.threads:
        torch.set_num_threads(options.threads)
    torch.set_flush_denormal(True)
    data_folder = output / "data"
    corpus = open_corpus(options.corpora / recipe.corpus)
    if not data_folder.exists():
        prepare(recipe, corpus, data_folder, console)
    data = load_run_data(data_folder, (corpus.source_language, corpus.target_language))
    recipe = replace(recipe, model=replace(recipe.model, vocabulary_size=data.tokenizer.size))
    (output / "recipe.json").write_text(json.dumps(recipe.to_json(), indent=1))
    trainer = Trainer(recipe, Batches(data, recipe), device=torch.device("cpu"), precision=torch.float32)
    checkpoints = CheckpointFolder(output / "checkpoints")
    if options.resume and trainer.resume(checkpoints):
        console.print(f"resumed at update {trainer.progress.update}")
    stop = []
    signal.signal(signal.SIGTERM, lambda *_: stop.append(1))
    saved = time.monotonic()
    window: list[UpdateReport] = []

    def after_update(report: UpdateReport) -> bool:
        nonlocal saved
        window.append(report)
        if len(window) == 50:
            pieces, seconds = sum(r.target_pieces for r in window), sum(r.seconds for r in window)
            loss = sum(r.loss * r.target_pieces for r in window) / pieces
            console.print(f"update {trainer.progress.update} loss {loss:.3f} norm {report.gradient_norm:.2f} "
                          f"lr {report.learning_rate:.2e} {pieces/seconds:.0f} pieces/s {trainer.progress.place}")
            window.clear()
        if stop or time.monotonic() - saved > 300:
            trainer.save(checkpoints)
            saved = time.monotonic()
        return not stop

    trainer.run(after_update)
    trainer.save(checkpoints)


if __name__ == "__main__":
    sys.exit(main())
