"""A corpus of one's own into a run: counted, sized, prepared, and its time estimated."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from operator import attrgetter
from pathlib import Path

import torch
from rich.console import Console
from rich.table import Table

from training.corpora.corpus import Corpus
from training.corpora.split import count_overlap
from training.estimate import in_words, seconds_to_train
from training.preparation import load_run_data
from training.recipes import Recipe
from training.run_folder import begin, read_recipe, refuse_begun
from training.sizing import Choice, advice, sized_recipe
from training.survey import survey


def begin_custom(
    folder: Path,
    corpus: Corpus,
    settings: Mapping[str, str],
    console: Console,
    *,
    directions: Sequence[tuple[str, str]],
    device: torch.device,
) -> None:
    """Make a run's folder for the corpus and print the data report, the recipe with its reasons, and the time.

    `settings` are `--set` texts; they replace what the amount of data would choose. CorpusError for a corpus that
    is broken or too small.
    """
    refuse_begun(folder)
    found = survey(corpus)
    found.show(console)
    recipe, choices = sized_recipe(found, settings, name=folder.name, directions=directions)
    console.print(choices_table(recipe, choices, settings))
    if warning := advice(found.pairs):
        console.print(warning)
    begin(folder, recipe, corpus, console, device=device)
    report_prepared(folder, console, device=device)


def choices_table(recipe: Recipe, choices: Sequence[Choice], settings: Mapping[str, str]) -> Table:
    """The recipe's sizes, each with its reason."""
    table = Table(title=f"Recipe of {recipe.name}; --set FIELD=VALUE changes any of it")
    table.add_column("field")
    table.add_column("value", justify="right")
    table.add_column("why")
    for one in choices:
        why = f"--set; else {one.value:g}" if one.field in settings else one.why
        table.add_row(one.field, f"{attrgetter(one.field)(recipe):g}", why)
    for path in settings.keys() - {one.field for one in choices}:
        table.add_row(path, str(attrgetter(path)(recipe)), "--set")
    return table


def report_prepared(folder: Path, console: Console, *, device: torch.device) -> None:
    """What preparation learnt, and how long the training will take by a short measurement."""
    recipe, data = read_recipe(folder), load_run_data(folder / "data")
    overlap = count_overlap(data.validation, chain(data.train, data.test)) + count_overlap(
        data.test, data.train
    )
    seconds = seconds_to_train(recipe, data, device=device)
    console.print(
        f"held-out pairs that share a text with another part: overlap {overlap}\n"
        f"vocabulary: {data.tokenizer.size:,} pieces; model: {recipe.model.parameter_count:,} parameters\n"
        f"{recipe.updates:,} updates will take about {in_words(seconds)} in one process on {device}, and measuring "
        "the model a little more; --minutes stops earlier, --resume goes on"
    )
