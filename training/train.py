"""Trains a model.

    python -m training.train tiny                                    two minutes, no download
    python -m training.train tatoeba-en-de --minutes 60              an hour of it,
    python -m training.train tatoeba-en-de --resume                  and the rest
    python -m training.train tatoeba-en-de --set model.width=128 --set updates=2000 --output runs/small

    torchrun --nproc-per-node 2 -m training.train tatoeba-en-de --set accumulate=2 --threads 1

The last line uses two processes, each with its share of every update's batches. The output folder can be
served as it is: `python -m service --model runs/tiny`.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import torch
from rich.console import Console
from rich.table import Table

from model.device import choose_device
from training.checkpoint import CheckpointError
from training.corpora.corpus import Corpus, open_corpus
from training.corpora.pairs import CorpusError
from training.primer.write import PRIMER, write_primer
from training.recipes import RECIPES, recipe_named
from training.run import Run, RunError, begin, read_recipe, write_recipe
from training.scoring.metrics import Scores
from training.trainer import TrainingDiverged
from training.world import join_world, leave_world


def main(arguments: Sequence[str] | None = None) -> int:
    """The exit status: 0 done or stopped on request, 1 a named error."""
    options = _parser().parse_args(arguments)
    console = Console()
    if options.threads:
        torch.set_num_threads(options.threads)
    torch.set_flush_denormal(True)  # Adam's moments get tiny, and tiny numbers are slow
    try:
        _train(options, console)
    except (CorpusError, CheckpointError, RunError, TrainingDiverged, ValueError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


def _train(options: argparse.Namespace, console: Console) -> None:
    folder = options.output or Path("runs") / options.recipe
    device = choose_device(options.device)
    world = join_world(device)
    if world.is_first:
        _open(options, folder, console, device)
    else:
        console.quiet = True
    world.wait()
    run = Run(folder, console, device=device, world=world)
    if run.train(minutes=options.minutes) and world.is_first:
        console.print(_table(run.finish(_command(options))))
        console.print(f"model: {run.folder / 'model'}")
    leave_world(world)


def _open(options: argparse.Namespace, folder: Path, console: Console, device: torch.device) -> None:
    """Make the run's folder, or, to go on in it, put the settings over its recipe."""
    settings = dict(options.set)
    if options.resume and (folder / "recipe.json").exists():
        write_recipe(folder, read_recipe(folder).with_settings(settings))
    else:
        recipe = recipe_named(options.recipe).with_settings(settings)
        begin(folder, recipe, _corpus(options.corpora / recipe.corpus, console), console, device=device)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m training.train",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("recipe", choices=RECIPES, help="what to train, see training/recipes.py")
    parser.add_argument("--corpora", type=Path, default=Path("corpora"), help="where training.fetch put them")
    parser.add_argument("--output", type=Path, help="the run's folder (default: runs/RECIPE)")
    parser.add_argument("--resume", action="store_true", help="go on where the run in the folder stopped")
    parser.add_argument("--minutes", type=float, help="stop after so long; --resume goes on")
    parser.add_argument("--device", default="auto", help="auto, cpu, cuda (default: auto)")
    parser.add_argument("--threads", type=int, default=0, help="of the CPU (default: as torch finds best)")
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="FIELD=VALUE",
        type=_setting,
        help="a field of the recipe, such as updates=2000 or model.width=128; may be repeated",
    )
    return parser


def _setting(text: str) -> tuple[str, str]:
    field, equals, value = text.partition("=")
    if not equals:
        raise argparse.ArgumentTypeError(f"{text!r} is not FIELD=VALUE")
    return field, value


def _corpus(folder: Path, console: Console) -> Corpus:
    if folder.name == PRIMER and not folder.exists():
        console.print(f"writing the {PRIMER} corpus to {folder}")
        write_primer(folder)
    return open_corpus(folder)


def _command(options: argparse.Namespace) -> str:
    settings = "".join(f" --set {field}={value}" for field, value in options.set)
    return f"python -m training.train {options.recipe}{settings}"


def _table(scores: dict[str, Scores]) -> Table:
    table = Table(title="Test part, beam 5")
    for column in ("direction", "BLEU", "chrF", "sentences"):
        table.add_column(column)
    for direction, score in scores.items():
        table.add_row(direction, f"{score.bleu:.1f}", f"{score.chrf:.1f}", f"{score.sentences:,}")
    return table


if __name__ == "__main__":
    sys.exit(main())
