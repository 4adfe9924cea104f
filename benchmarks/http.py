"""The service beside a server around CTranslate2, under load: `python benchmarks/http.py --model pretrained/en-de`.

Both servers are processes on this machine, and so is what asks them (benchmarks/load.py). CTranslate2 (installed by
`make install-exchange`) gets the model as `model.export` writes it, behind benchmarks/ct2_server.py, which cuts texts
as the service does and translates the sentences of all requests together. Both get the same requests by turns, so that
what else the machine does meets both; figures are medians over the turns. First, their answers are compared with what
the engines say by themselves. No sentence is sent to a server twice, so that no memory of answers helps.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

if not __package__:  # a script looks in its own folder, whose http.py would hide Python's
    sys.path[0] = str(Path(__file__).parents[1])

from benchmarks.answers import Wrong, check, decoding
from benchmarks.http_report import Report, ratios, summary, table
from benchmarks.load import Outcome
from benchmarks.opponent import BEAMS
from benchmarks.plots import http_picture, write_picture
from benchmarks.sentences import Sentences
from benchmarks.servers import (
    Server,
    ServerFailed,
    body,
    engine,
    opponent,
    running,
    service,
    without_cache,
)
from benchmarks.trainings import machine
from model.export import ExportError, export

CLIENTS = (1, 8, 32, 128)
REQUESTS = {1: 800, 40: 100}  # by the sentences of each; more where there are more clients:
ROUNDS = {1: 16, 40: 2}  # requests of each client, at the least
REMEMBERED = 5000  # requests, after which memory is to be what it was
DOCUMENT = 500  # sentences of a long one
SHORT, DOCUMENTS = 60, 40  # short requests beside documents, and how many of those there are at the most


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print, draw."""
    options = _parser().parse_args(arguments)
    with tempfile.TemporaryDirectory() as place:
        exported = Path(place) / "ctranslate2"
        try:
            export(options.model, exported, to="ctranslate2", quantization=options.quantization)
        except (ExportError, ValueError) as error:
            print(f"error: {options.model} could not be exported: {error}", file=sys.stderr)
            return 1
        try:
            report = measure(exported, options)
        except (ServerFailed, Wrong) as error:
            print(f"error: {error}", file=sys.stderr)
            return 1
    print(json.dumps(report, indent=2) if options.json else table(report))
    if options.plot:
        write_picture(options.plot, http_picture(report))
    return 0


def measure(exported: Path, options: argparse.Namespace) -> Report:
    """All of it; raises Wrong, ServerFailed."""
    sentences = Sentences(file=options.data)
    # A document may be longer than what a stranger may send.
    commands = {
        "ours": service(options.model, "--max-text-characters", "1000000", "--max-body-bytes", str(8 << 20)),
        "theirs": opponent(exported, kind=options.quantization, workers=options.workers, threads=1),
    }
    with ExitStack() as stack:
        servers = {
            name: stack.enter_context(running(name, command, direction=options.direction))
            for name, command in commands.items()
        }
        report: Report = {
            "machine": machine(),
            "sentences": f"sentences of {options.data.name}" if options.data else "sentences of the primer",
            "turns": options.turns,
            "engines": {
                "ours": engine(servers["ours"]),
                "theirs": f"CTranslate2 {options.quantization}, {options.workers} × 1",
            },
        }
        _say("comparing answers")
        check(servers, exported, sentences.take(30), options)
        report["memory"] = memory(servers, sentences, options)
        report["loads"] = [
            load(servers, how, size, clients, sentences, options)
            for how in BEAMS
            for size in REQUESTS
            for clients in options.clients
        ]
        report["with_numbers"] = [with_numbers(servers, how, sentences, options) for how in BEAMS]
        report["beside_a_document"] = beside_a_document(servers, sentences, options)
    report["start"] = start(commands, options)
    report["ratios"] = ratios(report)
    return report


