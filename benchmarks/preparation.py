"""How fast a corpus becomes training data, and in how much memory, stage by stage on one core.

    CORPORA=../shared/data python -m benchmarks.preparation [--pairs 60000] [--json]

Takes every n-th pair of tatoeba/deu-eng.zip, so that short and long ones are there. Speed is in pairs per second of
processor time, which another program on the machine changes little. The memory of the merge is measured with random
hashes, in processes of their own: what three million pairs take more than one million.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory

from rich.console import Console
from rich.table import Table

from benchmarks.trainings import machine
from training.batches import CHUNK, Batches, Place
from training.corpora.corpus import Corpus, open_corpus, open_files
from training.corpora.language import language_pair
from training.corpora.shards import merge_shards, write_shard
from training.preparation import load_run_data, prepare
from training.recipes import recipe_named

CORPUS = "tatoeba/deu-eng.zip"
MILLIONS = (1, 3)
MERGE = """
import sys
from pathlib import Path
import numpy as np
from training.corpora.shards import first_of_each
from training.corpora.split import assign_hashes

hashes = np.random.default_rng(1).integers(1, 1 << 63, (int(sys.argv[1]), 4), np.uint64)
first = first_of_each(hashes[:, 0])
assign_hashes(hashes[first, 1:3], hashes[first, 3], validation=1000, test=1000, seed=1)
print(Path("/proc/self/status").read_text().partition("VmHWM:")[2].split()[0])  # peak, in kilobytes
"""


@dataclass
class Stages:
    """Seconds of processor time of each stage."""

    seconds: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def measured(self, name: str) -> Iterator[None]:
        started = time.process_time()
        yield
        self.seconds[name] = time.process_time() - started


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--pairs", type=int, default=60_000, help="of the corpus (default: 60000)")
    parser.add_argument("--json", action="store_true", help="one JSON object instead of a table")
    options = parser.parse_args()
    if "CORPORA" not in os.environ:
        parser.error(f"CORPORA must name the folder that holds {CORPUS}")
    with TemporaryDirectory() as place:
        corpus = sample(Path(os.environ["CORPORA"]) / CORPUS, options.pairs, Path(place) / "sample.tsv")
        report = measure(corpus, options.pairs, Path(place))
    report |= {"merge_bytes_a_pair": merge_bytes_a_pair(), "machine": machine()}
    print(json.dumps(report) if options.json else "", end="\n" if options.json else "")
    if not options.json:
        show(report, options.pairs)
    return 0


def sample(archive: Path, pairs: int, file: Path) -> Corpus:
    """Pairs from all over the corpus as a TSV."""
    everything = list(open_files([archive], "en", "de").read())
    with file.open("w", encoding="utf-8", newline="\n") as out:
        for pair in islice(everything, 0, None, max(1, len(everything) // pairs)):
            out.write(f"{pair.source}\t{pair.target}\n")
    return open_files([file], "en", "de")


def measure(corpus: Corpus, pairs: int, place: Path) -> dict[str, object]:
    """Pairs a second of every stage, and bytes a pair on disk."""
    stages = Stages()
    quiet = Console(quiet=True)
    language_pair(
        corpus.source_language, corpus.target_language
    )  # loads its model, half a second once a process
    with stages.measured("reading"):
        read = sum(1 for _ in corpus.read())
    with stages.measured("cleaning a shard"):
        shard = write_shard(corpus, place / "shard")
    with stages.measured("merging shards"):
        merge_shards([shard], place / "merged", held_out=500, seed=1, licence="", attribution="")
    recipe = replace(
        recipe_named("tatoeba-en-de"), held_out=500, updates=1, tokenizer_pairs=min(20_000, pairs // 2)
    )
    with stages.measured("preparing a run from a raw corpus, with its tokenizer"):
        prepare(recipe, corpus, place / "first", quiet)
    data = load_run_data(place / "first")
    with stages.measured("preparing a run from merged shards, with a given tokenizer"):
        prepare(
            recipe, open_corpus(place / "merged"), place / "second", quiet, tokenizer=data.tokenizer.model
        )
    batches = Batches(data, replace(recipe, directions=(("en", "de"),)))
    trained = min(CHUNK, len(data.train))
    with stages.measured("batches of one chunk"):
        next(batches.after(Place()))
    counts = dict.fromkeys(stages.seconds, read) | {"batches of one chunk": trained}
    return {
        "pairs_a_second": {name: counts[name] / seconds for name, seconds in stages.seconds.items()},
        "shard_bytes_a_pair": _bytes_in(place / "shard") / read,
        "run_bytes_a_pair": _bytes_in(place / "first") / read,
    }


def merge_bytes_a_pair() -> float:
    """What the merge holds in memory for a pair more."""
    peaks = [
        int(
            subprocess.run(
                [sys.executable, "-c", MERGE, str(millions * 1_000_000)],
                capture_output=True,
                text=True,
                check=True,
            ).stdout
        )
        for millions in MILLIONS
    ]
    return 1024 * (peaks[1] - peaks[0]) / (1_000_000 * (MILLIONS[1] - MILLIONS[0]))


def show(report: dict[str, object], pairs: int) -> None:
    """The report as people read it."""
    table = Table(title=f"{pairs:,} pairs, one core; {report['machine']}")
    table.add_column("stage")
    table.add_column("pairs a second", justify="right")
    speeds = report["pairs_a_second"]
    assert isinstance(speeds, dict)
    for name, speed in speeds.items():
        table.add_row(name, f"{speed:,.0f}")
    console = Console(width=110)
    console.print(table)
    console.print(
        f"bytes a pair: {report['shard_bytes_a_pair']:.0f} on disk in a cleaned shard, "
        f"{report['run_bytes_a_pair']:.0f} in a run's data; "
        f"{report['merge_bytes_a_pair']:.0f} in memory while shards are merged"
    )


def _bytes_in(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.iterdir())


if __name__ == "__main__":
    sys.exit(main())
