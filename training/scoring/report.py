"""An evaluation as people read it: a table and a few lines to see with one's own eyes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table

from training.scoring.evaluation_set import EvaluationSet

SAMPLES = 4


def show(report: dict[str, Any], texts: EvaluationSet, hypotheses: Sequence[str], console: Console) -> None:
    """Prints the report of `training.evaluate` and some lines from all over the set."""
    title = f"{report['model'] or report['hypothesis']}, {report['source_language']} → {report['target_language']}"
    table = Table(title=title, title_justify="left", box=box.SIMPLE, show_header=False)
    table.add_column()
    table.add_column(overflow="fold")  # a signature is worth nothing in part
    for name, value in _rows(report):
        table.add_row(name, value)
    console.print(table, markup=False, highlight=False)
    size = len(hypotheses)
    for place in sorted({k * (size - 1) // max(1, SAMPLES - 1) for k in range(SAMPLES)}):
        lines = {
            "source": texts.sources[place],
            "output": hypotheses[place],
            "reference": texts.references[place],
        }
        console.print(f"line {place + 1}", style="bold")
        for name, line in lines.items():
            console.print(f"  {name:9}  {line}", markup=False, highlight=False, soft_wrap=True)


def _rows(report: dict[str, Any]) -> Iterator[tuple[str, str]]:
    metric = report["metric"]
    yield "BLEU", f"{report['bleu']:.2f}"
    yield "", report["signature"]
    yield "", f"{metric['level']} level, n-grams up to {metric['ngram_order']}"
    yield "chrF", f"{report['chrf']:.2f}"
    yield "", report["chrf_signature"]
    if metric["preparation"] != "none":
        yield "output prepared", metric["preparation"]
    if report["note"]:
        yield "note", report["note"]
    if compared := report.get("compared"):
        yield f"against {compared['report']}", f"BLEU {compared['bleu']:+.2f}, chrF {compared['chrf']:+.2f}"
        for difference in compared["differences"]:
            yield "  differs in", difference
    yield "sentences", f"{report['sentences']:,}"
    yield "length ratio", f"{report['length_ratio']:.3f}"
    yield "exact matches", f"{report['exact_match']:.1%}"
    yield "empty, copied", f"{report['empty']:,}, {report['copies']:,}"
    if report["seconds"] is not None:
        yield "cut, split for length", f"{report['truncated']:,}, {report['split']:,}"
        yield "decoding", ", ".join(f"{name} {value}" for name, value in report["decoding"].items())
        yield (
            "speed",
            f"{report['seconds']:.1f} s, {report['target_pieces_per_second']:,.0f} target pieces/s "
            f"({report['device']}, {report['dtype']})",
        )
    yield "source", f"{report['source']}  sha256 {report['source_sha256'][:16]}…"
    yield "reference", f"{report['reference']}  sha256 {report['reference_sha256'][:16]}…"
