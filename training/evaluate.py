"""Measure a model on a test set: `python -m training.evaluate MODEL_DIR … --source FILE --reference FILE`."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import track

from model.arguments import add_decoding, add_direction, add_machine, decoding_options, open_translator
from model.search import DecodingOptions
from model.texts import TranslatedText, translate_corpus_lines
from training.corpora.pairs import CorpusError
from training.scoring.comparison import compare, read_report, refuse_unlike
from training.scoring.evaluation_set import EvaluationSet, read_evaluation_set
from training.scoring.metrics import Metric, Scores, count_copies, metric_for, score
from training.scoring.moses import preparation, tokenized_lowercase
from training.scoring.report import show

BLOCK = 512  # lines between two steps of the progress bar
FILE_WIDTH = 120  # columns of the table in a file; a terminal has its own

DETAILS = """\
Scores are cased corpus BLEU and chrF of sacreBLEU. Each line is one sentence; one that is longer than the model
takes is split, translated in parts and joined, never cut. The last line of the output is one JSON object.

examples:
  %(prog)s pretrained/en-de --source-language en --target-language de --source test.en --reference test.de
  %(prog)s runs/tiny/model --source-language de --target-language en --source a.de --reference a.en --greedy \\
      --json > greedy.json
  %(prog)s runs/tiny/model --source-language de --target-language en --source a.de --reference a.en --beam 5 \\
      --compare greedy.json
  %(prog)s --hypothesis out.de --source-language en --target-language de --source test.en --reference test.de
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """The exit status; errors go to stderr and leave no score on stdout."""
    parser = _parser()
    options = parser.parse_args(arguments)
    if options.model is None and options.hypothesis is None:
        parser.error("MODEL_DIR is missing (or --hypothesis FILE, to score a given output)")
    if options.output and options.hypothesis:
        parser.error("--output is for translations; with --hypothesis nothing is translated")
    try:
        report, texts, hypotheses = evaluate(options)
    except (ValueError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    if not options.json:
        show(report, texts, hypotheses, Console(width=None if sys.stdout.isatty() else FILE_WIDTH))
    print(json.dumps(report, ensure_ascii=False))
    return 0


def evaluate(options: argparse.Namespace) -> tuple[dict[str, Any], EvaluationSet, list[str]]:
    """The report, the set and the system's output. All input is checked before anything is translated."""
    decoding = decoding_options(options)
    texts = read_evaluation_set(options.source, options.reference, options.hypothesis)
    metric = _metric(options)
    if options.tokenized_lowercase:
        _refuse_capitals(options.reference, texts.references)
    report = _identity(options, texts, metric)
    earlier = read_report(options.compare) if options.compare else None
    if earlier:
        refuse_unlike(options.compare, earlier, report)
    output = _given(options, texts) or _translate(options, texts, decoding)
    if options.output:
        text = "".join(f"{line}\n" for line in output.hypotheses)
        options.output.write_text(text, encoding="utf-8", newline="\n")
    prepared = output.hypotheses
    if options.tokenized_lowercase:
        prepared = tokenized_lowercase(prepared, options.target_language)
    scores = score(prepared, texts.references, options.target_language, metric=metric)
    report = _results(scores, output, texts) | report | output.circumstances
    if earlier:
        report["compared"] = compare(options.compare, earlier, report)
    return report, texts, output.hypotheses


def measured(arguments: Sequence[str]) -> dict[str, Any]:
    """The report that the command prints with these arguments; raises where it would print an error."""
    report, _, _ = evaluate(_parser().parse_args(arguments))
    return report


@dataclass(frozen=True)
class Output:
    """What a system made of the sources. None: not known of an output that was given."""

    hypotheses: list[str]
    circumstances: dict[str, Any]
    truncated: int | None = None  # lines that a length limit cut
    split: int | None = None  # lines that were too long and went through the model in parts
    pieces: int | None = None  # of all hypotheses
    seconds: float | None = None  # of translating


def _given(options: argparse.Namespace, texts: EvaluationSet) -> Output | None:
    if texts.hypotheses is None:
        return None
    model = options.model.resolve().name if options.model else None
    circumstances = {"model": model, "hypothesis": str(options.hypothesis), "decoding": None}
    return Output(texts.hypotheses, circumstances)


def _translate(options: argparse.Namespace, texts: EvaluationSet, decoding: DecodingOptions) -> Output:
    translator = open_translator(options, options.model)
    direction = (options.source_language, options.target_language)
    console = Console(stderr=True)
    starts = track(
        range(0, len(texts.sources), BLOCK),
        "translating",
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )
    lines: list[TranslatedText] = []
    started = time.perf_counter()
    for start in starts:
        lines += translate_corpus_lines(
            translator, texts.sources[start : start + BLOCK], *direction, decoding
        )
    return Output(
        [line.text for line in lines],
        {
            "model": translator.name,
            "decoding": _facts(decoding),
            "device": str(translator.device),
            "dtype": str(translator.dtype).removeprefix("torch."),
        },
        truncated=sum(line.truncated for line in lines),
        split=sum(line.sentences > 1 for line in lines),
        pieces=sum(line.pieces for line in lines),
        seconds=time.perf_counter() - started,
    )


def _facts(decoding: DecodingOptions) -> dict[str, Any]:
    """Of the options, those that have a say in the strategy."""
    facts: dict[str, Any] = {"strategy": decoding.strategy}
    if decoding.strategy == "beam":
        facts |= {"beam_size": decoding.beam_size, "length_penalty": decoding.length_penalty}
    return facts | {"max_length": decoding.max_length}


def _metric(options: argparse.Namespace) -> Metric:
    if options.tokenized_lowercase:
        return Metric(tokenize="none", preparation=preparation(), ngram_order=options.ngram_order)
    return replace(
        metric_for(options.target_language),
        case="lower" if options.lowercase else "mixed",
        ngram_order=options.ngram_order,
    )


def _refuse_capitals(path: Path, references: Sequence[str]) -> None:
    for number, line in enumerate(references, start=1):
        if line != line.lower():
            raise CorpusError(
                f"{path}, line {number}: has capitals; --tokenized-lowercase wants references that are "
                "lower-cased, normalised and tokenised, such as *.lc.norm.tok.*"
            )


def _identity(options: argparse.Namespace, texts: EvaluationSet, metric: Metric) -> dict[str, Any]:
    """What is measured, known before anything is."""
    return {
        "metric": metric.to_json(),
        "source_language": options.source_language,
        "target_language": options.target_language,
        "source": str(options.source),
        "source_sha256": texts.source_sha256,
        "reference": str(options.reference),
        "reference_sha256": texts.reference_sha256,
    }


def _results(scores: Scores, output: Output, texts: EvaluationSet) -> dict[str, Any]:
    speed = output.pieces / output.seconds if output.seconds and output.pieces is not None else None
    return {
        "bleu": scores.bleu,
        "chrf": scores.chrf,
        "signature": scores.signature,
        "chrf_signature": scores.chrf_signature,
        "note": scores.note,
        "sentences": scores.sentences,
        "length_ratio": scores.length_ratio,
        "exact_match": scores.exact / scores.sentences,
        "empty": scores.empty,
        "copies": count_copies(texts.sources, output.hypotheses),
        "truncated": output.truncated,
        "split": output.split,
        "seconds": output.seconds,
        "target_pieces": output.pieces,
        "target_pieces_per_second": speed,
    }


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m training.evaluate",
        description="Translate a test set as the service would, and score the result.",
        epilog=DETAILS,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("model", type=Path, nargs="?", metavar="MODEL_DIR", help="a model directory")
    add_direction(parser)
    files = parser.add_argument_group("files, a sentence a line, plain or gzipped")
    files.add_argument("--source", type=Path, required=True, metavar="FILE")
    files.add_argument("--reference", type=Path, required=True, metavar="FILE")
    files.add_argument("--hypothesis", type=Path, metavar="FILE", help="score this output; translate nothing")
    files.add_argument("--output", type=Path, metavar="FILE", help="write the translations there")
    metric = parser.add_argument_group("metric")
    case = metric.add_mutually_exclusive_group()
    case.add_argument(
        "--tokenized-lowercase",
        action="store_true",
        help="BLEU as published for Multi30k: on lower-cased Moses tokens, against such a reference",
    )
    case.add_argument("--lowercase", action="store_true", help="ignore case")
    metric.add_argument(
        "--ngram-order", type=int, default=4, metavar="N", help="of BLEU (default: %(default)s)"
    )
    metric.add_argument(
        "--compare",
        type=Path,
        metavar="REPORT.json",
        help="an earlier report; refused if it measured otherwise",
    )
    add_decoding(parser)
    add_machine(parser)
    parser.add_argument("--json", action="store_true", help="print the JSON object and nothing else")
    return parser


if __name__ == "__main__":
    sys.exit(main())
