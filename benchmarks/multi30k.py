"""The Multi30k benchmark: `python -m benchmarks.multi30k --corpora corpora`.

Trains the recipe `multi30k` once for each seed, on the 29,000 captions of the training part alone, and scores the
three test sets in both directions, in two ways: cased detokenised BLEU as sacreBLEU has it, and BLEU on lower-cased
Moses tokens against the `.lc.norm.tok.` references, as published results have it. A stopped benchmark goes on where
it was when it is started again.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.trainings import Training, TrainingFailed, evaluate, machine, progress_of, train_all

TESTS = {"test_2016_flickr": "2016", "test_2017_flickr": "2017", "test_2017_mscoco": "COCO"}
DIRECTIONS = (("en", "de"), ("de", "en"))
METRICS = {"cased": (), "lower-cased tokenised": ("--tokenized-lowercase",)}


def main(arguments: Sequence[str] | None = None) -> int:
    """Train what is not trained yet, score, print the table."""
    options = _parser().parse_args(arguments)
    settings = dict(setting.split("=", 1) for setting in options.set)
    trainings = [
        Training("multi30k", options.runs / f"multi30k-seed{seed}", {"seed": str(seed), **settings})
        for seed in options.seeds
    ]
    try:
        train_all(trainings, options.corpora, jobs=options.jobs)
    except TrainingFailed as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    corpus = options.corpora / "multi30k-en-de"
    results = [row for training in trainings for row in score(training, corpus)]
    print(json.dumps(results, indent=2) if options.json else table(results, trainings))
    return 0


def score(training: Training, corpus: Path) -> list[dict[str, Any]]:
    """Every test set in every direction and metric: one row each, with the signature."""
    rows = []
    for test in TESTS:
        for source, target in DIRECTIONS:
            for name, flags in METRICS.items():
                kind = "lc.norm.tok." if flags else ""
                files = (corpus / f"{test}.{source}.gz", corpus / f"{test}.{kind}{target}.gz")
                report = evaluate(training, (source, target), *files, *flags)
                row = {"run": training.folder.name, "direction": f"{source}→{target}", "test": test}
                rows.append({**row, "metric": name, "bleu": report["bleu"], "signature": report["signature"]})
    return rows


def table(results: Sequence[dict[str, Any]], trainings: Sequence[Training]) -> str:
    """Mean and deviation over the seeds, as Markdown, with what made them."""
    lines = ["| direction | metric | " + " | ".join(TESTS.values()) + " |", "| --- " * (2 + len(TESTS)) + "|"]
    for direction in dict.fromkeys(row["direction"] for row in results):
        for metric in METRICS:
            cells = []
            for test in TESTS:
                wanted = (direction, metric, test)
                values = [r["bleu"] for r in results if (r["direction"], r["metric"], r["test"]) == wanted]
                spread = f" ± {statistics.stdev(values):.2f}" if len(values) > 1 else ""
                cells.append(f"{statistics.mean(values):.2f}{spread}")
            lines.append(f"| {direction} | {metric} | " + " | ".join(cells) + " |")
    signatures = dict.fromkeys(f"{row['metric']}: `{row['signature']}`" for row in results)
    return "\n".join([*lines, "", *signatures, "", *map(cost, trainings), machine()])


def cost(training: Training) -> str:
    """What a run took."""
    progress = progress_of(training)
    return (
        f"{training.folder.name}: {progress.update:,} updates, {progress.target_pieces:,} target pieces, "
        f"{progress.seconds:,.0f} s of one core"
    )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.multi30k",
        description=__doc__,
        formatter_class=argparse.RawTextHelpFormatter,
    )
    parser.add_argument("--corpora", type=Path, default=Path("corpora"), help="where training.fetch put them")
    parser.add_argument("--runs", type=Path, default=Path("runs"), help="the runs' folders go there")
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument(
        "--jobs", type=int, default=os.cpu_count() or 1, help="trainings at a time, a core each"
    )
    parser.add_argument("--set", action="append", default=[], metavar="FIELD=VALUE", help="of the recipe")
    parser.add_argument("--json", action="store_true")
    return parser


if __name__ == "__main__":
    sys.exit(main())
