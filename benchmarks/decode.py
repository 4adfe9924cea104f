"""Decoding beside CTranslate2, on the same sentences and machine: `python benchmarks/decode.py`.

CTranslate2 (installed by `make install-exchange`) gets the model as `model.export` writes it, int8 and float32, with
one worker of two threads and two workers of one. Both engines decode by turns, so that what else the machine does
meets both; figures are medians. Both decode as they do by themselves: ours goes on until no other hypothesis can win,
theirs may stop sooner. Latency is of one sentence at a time, with one thread each. `--shape base` measures a model of
OPUS-MT's shape with random weights.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

if not __package__:  # a script looks in its own folder, whose http.py would hide Python's
    sys.path[0] = str(Path(__file__).parents[1])

import torch

from benchmarks.opponent import BEAMS, Opponent
from benchmarks.plots import decode_picture, write_picture
from benchmarks.trainings import machine
from model.acceleration import accelerate
from model.config import preset
from model.directory import load_translator, save_translator
from model.export import export
from model.search import DecodingOptions
from model.sentence import Sentence
from model.transformer import Transformer
from model.translator import Translator
from training.scoring.metrics import score

Run = Callable[[Sequence[int], int], list[str]]  # (places of sentences, beam size) → texts


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print, draw."""
    options = _parser().parse_args(arguments)
    with tempfile.TemporaryDirectory() as place:
        folder = _random_model(options, Path(place)) if options.shape else options.model
        exports = {kind: _exported(folder, Path(place), kind) for kind in ("int8", "float32")}
        report = measure(folder, exports, options)
    print(json.dumps(report, indent=2) if options.json else table(report))
    if options.plot:
        write_picture(options.plot, decode_picture(report))
    return 0


