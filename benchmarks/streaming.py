"""How soon there is something to read of a long text: `python -m benchmarks.streaming`.

A text of many sentences is sent to /v1/translate, once streamed and once not. What is measured is the time from the
request to the first sentence, to the end of the stream, and to the whole answer.
"""

from __future__ import annotations

import argparse
import statistics
import time
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

import httpx2

from benchmarks.sentences import Sentences
from benchmarks.servers import engine, running, service

DIRECTION = ("en", "de")


class Seconds(NamedTuple):
    """From the request to …"""

    first: float
    end: float
    whole: float


def measure(address: str, text: str) -> Seconds:
    """One text, streamed and whole; raises for any answer but 200."""
    body = {"text": text, "source": DIRECTION[0], "target": DIRECTION[1]}
    with httpx2.Client(base_url=address, timeout=120) as client:
        started, first = time.perf_counter(), 0.0
        events = {"Accept": "text/event-stream"}
        with client.stream("POST", "/v1/translate", json=body, headers=events) as response:
            response.raise_for_status()
            for line in response.iter_lines():
                if line == "event: part" and not first:
                    first = time.perf_counter() - started
        end = time.perf_counter() - started
        started = time.perf_counter()
        client.post("/v1/translate", json=body).raise_for_status()
        return Seconds(first, end, time.perf_counter() - started)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--address", help="of a running service (default: one is started)")
    parser.add_argument("--model", type=Path, default=Path("pretrained/en-de"), metavar="MODEL_DIR")
    parser.add_argument("--sentences", type=int, default=40, help="in the text (default: %(default)s)")
    parser.add_argument("--repeats", type=int, default=5, help="different texts (default: %(default)s)")
    arguments = parser.parse_args()
    with ExitStack() as stack:
        address = arguments.address
        if not address:
            command = service(arguments.model)
            server = stack.enter_context(running("the service", command, direction=DIRECTION))
            engine(server)
            address = server.address
        texts = Sentences().texts(arguments.repeats, arguments.sentences)
        found = [measure(address, text) for text in texts]
    print(f"{arguments.sentences} sentences, median of {arguments.repeats} texts")
    for name, seconds in zip(Seconds._fields, zip(*found, strict=True), strict=True):
        print(f"{name:6} {statistics.median(seconds):6.2f} s")


if __name__ == "__main__":
    main()
