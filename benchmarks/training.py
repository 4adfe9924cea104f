"""How fast training is beside JoeyNMT's, and how much of the machine it uses: `python benchmarks/training.py`.

JoeyNMT runs in an environment of its own, made by the script that --joeynmt names. Both train the same shape on
Multi30k, English to German, one thread each, with batches of 4,096 padded pieces of vocabulary 8,000, and by turns,
so that what else the machine does meets both. What is compared is target pieces a second, medians over the turns.

Utilisation is what the model needs, 6 × parameters used × pieces a second (each source piece passes through the
encoder, each target piece through decoder and output projection), over the best rate at which this core multiplies
matrices in the type of the run, measured in the same run.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from itertools import islice
from pathlib import Path

if not __package__:  # a script looks in its own folder, whose http.py would hide Python's
    sys.path[0] = str(Path(__file__).parents[1])

import torch
from rich.console import Console

from benchmarks.trainings import machine
from model.config import ModelConfig
from model.device import choose_dtype
from training.batches import Batches
from training.corpora.corpus import open_corpus
from training.preparation import load_run_data, prepare
from training.recipes import NO_AUGMENT, Recipe
from training.trainer import Trainer

SHAPES = {128: (256, 4, 4), 256: (1024, 4, 4)}  # width: feed-forward width, heads, layers of either side
CPU = torch.device("cpu")


@dataclass(frozen=True)
class Result:
    """One width; pieces a second are target pieces, the median of the turns with all of them beside."""

    width: int
    precision: str
    ours: float
    ours_turns: list[float]
    joeynmt: float
    joeynmt_turns: list[float]
    ratio: float
    utilisation: float
    matrix_rate: float  # GFLOP/s


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure every width, print a table or JSON."""
    options = _parser().parse_args(arguments)
    torch.set_num_threads(1)
    torch.set_flush_denormal(True)
    results = [measure(width, options) for width in options.widths]
    if options.json:
        print(json.dumps([asdict(result) for result in results], indent=2))
        return 0
    print("| width | this project | JoeyNMT | ratio | utilisation | matrices |")
    print("| --- | --- | --- | --- | --- | --- |")
    for one in results:
        print(
            f"| {one.width} | {one.ours:,.0f}/s ({one.precision}) | {one.joeynmt:,.0f}/s | {one.ratio:.1f} "
            f"| {one.utilisation:.0%} | {one.matrix_rate:.0f} GFLOP/s |"
        )
    print(f"\nturns, target pieces a second: {[(one.ours_turns, one.joeynmt_turns) for one in results]}")
    print(machine())
    return 0


def measure(width: int, options: argparse.Namespace) -> Result:
    """One width, by turns."""
    with tempfile.TemporaryDirectory() as place:
        bench = Bench(width, options, Path(place))
        ours, rates, joeynmt = [], [], []
        for turn in range(options.turns):
            print(f"width {width}, turn {turn + 1} of {options.turns} …", file=sys.stderr)
            joeynmt.append(peer_rate(options, width))
            rates.append(matrix_rate(width, bench.precision))
            ours.append(bench.turn())
        target_rate, source_rate = (statistics.median(kind) for kind in zip(*ours, strict=True))
        needed = 6 * (bench.encoder_parameters * source_rate + bench.decoder_parameters * target_rate)
        peer = statistics.median(joeynmt)
        return Result(
            width=width,
            precision=str(bench.precision).removeprefix("torch."),
            ours=target_rate,
            ours_turns=[round(rate) for rate, _ in ours],
            joeynmt=peer,
            joeynmt_turns=[round(rate) for rate in joeynmt],
            ratio=target_rate / peer,
            utilisation=needed / statistics.median(rates),
            matrix_rate=statistics.median(rates) / 1e9,
        )


