"""Requests over kept connections, and how long each took: `python -m benchmarks.load <plan.json >outcome.json`.

A process of its own, so that making the load takes the least from a server on the same cores and the same from any
server: HTTP/1.1 written out by hand over asyncio, all requests spelled before the clock starts, all answers read after
it stops. A client sends its next request when it has its last answer, so a slow server is asked less often.
"""

from __future__ import annotations

import asyncio
import gc
import json
import re
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field

HEAD = (
    "POST {path} HTTP/1.1\r\n"
    "Host: {host}:{port}\r\n"
    "Content-Type: application/json\r\n"
    "Content-Length: {length}\r\n"
    "\r\n"
)
_LENGTH = re.compile(rb"\r\ncontent-length:[ \t]*(\d+)[ \t]*\r\n", re.IGNORECASE)
_CLOSE = re.compile(rb"\r\nconnection:[ \t]*close[ \t]*\r\n", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What to send, and where. The bodies are JSON."""

    port: int
    path: str
    clients: int  # that take turns at `bodies`
    bodies: Sequence[str]
    background: Sequence[
        str
    ] = ()  # one more client sends these, one after the other, for as long as the others last
    host: str = "127.0.0.1"
    timeout: float = 120  # seconds of one request


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What came back. Latencies are of right answers, from the first byte sent to the last received."""

    seconds: float  # from the first request to the last answer, those of the background not counted
    cpu_seconds: float  # of this process meanwhile
    latencies: Sequence[float]
    errors: dict[str, int] = field(default_factory=dict)  # by kind, those of the background too
    background: int = 0  # right answers of it
    server_cpu_seconds: float = (
        0.0  # from the start of this process to its end; known to whoever watches the server
    )


class Failed(Exception):
    """A request without an answer; the message is the kind of error."""


class Connection(asyncio.Protocol):
    """A kept connection that carries a request at a time."""

    def __init__(self) -> None:
        self._transport: asyncio.Transport | None = None
        self._received = bytearray()
        self._whole = -1  # bytes of the answer, once its head is there
        self._answer: asyncio.Future[bytes] | None = None
        self.is_over = False  # the server will have no further request, or is gone

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    async def ask(self, request: bytes) -> bytes:
        """The answer as it came; raises Failed."""
        assert self._transport is not None
        self._received.clear()
        self._whole = -1
        self._answer = asyncio.get_running_loop().create_future()
        self._transport.write(request)
        return await self._answer

    def data_received(self, data: bytes) -> None:
        self._received += data
        if self._whole < 0 and (end := self._received.find(b"\r\n\r\n")) >= 0:
            length = _LENGTH.search(self._received, 0, end + 2)
            if length is None:
                self._settle(Failed("no length"))
                return
            self._whole = end + 4 + int(length[1])
            self.is_over = _CLOSE.search(self._received, 0, end + 2) is not None
        if 0 <= self._whole <= len(self._received):
            self._settle(bytes(self._received))

    def connection_lost(self, error: Exception | None) -> None:
        self.is_over = True
        self._settle(Failed("closed"))

    def close(self) -> None:
        if self._transport is not None:
            self._transport.abort()

    def _settle(self, outcome: bytes | Failed) -> None:
        if self._answer is None or self._answer.done():
            return
        if isinstance(outcome, Failed):
            self._answer.set_exception(outcome)
        else:
            self._answer.set_result(outcome)


class Client:
    """Sends one request after the other, and connects anew after an error."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._connection: Connection | None = None
        self.answers: list[tuple[float, bytes]] = []  # seconds and bytes
        self.errors: Counter[str] = Counter()

    async def connect(self) -> Connection:
        loop = asyncio.get_running_loop()
        try:
            _, connection = await loop.create_connection(Connection, self._plan.host, self._plan.port)
        except OSError as error:
            raise Failed("refused") from error
        return connection

    async def open(self) -> None:
        """Connect ahead of time; where that fails, the first request will find out."""
        try:
            self._connection = await self.connect()
        except Failed:
            self._connection = None

    async def send_all(self, requests: Iterator[bytes], goes_on: Callable[[], bool] = lambda: True) -> None:
        """All that are left of `requests`, which other clients may share."""
        while goes_on() and (request := next(requests, None)) is not None:
            started = time.perf_counter()
            try:
                async with asyncio.timeout(self._plan.timeout):
                    if self._connection is None or self._connection.is_over:
                        self._connection = await self.connect()
                    answer = await self._connection.ask(request)
                self.answers.append((time.perf_counter() - started, answer))
            except (Failed, TimeoutError) as error:
                self.errors[str(error) or "timeout"] += 1
                self.close()

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None


async def run(plan: Plan) -> Outcome:
    """Carry the plan out; ValueError where the background ends before the others do."""
    clients = [Client(plan) for _ in range(plan.clients)]
    beside = Client(plan)
    requests, documents = iter(_spelled(plan, plan.bodies)), iter(_spelled(plan, plan.background))
    await asyncio.gather(*(client.open() for client in (*clients, beside)))
    gc.collect()
    gc.disable()  # no answer waits for it
    is_over = False
    background = asyncio.create_task(beside.send_all(documents, lambda: not is_over))
    await asyncio.sleep(0.05 if plan.background else 0)  # so that it is in work when the others begin
    started, cpu_started = time.perf_counter(), time.process_time()
    await asyncio.gather(*(client.send_all(requests) for client in clients))
    seconds, cpu_seconds = time.perf_counter() - started, time.process_time() - cpu_started
    is_over = True
    if plan.background and background.done() and not beside.errors:
        raise ValueError(f"{len(plan.background)} requests in the background were too few for the others")
    await background
    gc.enable()
    for client in (*clients, beside):
        client.close()
    errors = sum((client.errors for client in (*clients, beside)), Counter())
    latencies = []
    for latency, answer in (one for client in clients for one in client.answers):
        if kind := fault(answer):
            errors[kind] += 1
        else:
            latencies.append(latency)
    faults = Counter(filter(None, (fault(answer) for _, answer in beside.answers)))
    return Outcome(
        seconds=seconds,
        cpu_seconds=cpu_seconds,
        latencies=latencies,
        errors=dict(errors + faults),
        background=len(beside.answers) - faults.total(),
    )


def fault(answer: bytes) -> str:
    """What is wrong with it; nothing where it is a translation that says something."""
    head, _, body = answer.partition(b"\r\n\r\n")
    status = head.split(b" ", 2)[1].decode()
    if status != "200":
        return f"status {status}"
    try:
        text = json.loads(body)["translation"]["text"]
    except (ValueError, KeyError, TypeError):
        return "no translation"
    return "" if isinstance(text, str) and text.strip() else "no translation"


def _spelled(plan: Plan, bodies: Sequence[str]) -> list[bytes]:
    spelled = []
    for body in bodies:
        content = body.encode()
        head = HEAD.format(path=plan.path, host=plan.host, port=plan.port, length=len(content))
        spelled.append(head.encode() + content)
    return spelled


if __name__ == "__main__":
    print(json.dumps(asdict(asyncio.run(run(Plan(**json.load(sys.stdin)))))))
