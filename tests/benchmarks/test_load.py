"""The load generator against a server of the test's own, which errs as it is told to."""

from __future__ import annotations

import json
import socket
import socketserver
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path

import pytest

from benchmarks.load import Outcome, Plan, fault

ROOT = Path(__file__).parents[2]
GOOD = json.dumps({"translation": {"text": "Gut."}})


def answer(body: str = GOOD, status: str = "200 OK", extra: str = "") -> bytes:
    content = body.encode()
    return f"HTTP/1.1 {status}\r\nContent-Length: {len(content)}\r\n{extra}\r\n".encode() + content


class Heard:
    """What the server was told: the texts, and over how many connections."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.connections = 0


@contextmanager
def server(reply: Callable[[str], bytes | None]) -> Iterator[tuple[int, Heard]]:
    """A server whose answer to a text is what `reply` says; it hangs up after None."""
    heard = Heard()

    class Handler(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            heard.connections += 1
            while line := self.rfile.readline():
                assert line == b"POST /v1/translate HTTP/1.1\r\n"
                length = 0
                while (line := self.rfile.readline()) != b"\r\n":
                    if line.lower().startswith(b"content-length:"):
                        length = int(line.split(b":")[1])
                text = json.loads(self.rfile.read(length))["text"]
                heard.texts.append(text)
                said = reply(text)
                if said is None:
                    return
                self.wfile.write(said)
                if b"Connection: close" in said:
                    return

    class Server(socketserver.ThreadingTCPServer):
        daemon_threads = True
        request_queue_size = 128

    with Server(("127.0.0.1", 0), Handler) as listening:
        thread = threading.Thread(target=listening.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield listening.server_address[1], heard
        finally:
            listening.shutdown()
            thread.join()


def load(
    port: int, texts: list[str], *, clients: int = 1, documents: list[str] | None = None, **more
) -> Outcome:
    bodies, background = ([json.dumps({"text": text}) for text in some] for some in (texts, documents or []))
    plan = Plan(
        port=port, path="/v1/translate", clients=clients, bodies=bodies, background=background, **more
    )
    generator = subprocess.run(
        [sys.executable, "-m", "benchmarks.load"],
        cwd=ROOT,
        input=json.dumps(asdict(plan)),
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert generator.returncode == 0, generator.stderr
    return Outcome(**json.loads(generator.stdout))


def numbered(count: int) -> list[str]:
    return [f"Straße {i}" for i in range(count)]


def test_every_request_is_sent_once_over_one_connection_a_client() -> None:
    with server(lambda text: answer()) as (port, heard):
        outcome = load(port, numbered(60), clients=5)
    assert sorted(heard.texts) == sorted(numbered(60))
    assert heard.connections == 6  # one is for the background
    assert len(outcome.latencies) == 60
    assert outcome.errors == {}
    assert 0 < outcome.cpu_seconds <= outcome.seconds


def test_latency_is_the_time_that_the_server_takes() -> None:
    def slow(text: str) -> bytes:
        time.sleep(0.05)
        return answer()

    with server(slow) as (port, _):
        outcome = load(port, numbered(8), clients=4)
    assert all(latency >= 0.05 for latency in outcome.latencies)
    assert 0.1 <= outcome.seconds < 8 * 0.05 + 0.3  # two rounds of four, beside each other


def test_what_is_no_translation_counts_as_an_error_by_its_kind_and_never_as_an_answer() -> None:
    replies = {
        "busy": answer("{}", "503 Service Unavailable"),
        "failed": answer("{}", "500 Internal Server Error"),
        "empty": answer(json.dumps({"translation": {"text": " "}})),
        "other": answer(json.dumps({"translations": []})),
        "list": answer("[1]"),
        "garbage": answer("<html>"),
        "chunked": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "leaves": None,
    }
    texts = [*replies, *numbered(20), "failed"]
    with server(lambda text: replies.get(text, answer())) as (port, heard):
        outcome = load(port, texts, clients=3)
    assert sorted(heard.texts) == sorted(texts)
    assert outcome.errors == {
        "status 503": 1,
        "status 500": 2,
        "no translation": 4,
        "no length": 1,
        "closed": 1,
    }
    assert len(outcome.latencies) == 20
    assert sum(outcome.errors.values()) + len(outcome.latencies) == len(texts)


def test_an_answer_in_parts_is_waited_for() -> None:
    whole = answer(json.dumps({"translation": {"text": "Ende. " * 3000}}))

    with server(lambda text: whole) as (port, _):
        outcome = load(port, numbered(5))
    assert len(outcome.latencies) == 5


def test_a_connection_that_the_server_ends_after_its_answer_is_replaced() -> None:
    with server(lambda text: answer(extra="Connection: close\r\n")) as (port, heard):
        outcome = load(port, numbered(6), clients=2)
    assert (len(outcome.latencies), outcome.errors) == (6, {})
    assert heard.connections == 2 + 1 + 4  # those of the start, and one for each further request


def test_a_server_that_never_answers_is_a_timeout() -> None:
    release = threading.Event()

    def wait(text: str) -> bytes:
        release.wait(20)
        return answer()

    with server(wait) as (port, _):
        outcome = load(port, numbered(2), clients=2, timeout=0.3)
        release.set()
    assert (outcome.errors, outcome.latencies) == ({"timeout": 2}, [])


def test_a_server_that_is_not_there_refuses() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    outcome = load(port, numbered(3))
    assert (outcome.errors, outcome.latencies) == ({"refused": 3}, [])


def test_the_background_goes_on_for_as_long_as_the_others_and_is_not_among_their_latencies() -> None:
    def reply(text: str) -> bytes:
        time.sleep(0.2 if text.startswith("Long") else 0.02)
        return answer()

    with server(reply) as (port, heard):
        outcome = load(port, numbered(20), documents=[f"Long {i}" for i in range(20)])
    documents = [text for text in heard.texts if text.startswith("Long")]
    assert len(outcome.latencies) == 20
    assert outcome.background == len(documents) < 20
    assert heard.texts[0] == "Long 0"
    assert max(outcome.latencies) < 0.2


def test_a_background_that_is_too_short_is_refused() -> None:
    def reply(text: str) -> bytes:
        time.sleep(0.02)
        return answer()

    with server(reply) as (port, _), pytest.raises(AssertionError, match="too few"):
        load(port, numbered(20), documents=["Long 0"])


def test_errors_of_the_background_are_told() -> None:
    def reply(text: str) -> bytes:
        time.sleep(0.02)
        return answer("{}", "413 Content Too Large") if text.startswith("Long") else answer()

    with server(reply) as (port, _):
        outcome = load(port, numbered(3), documents=[f"Long {i}" for i in range(50)])
    assert set(outcome.errors) == {"status 413"}
    assert outcome.background == 0


def test_a_translation_that_says_something_is_no_fault() -> None:
    assert fault(answer()) == ""
