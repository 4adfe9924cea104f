"""What each part is worth on Multi30k at an equal number of updates: `python -m benchmarks.ablation`.

One run is the base; every other differs from it in one thing. All see the same batches in the same order, in both
directions. BLEU is cased, beam 5, on test_2016_flickr: differences below half a point are within what another seed
gives (`--seeds` shows it).
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmarks.multi30k import DIRECTIONS
from benchmarks.trainings import Training, TrainingFailed, evaluate, machine, progress_of, train_all
from training.run_folder import read_recipe

BASE = {"consistency": "0", "sampling": "0", "model.dropout": "0.2"}
BUDGET = {
    "updates": "1200",
    "warmup": "200",
    "cooldown": "500",
    "validate_every": "400",
    "average_decay": "0.99",
}
VARIANTS: dict[str, Mapping[str, str]] = {
    "base": {},
    "positions: learned": {"model.positions": "learned"},
    "positions: rotary": {"model.positions": "rope"},
    "norm: RMS": {"model.norm": "rms"},
    "placement: post-norm": {"model.placement": "post"},
    "feed-forward: GELU": {"model.feed_forward": "gelu"},
    "feed-forward: SwiGLU, as many parameters": {
        "model.feed_forward": "swiglu",
        "model.feed_forward_width": "341",
    },
    "attention: grouped, 2 key heads": {"model.key_value_heads": "2"},
    "attention: multi-query, 1 key head": {"model.key_value_heads": "1"},
    "tables: source and target apart": {"model.tying": "output"},
    "encoder 6, decoder 2": {"model.encoder_layers": "6", "model.decoder_layers": "2"},
    "optimiser: Adam": {"optimiser": "adam"},
    "optimiser: Adam, half the rate": {"optimiser": "adam", "learning_rate": "0.0025"},
    "dropout 0.1": {"model.dropout": "0.1"},
    "dropout 0.3": {"model.dropout": "0.3"},
    "no label smoothing": {"smoothing": "0"},
    "sampled segmentation of half the sources": {"sampling": "0.5"},
    "R-Drop, half the updates: as long": {"consistency": "5", "updates": "600", "cooldown": "250"},
    "R-Drop": {"consistency": "5"},
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Train what is not trained yet, score, print the table."""
    options = _parser().parse_args(arguments)
    names = [name for name in VARIANTS if not options.only or name in options.only]
    trainings = {
        (name, seed): Training(
            "multi30k",
            options.runs / f"ablation-{seed}-{_folder(name)}",
            {**BASE, **BUDGET, "seed": str(seed), **VARIANTS[name]},
        )
        for seed in options.seeds
        for name in names
    }
    try:
        train_all(list(trainings.values()), options.corpora, jobs=options.jobs)
    except TrainingFailed as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    print("| what differs | " + " | ".join("→".join(one) for one in DIRECTIONS) + " | parameters | seconds |")
    print("| --- | --- | --- | --- | --- |")
    for name in names:
        runs = [trainings[name, seed] for seed in options.seeds]
        print(f"| {name} | {row(runs, options.corpora / 'multi30k-en-de')} |", flush=True)
    print(f"\n{machine()}")
    return 0


def row(runs: Sequence[Training], corpus: Path) -> str:
    """BLEU in both directions, means over the seeds, and what the model and its training cost."""
    cells = []
    for source, target in DIRECTIONS:
        given, wanted = (corpus / f"test_2016_flickr.{language}.gz" for language in (source, target))
        scores = [evaluate(run, (source, target), given, wanted)["bleu"] for run in runs]
        cells.append(" / ".join(f"{score:.1f}" for score in scores))
    parameters = read_recipe(runs[0].folder).model.parameter_count
    return " | ".join([*cells, f"{parameters:,}", f"{progress_of(runs[0]).seconds:,.0f}"])


def _folder(name: str) -> str:
    return "".join(letter if letter.isalnum() else "-" for letter in name.lower())


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.ablation",
        description=__doc__,
        formatter_class=argparse.RawTextHelpFormatter,
    )
    parser.add_argument("--corpora", type=Path, default=Path("corpora"), help="where training.fetch put them")
    parser.add_argument("--runs", type=Path, default=Path("runs"), help="the runs' folders go there")
    parser.add_argument("--seeds", type=int, nargs="+", default=[1])
    parser.add_argument(
        "--only", nargs="+", metavar="NAME", choices=list(VARIANTS), help="some of the variants"
    )
    parser.add_argument(
        "--jobs", type=int, default=os.cpu_count() or 1, help="trainings at a time, a core each"
    )
    return parser


if __name__ == "__main__":
    sys.exit(main())