class Bench:
    """Our trainer on Multi30k, going on from turn to turn."""

    def __init__(self, width: int, options: argparse.Namespace, place: Path) -> None:
        feed_forward, heads, layers = SHAPES[width]
        model = ModelConfig(
            vocabulary_size=8000,
            width=width,
            heads=heads,
            key_value_heads=heads,
            feed_forward_width=feed_forward,
            encoder_layers=layers,
            decoder_layers=layers,
            dropout=0.3,
        )
        recipe = Recipe(
            name="bench",
            corpus="multi30k-en-de",
            directions=(("en", "de"),),
            model=model,
            augment=NO_AUGMENT,
            batch_tokens=4096,
            precision=options.precision,
            optimiser=options.optimiser,
        )
        corpus = open_corpus(options.corpora / recipe.corpus)
        prepare(recipe, corpus, place / "data", Console(file=sys.stderr, quiet=True))
        data = load_run_data(place / "data")
        recipe = replace(recipe, model=replace(model, vocabulary_size=data.tokenizer.size))
        self.updates: int = options.updates
        self.precision = choose_dtype(recipe.precision, CPU, rows=2048, width=width)
        self.trainer = Trainer(recipe, Batches(data, recipe), device=CPU, precision=self.precision)
        named = list(self.trainer.model.named_parameters())
        matrices = [(name, parameter.numel()) for name, parameter in named if parameter.dim() == 2]
        self.encoder_parameters = sum(count for name, count in matrices if name.startswith("encoder"))
        # The output projection is the embedding's table: looked up on one side, multiplied with on the other.
        self.decoder_parameters = sum(count for name, count in matrices if not name.startswith("encoder"))

    def turn(self) -> tuple[float, float]:
        """Target and source pieces a second over some updates, the making of batches included."""
        place = self.trainer.progress.place
        sources = sum(
            int((batch.source_BS != 0).sum())
            for batch, _ in islice(self.trainer.batches.after(place), self.updates)
        )
        before, last = self.trainer.progress.target_pieces, self.trainer.progress.update + self.updates
        started = time.perf_counter()
        self.trainer.run(lambda _: self.trainer.progress.update < last)
        seconds = time.perf_counter() - started
        return (self.trainer.progress.target_pieces - before) / seconds, sources / seconds


def peer_rate(options: argparse.Namespace, width: int) -> float:
    """JoeyNMT's own figure, "Tokens per Sec", of target tokens; the median of its log lines after the first."""
    feed_forward, heads, layers = SHAPES[width]
    sizes = map(str, (options.peer_updates, width, feed_forward, heads, layers))
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "JOEY_WORK": str(options.peer_folder.resolve())}
    run = subprocess.run(
        ["bash", str(options.joeynmt), *sizes], env=environment, capture_output=True, text=True, check=False
    )
    rates = [float(rate) for rate in re.findall(r"Tokens per Sec:\s*([\d.]+)", run.stdout)]
    if len(rates) < 2:
        raise SystemExit(f"error: {options.joeynmt} printed no speed: {run.stdout[-500:]}{run.stderr[-500:]}")
    return statistics.median(rates[1:])


def matrix_rate(width: int, dtype: torch.dtype, seconds: float = 1.0) -> float:
    """Floating-point operations a second of this core, the best of several shapes of product."""
    best = 0.0
    for size in (width, 4 * width, 2048):
        left, right = torch.randn(2048, size).to(dtype), torch.randn(size, size).to(dtype)
        left @ right
        started, products = time.perf_counter(), 0
        while time.perf_counter() - started < seconds / 3:
            left @ right
            products += 1
        best = max(best, products * 2 * 2048 * size * size / (time.perf_counter() - started))
    return best


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python benchmarks/training.py",
        description=__doc__,
        formatter_class=argparse.RawTextHelpFormatter,
    )
    parser.add_argument("--corpora", type=Path, default=Path("corpora"), help="where training.fetch put them")
    parser.add_argument(
        "--joeynmt", type=Path, default=Path("../shared/bench/joeynmt-train.sh"), metavar="SCRIPT"
    )
    parser.add_argument(
        "--peer-folder", type=Path, default=Path("runs/joeynmt"), help="its environment goes there"
    )
    parser.add_argument("--peer-updates", type=int, default=30)
    parser.add_argument("--widths", type=int, nargs="+", choices=list(SHAPES), default=list(SHAPES))
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--updates", type=int, default=60, help="of ours in a turn")
    parser.add_argument("--optimiser", choices=("muon", "adam"), default="muon")
    parser.add_argument("--precision", choices=("auto", "float32", "bfloat16"), default="auto")
    parser.add_argument("--json", action="store_true")
    return parser


if __name__ == "__main__":
    sys.exit(main())