def measure(folder: Path, exports: dict[str, Path], options: argparse.Namespace) -> dict[str, Any]:
    """Tokens a second of the whole file, seconds of 64 sentences and of single ones, BLEU; ours and theirs."""
    sources, references = _texts(options)
    started = time.perf_counter()
    translator = load_translator(folder, device="cpu")
    accelerate(translator, engine=options.engine, dtype=options.dtype)
    loading = time.perf_counter() - started
    sentences = [translator.prepare(text, *options.direction) for text in sources]
    engines: dict[str, Run] = {f"this project, {translator.engine}": _ours(translator, sentences)}
    for kind, exported in exports.items():
        for workers, threads in ((1, 2), (2, 1)):
            name = f"CTranslate2 {kind}, {workers} × {threads}"
            engines[name] = _theirs(exported, kind, workers, threads, translator, sentences)
    report: dict[str, Any] = {"machine": machine(), "load_seconds": loading, "sentences": len(sentences)}
    for name, beam in BEAMS.items():
        report[name] = throughput(engines, translator, range(len(sentences)), beam, options.turns)
        for engine, run in engines.items():
            if references:
                texts = run(range(len(sentences)), beam)
                report[name][engine]["bleu"] = score(texts, references, options.direction[1]).bleu
        report[f"{name}, 64"] = throughput(engines, translator, range(64), beam, options.turns)
    alone = load_translator(folder, device="cpu")
    accelerate(alone, engine=options.engine, dtype=options.dtype, threads=1)
    single = {
        "this project": _ours(alone, sentences),
        "CTranslate2 int8": _theirs(exports["int8"], "int8", 1, 1, translator, sentences),
    }
    for name, beam in BEAMS.items():
        report[f"one sentence, {name}"] = latency(single, len(sentences), beam)
    report["peak_rss_mb"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return report


def throughput(
    engines: dict[str, Run], translator: Translator, places: Sequence[int], beam: int, turns: int
) -> dict[str, Any]:
    """Target pieces a second of each engine, by turns; and ours over the best of theirs."""
    seconds: dict[str, list[float]] = {name: [] for name in engines}
    pieces: dict[str, int] = {}
    for _ in range(turns):
        for name, run in engines.items():
            started = time.perf_counter()
            texts = run(places, beam)
            seconds[name].append(time.perf_counter() - started)
            pieces[name] = sum(len(translator.tokenizer.encode_target(text)) + 1 for text in texts)
    result: dict[str, Any] = {
        name: {
            "pieces_per_second": pieces[name] / statistics.median(of_engine),
            "seconds": [round(one, 3) for one in of_engine],
        }
        for name, of_engine in seconds.items()
    }
    ours, *theirs = (result[name]["pieces_per_second"] for name in engines)
    return {**result, "ratio": ours / max(theirs)}


def latency(engines: dict[str, Run], count: int, beam: int) -> dict[str, Any]:
    """Milliseconds of single sentences, by turns."""
    times: dict[str, list[float]] = {name: [] for name in engines}
    for place in range(0, count, max(1, count // 100)):
        for name, run in engines.items():
            started = time.perf_counter()
            run([place], beam)
            times[name].append(1000 * (time.perf_counter() - started))
    result: dict[str, Any] = {
        name: {"p50_ms": statistics.median(of_engine), "p95_ms": statistics.quantiles(of_engine, n=20)[-1]}
        for name, of_engine in times.items()
    }
    ours, theirs = (result[name]["p50_ms"] for name in engines)
    return {**result, "ratio": ours / theirs}


def table(report: dict[str, Any]) -> str:
    """The report as Markdown."""
    lines = ["| what | engine | pieces/s or p50 (p95) ms | BLEU |", "| --- | --- | --- | --- |"]
    for what, engines in report.items():
        if not isinstance(engines, dict):
            continue
        for name, one in engines.items():
            if name == "ratio":
                continue
            figure = (
                f"{one['pieces_per_second']:,.0f}"
                if "pieces_per_second" in one
                else f"{one['p50_ms']:.2f} ({one['p95_ms']:.2f})"
            )
            lines.append(f"| {what} | {name} | {figure} | {one.get('bleu', 0):.2f} |")
        lines.append(f"| {what} | **ours / best of theirs** | **{engines['ratio']:.2f}** | |")
    return "\n".join([*lines, "", f"loaded in {report['load_seconds']:.2f} s; {report['machine']}"])


def _ours(translator: Translator, sentences: Sequence[Sentence]) -> Run:
    def run(places: Sequence[int], beam: int) -> list[str]:
        options = DecodingOptions(strategy="greedy" if beam == 1 else "beam", beam_size=beam)
        found = translator.translate([sentences[place] for place in places], options)
        return [hypotheses[0].text for hypotheses in found]

    return run


def _theirs(
    folder: Path, kind: str, workers: int, threads: int, translator: Translator, sentences: Sequence[Sentence]
) -> Run:
    engine = Opponent(folder, kind=kind, workers=workers, threads=threads, tokenizer=translator.tokenizer)
    spelled = [engine.spell(sentence.ids) for sentence in sentences]
    return lambda places, beam: engine.translate([spelled[place] for place in places], beam)


def _texts(options: argparse.Namespace) -> tuple[list[str], list[str]]:
    """Sources, and references where a run's data or files are named."""
    source, target = options.direction
    if options.data is None:
        lines = [
            line.split("\t") for line in (Path("tests/pretrained/sentences.tsv")).read_text().splitlines()
        ]
        return [line[0] for line in lines if len(line) > 1] * 20, []
    read = [(options.data / f"test.{language}").read_text().split("\n")[:-1] for language in (source, target)]
    return read[0][: options.sentences], read[1][: options.sentences]


def _random_model(options: argparse.Namespace, place: Path) -> Path:
    """The shape with random weights, behind the tokenizer of the model that is named."""
    torch.manual_seed(0)
    given = load_translator(options.model, device="cpu", dtype="float32")
    model = Transformer(preset(options.shape, vocabulary_size=given.tokenizer.size)).eval()
    translator = Translator(
        model, given.tokenizer, name=options.shape, directions=given.directions, longest=given.longest
    )
    save_translator(translator, place / options.shape, card="Random weights.", dtype=torch.float32)
    return place / options.shape


def _exported(folder: Path, place: Path, kind: str) -> Path:
    output = place / f"ctranslate2-{kind}"
    parity = export(folder, output, to="ctranslate2", quantization=kind)
    print(f"CTranslate2 {kind}: {parity}", file=sys.stderr)  # JSON is alone on stdout
    return output


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python benchmarks/decode.py", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--model", type=Path, default=Path("pretrained/en-de"), metavar="MODEL_DIR")
    parser.add_argument("--shape", help="another shape with random weights, such as base")
    parser.add_argument("--direction", nargs=2, default=("en", "de"), metavar="CODE")
    parser.add_argument("--data", type=Path, help="a run's data folder; without it the test's own sentences")
    parser.add_argument("--sentences", type=int, default=1000)
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--engine", default="auto")
    parser.add_argument("--dtype", default="auto")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--plot", type=Path, metavar="FILE", help="draw a picture, .png or .svg")
    return parser


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    sys.exit(main())