def memory(servers: dict[str, Server], sentences: Sentences, options: argparse.Namespace) -> Report:
    """MB of each server after a fifth of the requests, after all of them, and at the most."""
    first = _scaled(REMEMBERED // 5, 32, options)
    counts = [first, 5 * first]
    bodies = [body(text, decoding(4), options.direction) for text in sentences.take(counts[1])]
    report: Report = {"requests": counts}
    for who, server in servers.items():
        _say(f"{who}: memory over {counts[1]} requests")
        before, after = server.load(32, bodies[:first]), server.memory()[0]
        rest = server.load(32, bodies[first:])
        last, peak = server.memory()
        errors = summary([before, rest])["errors"]
        report[who] = {"first_mb": after, "last_mb": last, "peak_mb": peak, "errors": errors}
    return report


def load(
    servers: dict[str, Server],
    how: str,
    size: int,
    clients: int,
    sentences: Sentences,
    options: argparse.Namespace,
) -> Report:
    """Throughput and latency of requests of `size` sentences, from so many clients at a time."""
    count = _scaled(max(REQUESTS[size], ROUNDS[size] * clients), clients, options)
    turns = [sentences.texts(count, size) for _ in range(options.turns)]
    kind = {"decoding": how, "sentences": size, "clients": clients, "requests": count}
    return kind | _by_turns(servers, how, clients, turns, options)


def with_numbers(
    servers: dict[str, Server], how: str, sentences: Sentences, options: argparse.Namespace
) -> Report:
    """The same of single sentences with numbers, from one client."""
    count = _scaled(REQUESTS[1] // 8, 1, options)
    turns = [sentences.take_with_numbers(count) for _ in range(options.turns)]
    kind = {"decoding": how, "sentences": "1, with a number", "clients": 1, "requests": count}
    return kind | _by_turns(servers, how, 1, turns, options)


def _by_turns(
    servers: dict[str, Server],
    how: str,
    clients: int,
    turns: Sequence[Sequence[str]],
    options: argparse.Namespace,
) -> Report:
    """What each server did with the texts of each turn: ours, theirs, ours, theirs …"""
    outcomes: dict[str, list[Outcome]] = {who: [] for who in servers}
    for place, texts in enumerate(turns):
        _say(f"{how}, {clients} clients, {len(texts)} requests such as {texts[0][:40]!r}, turn {place + 1}")
        bodies = [body(text, decoding(BEAMS[how]), options.direction) for text in texts]
        for who, server in servers.items():
            outcomes[who].append(server.load(clients, bodies))
    return {who: summary(of_server) for who, of_server in outcomes.items()}


def beside_a_document(
    servers: dict[str, Server], sentences: Sentences, options: argparse.Namespace
) -> list[Report]:
    """Requests of one sentence, one after the other: alone, and while a long document is being translated."""
    report = []
    length, count = _scaled(DOCUMENT, 2, options), _scaled(SHORT, 4, options)
    for how, beam in BEAMS.items():
        _say(f"{how}, short requests beside a document of {length} sentences")
        outcomes: dict[str, dict[str, list[Outcome]]] = {who: {"idle": [], "busy": []} for who in servers}
        for _ in range(options.turns):
            short, documents = (
                [body(text, decoding(beam), options.direction) for text in texts]
                for texts in (sentences.take(2 * count), sentences.texts(DOCUMENTS, length))
            )
            for who, server in servers.items():
                outcomes[who]["idle"].append(server.load(1, short[:count]))
                outcomes[who]["busy"].append(server.load(1, short[count:], documents))
        report.append(
            {"decoding": how, "document": length}
            | {who: {name: summary(one) for name, one in pair.items()} for who, pair in outcomes.items()}
        )
    return report


def start(commands: dict[str, list[str]], options: argparse.Namespace) -> Report:
    """Seconds from the start of the process to the first translation, by turns; ours with an empty cache, too."""
    warm: dict[str, list[float]] = {who: [] for who in commands}
    cold: list[float] = []
    compiled: list[float] = []
    for _ in range(options.turns):
        for who, command in commands.items():
            _say(f"{who}: start")
            with running(who, command, direction=options.direction) as server:
                warm[who].append(server.first_answer_seconds)
        _say("ours: start without a cache")
        with (
            without_cache() as environment,
            running("ours", commands["ours"], direction=options.direction, environment=environment) as server,
        ):
            cold.append(server.first_answer_seconds)
            engine(server)
            compiled.append(server.age)
    report: Report = {who: {"seconds": statistics.median(times)} for who, times in warm.items()}
    report["ours"] |= {
        "no_cache_seconds": statistics.median(cold),
        "compiled_seconds": statistics.median(compiled),
    }
    return report


def _scaled(count: int, least: int, options: argparse.Namespace) -> int:
    return max(least, round(count * options.scale))


def _say(what: str) -> None:
    print(f"… {what}", file=sys.stderr)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python benchmarks/http.py",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--model", type=Path, default=Path("pretrained/en-de"), metavar="MODEL_DIR")
    parser.add_argument("--direction", nargs=2, default=("en", "de"), metavar="CODE")
    parser.add_argument("--data", type=Path, metavar="FILE", help="sentences, a line each; else the primer's")
    parser.add_argument("--clients", type=int, nargs="+", default=CLIENTS)
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--scale", type=float, default=1.0, help="of all counts; 0.05 is a short try")
    parser.add_argument(
        "--quantization", choices=("int8", "float32"), default="int8", help="CTranslate2's weights"
    )
    parser.add_argument(
        "--workers", type=int, default=os.cpu_count(), help="of CTranslate2, of a thread each"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--plot", type=Path, metavar="FILE", help="draw a picture, .png or .svg")
    return parser


if __name__ == "__main__":
    sys.exit(main())
