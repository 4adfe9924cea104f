"""What benchmarks/http.py measured, as figures, as the ratios that matter, and as a table."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from benchmarks.load import Outcome

PERCENTILES = (50, 95, 99)
Report = dict[str, Any]


def summary(outcomes: Sequence[Outcome]) -> Report:
    """Medians over the turns and their spread (the least and the most); None where nothing was answered."""
    per_second = [len(outcome.latencies) / outcome.seconds for outcome in outcomes]
    answered = [outcome.latencies for outcome in outcomes if outcome.latencies]
    figures: Report = {"requests_per_second": statistics.median(per_second)}
    spread: Report = {"requests_per_second": [min(per_second), max(per_second)]}
    for percentile in PERCENTILES:
        found = [float(1000 * np.percentile(latencies, percentile)) for latencies in answered]
        figures[f"p{percentile}_ms"] = statistics.median(found) if found else None
        spread[f"p{percentile}_ms"] = [min(found), max(found)] if found else None
    return figures | {
        "spread": spread,
        "answered": sum(len(outcome.latencies) for outcome in outcomes),
        "errors": dict(sum((Counter(outcome.errors) for outcome in outcomes), Counter())),
        "server_cpu_ms": 1000
        * sum(one.server_cpu_seconds for one in outcomes)
        / max(1, sum(map(len, answered))),
        "generator_cpu": statistics.median(outcome.cpu_seconds / outcome.seconds for outcome in outcomes),
    }


def ratios(report: Report) -> list[Report]:
    """The ratios that can be told from what was measured: what, of whom, and how much."""
    return [
        {"what": what, "of": of, "ratio": round(ratio, 3)}
        for what, of, ratio in _ratios(report)
        if ratio is not None
    ]


def _ratios(report: Report) -> Iterator[tuple[str, str, float | None]]:
    loads = {(load["decoding"], load["sentences"], load["clients"]): load for load in report["loads"]}
    for decoding in dict.fromkeys(load["decoding"] for load in report["loads"]):
        one, many = loads.get((decoding, 1, 1)), loads.get((decoding, 1, 32))
        if many is None:
            continue
        throughput = [many[who]["requests_per_second"] for who in ("ours", "theirs")]
        yield f"requests a second, 32 clients, {decoding}", "ours / theirs", _over(*throughput)
        if one is None:
            continue
        for who in ("ours", "theirs"):
            ratio = _over(many[who]["p95_ms"], one[who]["p50_ms"])
            yield f"p95 of 32 clients / p50 of one, {decoding}", who, ratio
    for beside in report["beside_a_document"]:
        what = f"p95 beside a document of {beside['document']} sentences / idle p50, {beside['decoding']}"
        for who in ("ours", "theirs"):
            yield what, who, _over(beside[who]["busy"]["p95_ms"], beside[who]["idle"]["p50_ms"])


def table(report: Report) -> str:
    """The report as Markdown."""
    return "\n".join(
        [
            *_loads(report["loads"]),
            "",
            *_loads(report["with_numbers"]),
            "",
            *_rows(
                ("ratio", "of", ""), ([r["what"], r["of"], f"{r['ratio']:.2f}"] for r in report["ratios"])
            ),
            "",
            *_rows(("", "ours", "theirs"), _rest(report)),
            "",
            f"{report['engines']['ours']} beside {report['engines']['theirs']}; {report['sentences']}; "
            f"medians of {report['turns']} turns (least … most); the generator took up to "
            f"{max(load[who]['generator_cpu'] for load in report['loads'] for who in ('ours', 'theirs')):.0%} "
            f"of a core; {report['machine']}",
        ]
    )


def _loads(loads: Sequence[Report]) -> list[str]:
    head = ["decoding", "sentences", "clients", "server", "requests/s"]
    head += [*(f"p{percentile} ms" for percentile in PERCENTILES), "CPU ms a request", "errors"]

    def rows() -> Iterator[list[str]]:
        for load in loads:
            for who in ("ours", "theirs"):
                one = load[who]
                least, most = one["spread"]["requests_per_second"]
                yield [
                    *(str(load[name]) for name in ("decoding", "sentences", "clients")),
                    who,
                    f"{one['requests_per_second']:,.1f} ({least:,.1f} … {most:,.1f})",
                    *(_number(one[f"p{percentile}_ms"]) for percentile in PERCENTILES),
                    _number(one["server_cpu_ms"]),
                    ", ".join(f"{count} × {kind}" for kind, count in one["errors"].items()) or "0",
                ]

    return _rows(head, rows())


def _rest(report: Report) -> Iterator[list[str]]:
    """Whatever has one figure a server."""

    def row(what: str, figure: Callable[[str], float | None]) -> list[str]:
        return [what, *(_number(figure(who)) for who in ("ours", "theirs"))]

    for beside in report["beside_a_document"]:
        for name in ("idle", "busy"):
            what = f"a short request, {name}, {beside['decoding']}, p95 ms"
            yield row(what, lambda who, beside=beside, name=name: beside[who][name]["p95_ms"])  # type: ignore[misc]
    memory, start = report["memory"], report["start"]
    yield row(f"MB after {memory['requests'][0]:,} requests", lambda who: memory[who]["first_mb"])
    yield row(f"MB after {memory['requests'][1]:,} requests", lambda who: memory[who]["last_mb"])
    yield row(f"peak MB after {memory['requests'][1]:,} requests", lambda who: memory[who]["peak_mb"])
    yield row("start to first answer, s", lambda who: start[who]["seconds"])
    yield ["the same, with no cache, s", _number(start["ours"]["no_cache_seconds"]), ""]
    yield ["start to the compiled engine, with no cache, s", _number(start["ours"]["compiled_seconds"]), ""]


def _rows(head: Sequence[str], rows: Iterator[list[str]]) -> list[str]:
    lines = [list(head), ["---"] * len(head), *rows]
    return [f"| {' | '.join(line)} |" for line in lines]


def _number(value: float | None) -> str:
    if value is None:
        return "–"
    return f"{value:,.0f}" if value >= 1000 else f"{value:.3g}"


def _over(part: float | None, whole: float | None) -> float | None:
    return part / whole if part is not None and whole else None
