"""Trains a model.

    python -m training.train tiny                                    two minutes, no download
    python -m training.train tatoeba-en-de --minutes 60              an hour of it,
    python -m training.train tatoeba-en-de --resume                  and the rest
    python -m training.train tatoeba-en-de --set model.width=128 --set updates=2000 --output runs/small

    python -m training.train custom --corpus mine.en mine.de --source-language en --target-language de \\
        --output runs/mine                                           a corpus of your own; sizes are chosen for it
    python -m training.train finetune pretrained/en-de --corpus mine.tmx --source-language en --target-language de \\
        --output runs/tuned --old-data runs/tatoeba-en-de            a model goes on with your own translations

    torchrun --nproc-per-node 2 -m training.train tatoeba-en-de --set accumulate=2 --threads 1

The last line uses two processes, each with its share of every update's batches. The output folder can be
served as it is: `python -m service --model runs/tiny`.
"""

from __future__ import annotations

import argparse
import os
import shlex
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import torch
from rich.console import Console

from model.device import choose_device
from training.checkpoint import CheckpointError
from training.corpora.corpus import Mixture, open_files, open_mixture
from training.corpora.pairs import CorpusError
from training.custom import begin_custom
from training.finetune import begin_finetune, open_old
from training.primer.write import PRIMER, write_primer
from training.recipes import RECIPES, recipe_named
from training.run import Run
from training.run_folder import RunError, begin, change_settings, read_recipe
from training.trainer import TrainingDiverged
from training.world import is_loss_of_another, join_world, leave_world

CUSTOM, FINETUNE = "custom", "finetune"


