"""The service alone under load: `python -m benchmarks.concurrency`. Beside another engine: benchmarks/http.py.

| part | what is measured |
| --- | --- |
| clients | one-sentence requests of one client and of many: throughput, latency, processor time of the service |
| document | one-sentence requests of one client, alone and while a long document is being translated |
| memory | that the service has in use after some requests, and after five times as many |

The service runs without its memory of answers, and no sentence is sent twice; `--cache-sentences` lets it remember.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from benchmarks.http_report import Report, summary
from benchmarks.sentences import Sentences
from benchmarks.servers import Server, body, engine, running, service

MODEL = Path("pretrained/en-de")
DIRECTION = ("en", "de")
DECODING = {"greedy": {"strategy": "greedy"}, "beam": {"strategy": "beam"}}
WARM_UP, SHORT = 50, 100  # requests: before anything is measured; beside a document, and alone
DOCUMENTS = 60  # one after the other, more than are translated meanwhile
REMEMBERED = 1000  # requests, after which memory is to be what it was; then four times as many


class Bench:
    """A running service, and sentences that it has not seen."""

    def __init__(self, server: Server, options: argparse.Namespace) -> None:
        self._server = server
        self._options = options
        self._sentences = Sentences(file=options.data)

    def warm_up(self) -> None:
        self._ask(4, self._bodies(WARM_UP))

    def clients(self) -> Report:
        """One, and many: `throughput` and `latency` are ratios, p95 of many to p50 of one."""
        counts = (1, self._options.clients)
        one, many = (self._ask(count, self._bodies(self._options.requests)) for count in counts)
        return {
            "one": one,
            "many": many | {"clients": self._options.clients},
            "throughput": _ratio(many["requests_per_second"], one["requests_per_second"]),
            "latency": _ratio(many["p95_ms"], one["p50_ms"]),
        }

    def document(self) -> Report:
        """`latency` is p95 beside the document to p50 alone."""
        documents = [
            self._body(text) for text in self._sentences.texts(DOCUMENTS, self._options.document_sentences)
        ]
        idle = self._ask(1, self._bodies(SHORT))
        busy = self._ask(1, self._bodies(SHORT), documents)
        return {"idle": idle, "busy": busy, "latency": _ratio(busy["p95_ms"], idle["p50_ms"])}

    def memory(self) -> Report:
        """MB in use, and at the most so far."""
        count = self._options.remembered
        report: Report = {}
        for more in (count, 4 * count):
            outcome = self._ask(self._options.clients, self._bodies(more))
            now, most = self._server.memory()
            report[f"after_{more + (count if report else 0)}"] = {
                "mb": round(now),
                "peak_mb": round(most),
                "errors": outcome["errors"],
            }
        return report

    def _ask(self, clients: int, bodies: Sequence[str], documents: Sequence[str] = ()) -> Report:
        return summary([self._server.load(clients, bodies, documents)])

    def _bodies(self, count: int) -> list[str]:
        return [self._body(text) for text in self._sentences.take(count)]

    def _body(self, text: str) -> str:
        return body(text, DECODING[self._options.strategy], DIRECTION)


PARTS: dict[str, Callable[[Bench], Report]] = {
    "clients": Bench.clients,
    "document": Bench.document,
    "memory": Bench.memory,
}


def main() -> None:
    options = _parser().parse_args()
    command = service(options.model, "--max-text-characters", "1000000", "--max-body-bytes", str(8 << 20))
    command += ["--cache-sentences", str(options.cache_sentences)]
    with running("the service", command, direction=DIRECTION) as server:
        report: Report = {"engine": engine(server), "strategy": options.strategy}
        bench = Bench(server, options)
        bench.warm_up()
        for part in dict.fromkeys(options.parts):
            print(f"… {part}", file=sys.stderr)
            report[part] = PARTS[part](bench)
    print(json.dumps(report, indent=2) if options.json else table(report))


def table(report: Report) -> str:
    """For people."""
    lines = [f"{report['strategy']}, {report['engine']}, one sentence a request"]
    lines.append(f"{'':22}{'requests/s':>12}{'p50 ms':>9}{'p95 ms':>9}{'CPU ms':>9}  errors")
    if part := report.get("clients"):
        lines += [_row("one client", part["one"]), _row(f"{part['many']['clients']} clients", part["many"])]
        lines.append(f"throughput × {part['throughput']}, p95 of many / p50 of one {part['latency']}")
    if part := report.get("document"):
        lines += [_row("alone", part["idle"]), _row("beside a document", part["busy"])]
        lines.append(f"p95 beside a document / p50 alone {part['latency']}")
    for name, one in report.get("memory", {}).items():
        count = name.removeprefix("after_")
        lines.append(
            f"after {count} requests {one['mb']} MB, at the most {one['peak_mb']} MB  {one['errors']}"
        )
    return "\n".join(lines)


def _row(name: str, one: Report) -> str:
    figures = (one[key] for key in ("requests_per_second", "p50_ms", "p95_ms", "server_cpu_ms"))
    rate, p50, p95, cpu = (float("nan") if figure is None else figure for figure in figures)
    return f"{name:22}{rate:>12.1f}{p50:>9.1f}{p95:>9.1f}{cpu:>9.2f}  {one['errors'] or ''}"


def _ratio(above: float | None, below: float | None) -> float | None:
    return round(above / below, 2) if above and below else None


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.concurrency",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--parts", nargs="+", choices=list(PARTS), default=["clients"], metavar="PART")
    parser.add_argument("--model", type=Path, default=MODEL, metavar="MODEL_DIR")
    parser.add_argument("--data", type=Path, metavar="FILE", help="sentences, a line each; else the primer's")
    parser.add_argument("--strategy", choices=list(DECODING), default="beam")
    parser.add_argument("--clients", type=int, default=32)
    parser.add_argument("--requests", type=int, default=1000, help="for each number of clients")
    parser.add_argument("--document-sentences", type=int, default=500)
    parser.add_argument(
        "--remembered", type=int, default=REMEMBERED, help="requests, and then four times as many"
    )
    parser.add_argument("--cache-sentences", type=int, default=0, help="of the service")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    return parser


if __name__ == "__main__":
    main()
