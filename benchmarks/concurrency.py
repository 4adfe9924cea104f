"""How much faster the service is for many clients than for one: `python -m benchmarks.concurrency`.

Each client sends a one-sentence request, waits for its answer, and sends the next. What is compared is the
throughput of 32 such clients with that of one: the gain from translating the requests of all clients together.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import os
import random
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

import httpx2

ROOT = Path(__file__).parents[1]
START_SECONDS = 60

_WHO = (
    "My sister",
    "The old teacher",
    "Our neighbour",
    "A young doctor",
    "The woman at the counter",
    "Tom",
    "Nobody",
)
_DOES = (
    "wants to buy", "has already seen", "is looking for", "would like to sell", "does not need", "forgot", "paid for"
)  # fmt: skip
_WHAT = (
    "a new bicycle", "the red umbrella", "two tickets to Berlin", "the keys to the house", "a cup of coffee",
    "that expensive camera", "the book about the war", "three bottles of water", "a room with a view of the sea",
)  # fmt: skip
_WHEN = (
    "",
    " today",
    " every morning",
    " before the train leaves",
    " because the shop closes at six",
    " this year",
)


@dataclass(frozen=True)
class Measurement:
    """What a number of clients met in a span of time."""

    clients: int
    requests: int
    errors: int
    seconds: float
    requests_per_second: float
    p50_milliseconds: float
    p95_milliseconds: float


def sentences(seed: int) -> list[str]:
    """All the sentences that the parts above make, shuffled: 3 to 16 words long, none twice."""
    made = [
        f"{who} {does} {what}{when}."
        for who, does, what, when in itertools.product(_WHO, _DOES, _WHAT, _WHEN)
    ]
    random.Random(seed).shuffle(made)
    return made


async def measure(address: str, path: str, *, clients: int, seconds: float) -> Measurement:
    """Let `clients` clients ask one after the other until `seconds` are over."""
    texts = itertools.cycle(sentences(seed=clients))
    latencies: list[float] = []
    errors = 0
    limits = httpx2.Limits(max_connections=clients, max_keepalive_connections=clients)
    async with httpx2.AsyncClient(base_url=address, timeout=60, limits=limits) as client:
        started = time.perf_counter()

        async def ask_and_ask() -> None:
            nonlocal errors
            while time.perf_counter() - started < seconds:
                asked = time.perf_counter()
                body = {"text": next(texts), "source": "en", "target": "de"}
                try:
                    response = await client.post(path, json=body)
                    is_answered = response.status_code == 200
                except httpx2.TransportError:
                    is_answered = False
                if is_answered:
                    latencies.append(time.perf_counter() - asked)
                else:
                    errors += 1

        await asyncio.gather(*(ask_and_ask() for _ in range(clients)))
        elapsed = time.perf_counter() - started
    latencies.sort()
    return Measurement(
        clients=clients,
        requests=len(latencies),
        errors=errors,
        seconds=round(elapsed, 2),
        requests_per_second=round(len(latencies) / elapsed, 2),
        p50_milliseconds=_percentile(latencies, 0.50),
        p95_milliseconds=_percentile(latencies, 0.95),
    )


@contextmanager
def running_service(model: Path | None) -> Iterator[str]:
    """The address of a service started for the occasion, ready."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    command = [sys.executable, "-m", "service", "--port", str(port), "--log-level", "warning"]
    process = subprocess.Popen(
        [*command, *(["--model", str(model)] if model else [])], cwd=ROOT, env=os.environ
    )
    address = f"http://127.0.0.1:{port}"
    try:
        _wait_until_ready(address, process)
        yield address
    finally:
        process.terminate()
        process.wait(30)


def _wait_until_ready(address: str, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        if process.poll() is not None:
            sys.exit(f"the service ended with status {process.returncode}")
        try:
            if httpx2.get(f"{address}/health/ready").status_code == 200:
                return
        except httpx2.TransportError:
            pass
        time.sleep(0.1)
    sys.exit(f"the service was not ready after {START_SECONDS} s")


def _percentile(ordered: list[float], share: float) -> float:
    return (
        round(1000 * ordered[min(int(share * len(ordered)), len(ordered) - 1)], 1)
        if ordered
        else float("nan")
    )


def _run(address: str, arguments: argparse.Namespace) -> None:
    path = f"/v1/translate/{arguments.strategy}"
    asyncio.run(measure(address, path, clients=4, seconds=min(2.0, arguments.seconds)))  # warm up
    few, many = (
        asyncio.run(measure(address, path, clients=clients, seconds=arguments.seconds))
        for clients in (1, arguments.clients)
    )
    ratio = round(many.requests_per_second / few.requests_per_second, 2) if few.requests else None
    if arguments.json:
        print(json.dumps({"path": path, "measurements": [asdict(few), asdict(many)], "ratio": ratio}))
        return
    print(f"{path}, one sentence a request")
    print(f"{'clients':>8}{'requests/s':>12}{'p50 ms':>10}{'p95 ms':>10}{'errors':>8}")
    for row in (few, many):
        print(
            f"{row.clients:>8}{row.requests_per_second:>12}{row.p50_milliseconds:>10}"
            f"{row.p95_milliseconds:>10}{row.errors:>8}"
        )
    print(f"ratio {ratio}")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.concurrency", description=__doc__)
    parser.add_argument("--url", help="address of a running service; without it one is started")
    parser.add_argument("--model", type=Path, help="model directory for the service that is started")
    parser.add_argument("--strategy", choices=("beam", "greedy"), default="beam")
    parser.add_argument("--clients", type=int, default=32)
    parser.add_argument("--seconds", type=float, default=10.0, help="for each number of clients")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    arguments = parser.parse_args()
    if arguments.url:
        _run(arguments.url.rstrip("/"), arguments)
        return
    with running_service(arguments.model) as address:
        _run(address, arguments)


if __name__ == "__main__":
    main()