def main(arguments: Sequence[str] | None = None) -> int:
    """The exit status: 0 done or stopped on request, 1 a named error."""
    arguments = sys.argv[1:] if arguments is None else arguments
    options = _options(arguments)
    console = Console()
    if options.threads:
        torch.set_num_threads(options.threads)
    torch.set_flush_denormal(True)  # Adam's moments get tiny, and tiny numbers are slow
    try:
        if options.recipe not in RECIPES and options.dry_run:
            with TemporaryDirectory() as place:
                _begin(options, Path(place) / options.output.name, console, choose_device(options.device))
        else:
            _train(options, _command(arguments), console)
    except (CorpusError, CheckpointError, RunError, TrainingDiverged, ValueError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except RuntimeError as error:
        if not is_loss_of_another(error):
            raise
        print(
            f"error: another process of this run is gone, so this one ends too; --resume goes on from the newest "
            f"checkpoint ({error})",
            file=sys.stderr,
        )
        return 1
    return 0


def _train(options: argparse.Namespace, command: str, console: Console) -> None:
    folder = options.output or Path("runs") / options.recipe
    device = choose_device(options.device)
    world = join_world(device)
    if world.is_first:
        _open(options, folder, console, device)
        with (folder / "commands.txt").open("a", encoding="utf-8") as file:
            file.write(f"{command}\n")
    else:
        console.quiet = True
    world.wait()
    if options.prepare:
        leave_world(world)
        return
    run = Run(folder, console, device=device, world=world)
    if run.train(minutes=options.minutes) and world.is_first:
        commands = (folder / "commands.txt").read_text(encoding="utf-8").splitlines()
        console.print(run.finish("\n".join(dict.fromkeys(commands))).table())
        console.print(f"model: {run.folder / 'model'}")
    leave_world(world)


def _open(options: argparse.Namespace, folder: Path, console: Console, device: torch.device) -> None:
    """Make the run's folder, or, to go on in it, put the settings over its recipe."""
    settings = dict(options.set)
    if options.resume and (folder / "recipe.json").exists():
        name = read_recipe(folder).name
        if options.recipe in RECIPES and options.recipe != name:
            raise RunError(
                f"{folder} holds a run of {name!r}, not of {options.recipe!r}; name another --output"
            )
        change_settings(folder, settings)
    elif options.resume and options.recipe not in RECIPES and not options.corpus:
        raise RunError(f"{folder} holds no run that could go on")
    else:
        _begin(options, folder, console, device)


def _begin(options: argparse.Namespace, folder: Path, console: Console, device: torch.device) -> None:
    settings = dict(options.set)
    if options.recipe in RECIPES:
        recipe = recipe_named(options.recipe).with_settings(settings)
        corpora = _corpora(options.corpora, recipe.corpus, console)
        begin(folder, recipe, corpora, console, device=device)
        return
    languages = (options.source_language, options.target_language)
    corpus = replace(
        open_files(options.corpus, *languages),
        licence=options.licence,
        attribution=options.attribution,
        faulty="drop" if options.drop_faulty else "refuse",
    )
    directions = (languages,) if options.one_way else (languages, languages[::-1])
    if options.recipe == CUSTOM:
        begin_custom(folder, corpus, settings, console, directions=directions, device=device)
    else:
        old = open_old(options.old_data, options.old_test, options.old_share, languages)
        begin_finetune(
            folder, options.model, corpus, settings, console, old=old, directions=directions, device=device
        )


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m training.train",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    recipes = parser.add_subparsers(dest="recipe", required=True, metavar="RECIPE")
    for name, make in RECIPES.items():
        recipe = recipes.add_parser(name, help=(make.__doc__ or "").partition("\n")[0])
        _add_run(recipe)
        recipe.add_argument("--output", type=Path, help=f"the run's folder (default: runs/{name})")
        recipe.add_argument(
            "--corpora", type=Path, default=Path("corpora"), help="where training.fetch put them"
        )
    custom = recipes.add_parser(CUSTOM, help="A corpus of your own; sizes are derived from its amount.")
    _add_corpus(custom)
    _add_run(custom)
    finetune = recipes.add_parser(
        FINETUNE, help="A trained model goes on to learn from your own translations."
    )
    finetune.add_argument(
        "model", type=Path, nargs="?", metavar="MODEL_DIR", help="a model directory, or a run"
    )
    _add_corpus(finetune)
    _add_old(finetune)
    _add_run(finetune)
    options = parser.parse_args(arguments)
    if options.recipe not in RECIPES and not options.resume:
        needed = ["corpus", "source_language", "target_language"] + ["model"] * (options.recipe == FINETUNE)
        for name in needed:
            if not getattr(options, name):
                spelled = "MODEL_DIR" if name == "model" else f"--{name.replace('_', '-')}"
                recipes.choices[options.recipe].error(f"{spelled} is missing; only --resume does without")
    return options


def _add_run(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--prepare", action="store_true", help="make data and tokenizer, and stop; --resume trains"
    )
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


def _add_corpus(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("corpus")
    group.add_argument(
        "--corpus",
        type=Path,
        nargs="+",
        metavar="FILE",
        help="two aligned text files (source first), or one TSV or CSV (source first), TMX or zip; each may be gzipped",
    )
    group.add_argument("--source-language", metavar="CODE", help="such as en; of the first file or column")
    group.add_argument("--target-language", metavar="CODE", help="such as de")
    group.add_argument(
        "--drop-faulty",
        action="store_true",
        help="leave out, and count, the pairs with a line that is no text or no row (default: stop at the first)",
    )
    group.add_argument(
        "--one-way", action="store_true", help="source to target only (default: both directions)"
    )
    group.add_argument("--licence", default="the owner's", help="of the corpus, for the model card")
    group.add_argument("--attribution", default="", help="whom the model card thanks for the corpus")
    group.add_argument("--output", type=Path, required=True, metavar="DIR", help="the run's folder")
    group.add_argument("--dry-run", action="store_true", help="print report, recipe and time; leave nothing")


def _add_old(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("what the model learnt before")
    group.add_argument(
        "--old-data",
        type=Path,
        metavar="FOLDER",
        help="the run that made the model, or a corpus folder: some of its pairs are trained on again, against "
        "forgetting, and its test part, if it has one, is the old test",
    )
    group.add_argument(
        "--old-share",
        type=float,
        default=0.5,
        metavar="X",
        help="of the training pairs that are old ones, where --old-data is given (default: %(default)s)",
    )
    group.add_argument(
        "--old-test",
        type=Path,
        nargs=2,
        metavar=("SOURCE", "REFERENCE"),
        help="the old test as two files, in the order of the languages; measured before and after",
    )


def _setting(text: str) -> tuple[str, str]:
    field, equals, value = text.partition("=")
    if not equals:
        raise argparse.ArgumentTypeError(f"{text!r} is not FIELD=VALUE")
    return field, value


def _corpora(folder: Path, names: str, console: Console) -> Mixture:
    if PRIMER in names.split() and not (folder / PRIMER).exists():
        console.print(f"writing the {PRIMER} corpus to {folder / PRIMER}")
        write_primer(folder / PRIMER)
    return open_mixture(folder, names)


def _command(arguments: Sequence[str]) -> str:
    """The line that was typed, for the model card."""
    processes = os.environ.get("WORLD_SIZE", "1")
    launcher = "python" if processes == "1" else f"torchrun --nproc-per-node {processes}"
    return f"{launcher} -m training.train {shlex.join(arguments)}"


if __name__ == "__main__":
    sys.exit(main())
