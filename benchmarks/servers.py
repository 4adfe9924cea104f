"""Servers as processes of their own, for measuring: started, asked, watched, stopped."""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import httpx2

from benchmarks.load import Outcome, Plan

ROOT = Path(__file__).parents[1]
PATH = "/v1/translate"
START_SECONDS = 180


class ServerFailed(RuntimeError):
    """A server ended, or did not answer in time."""


@dataclass(frozen=True)
class Server:
    """A running one."""

    name: str
    process: subprocess.Popen[bytes]
    port: int
    started: float  # by time.perf_counter
    first_answer_seconds: float  # from the start of the process to the first translation

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def age(self) -> float:
        """Seconds since the start of the process."""
        return time.perf_counter() - self.started

    def translate(self, text: str, decoding: Mapping[str, Any], direction: Sequence[str]) -> str:
        """The answer to one request; raises ServerFailed for any but a translation."""
        content = body(text, decoding, direction).encode()
        headers = {"Content-Type": "application/json"}
        answer = httpx2.post(f"{self.address}{PATH}", content=content, headers=headers, timeout=120)
        if answer.status_code != 200:
            raise ServerFailed(f"{self.name} answered with {answer.status_code}")
        return str(answer.json()["translation"]["text"])

    def memory(self) -> tuple[float, float]:
        """MB in memory now and at the most, since its start."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        now, most = (int(re.findall(rf"{name}:\s+(\d+) kB", status)[0]) for name in ("VmRSS", "VmHWM"))
        return now / 1024, most / 1024

    def cpu_seconds(self) -> float:
        """Of all its threads, since its start."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def load(self, clients: int, bodies: Sequence[str], background: Sequence[str] = ()) -> Outcome:
        """What so many clients meet."""
        plan = Plan(port=self.port, path=PATH, clients=clients, bodies=bodies, background=background)
        before = self.cpu_seconds()
        generator = subprocess.run(
            [sys.executable, "-m", "benchmarks.load"],
            cwd=ROOT,
            input=json.dumps(asdict(plan)).encode(),
            stdout=subprocess.PIPE,
            check=True,
        )
        outcome = Outcome(**json.loads(generator.stdout))
        return replace(outcome, server_cpu_seconds=self.cpu_seconds() - before)


def body(text: str, decoding: Mapping[str, Any], direction: Sequence[str]) -> str:
    """A request to either server."""
    source, target = direction
    return json.dumps({"text": text, "source": source, "target": target, "decoding": decoding})


@contextmanager
def running(
    name: str, command: Sequence[str], *, direction: Sequence[str], environment: dict[str, str] | None = None
) -> Iterator[Server]:
    """A server started for the occasion, as soon as it has translated something; `command` takes a --port."""
    port = free_port()
    started = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, *command, "--port", str(port)],
        cwd=ROOT,
        env=_environment() | (environment or {}),
        stdout=sys.stderr,
    )
    try:
        _wait_for_an_answer(name, process, port, body("Hello.", {"strategy": "greedy"}, direction).encode())
        yield Server(name, process, port, started, time.perf_counter() - started)
    finally:
        process.terminate()
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def service(model: Path, *arguments: str) -> list[str]:
    """The command of this project's; no answer may come out of a memory of answers."""
    command = ["-m", "service", "--model", str(model.resolve()), "--log-level", "warning"]
    return [*command, "--cache-sentences", "0", *arguments]


def opponent(export: Path, *, kind: str, workers: int, threads: int) -> list[str]:
    """The command of the server around CTranslate2."""
    command = ["-m", "benchmarks.ct2_server", str(export.resolve()), "--kind", kind]
    return [*command, "--workers", str(workers), "--threads", str(threads)]


def engine(server: Server, *, patience: float = 120) -> str:
    """What decodes in this project's service: the native engine, once that is compiled where there is a compiler."""
    deadline = time.monotonic() + patience
    while True:
        models = httpx2.get(f"{server.address}/v1/models").json()["models"]
        found = str(models[0]["engine"])
        if found.startswith("native") or time.monotonic() > deadline:
            return found
        time.sleep(0.5)


@contextmanager
def without_cache() -> Iterator[dict[str, str]]:
    """The environment of a first start: nothing has been compiled yet."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as empty:
        yield {"DRAGOMAN_CACHE": empty}


def _environment() -> dict[str, str]:
    """Threads that wait sleep, in both servers; and Python keeps what it compiles, so that a second start is warm."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return kept | {"OMP_WAIT_POLICY": "PASSIVE"}


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port


def _wait_for_an_answer(name: str, process: subprocess.Popen[bytes], port: int, content: bytes) -> None:
    deadline = time.monotonic() + START_SECONDS
    headers = {"Content-Type": "application/json"}
    with httpx2.Client(base_url=f"http://127.0.0.1:{port}", timeout=60) as client:
        while time.monotonic() < deadline:
            if process.poll() is not None:
                raise ServerFailed(f"{name} ended with status {process.returncode}")
            try:
                if client.post(PATH, content=content, headers=headers).status_code == 200:
                    return
            except httpx2.TransportError:
                pass
            time.sleep(0.02)
    raise ServerFailed(f"{name} gave no answer within {START_SECONDS} s")
