"""Pictures of what was measured: `python -m benchmarks.plots report.json docs/images/http.png`.

`report.json` is what benchmarks/http.py or benchmarks/decode.py prints with --json; with --plot they draw it.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from benchmarks.charts import Bar, Panel, chart

Report = dict[str, Any]


def http_picture(report: Report) -> str:
    """Requests a second and the 95th percentile, a panel for each kind of request."""
    rows = []
    for figure, title, unit in (
        ("requests_per_second", "Throughput", "requests/s"),
        ("p95_ms", "95th percentile", "ms"),
    ):
        rows.append(
            [_http_panel(report, kind, figure, f"{title}: {_called(*kind)}", unit) for kind in _kinds(report)]
        )
    return chart(
        "Translating over HTTP",
        f"Medians of {report['turns']} turns, lines from the least to the most. {report['machine']}",
        [f"Dragoman, {report['engines']['ours']}", f"FastAPI around {report['engines']['theirs']}"],
        rows,
        width=316,
        height=250,
    )


def decode_picture(report: Report) -> str:
    """Target pieces a second of each engine, a panel for each way of decoding."""
    kinds = [name for name, found in report.items() if _has_throughput(found)]
    engines = list(dict.fromkeys(name for kind in kinds for name in report[kind] if name != "ratio"))

    def bars(kind: str, engine: str) -> Bar:
        found = report[kind][engine]
        work = found["pieces_per_second"] * sorted(found["seconds"])[len(found["seconds"]) // 2]
        return Bar(found["pieces_per_second"], work / max(found["seconds"]), work / min(found["seconds"]))

    names = {
        kind: f"{kind.removesuffix(', 64')}, {64 if kind.endswith(', 64') else report['sentences']:,} sentences"
        for kind in kinds
    }
    panels = [
        Panel(names[kind], "pieces/s", [""], [[bars(kind, engine)] for engine in engines]) for kind in kinds
    ]
    return chart(
        "Decoding",
        f"Medians, lines from the least to the most. {report['machine']}",
        [name.replace("this project", "Dragoman") for name in engines],
        [panels],
        width=280,
        height=270,
    )


def write_picture(path: Path, svg: str) -> None:
    """As a PNG, which `make install-exchange` can draw, or as it is."""
    if path.suffix == ".svg":
        path.write_text(svg, encoding="utf-8")
        return
    from model.exchange.to_png import to_png

    path.write_bytes(to_png(svg))


def _kinds(report: Report) -> list[tuple[str, int]]:
    return list(dict.fromkeys((load["decoding"], load["sentences"]) for load in report["loads"]))


def _called(decoding: str, sentences: int) -> str:
    return f"{decoding}, {sentences} sentence{'s' * (sentences > 1)}"


def _http_panel(report: Report, kind: tuple[str, int], figure: str, title: str, unit: str) -> Panel:
    loads = [load for load in report["loads"] if (load["decoding"], load["sentences"]) == kind]
    bars = [
        [Bar(load[who][figure], *(load[who]["spread"][figure] or ())) for load in loads]
        for who in ("ours", "theirs")
    ]
    return Panel(title, unit, [str(load["clients"]) for load in loads], bars, "clients")


def _has_throughput(found: object) -> bool:
    return isinstance(found, dict) and any(
        isinstance(one, dict) and "pieces_per_second" in one for one in found.values()
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.plots",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("report", type=Path, help="a report as JSON")
    parser.add_argument("picture", type=Path, help=".png or .svg")
    arguments = parser.parse_args()
    report = json.loads(arguments.report.read_text(encoding="utf-8"))
    write_picture(arguments.picture, http_picture(report) if "loads" in report else decode_picture(report))


if __name__ == "__main__":
    main()
