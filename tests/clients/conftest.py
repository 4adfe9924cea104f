"""Real clients before the real service. CLIENTS names the folder of their environments (`make test-clients`)."""

import json
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
HERE = Path(__file__).parent
BUNDLED = ROOT / "pretrained" / "en-de"
START_SECONDS = 120
KEY = "a key of this test"  # known to the second service; the first wants none
_calls: dict[str, tuple[str, int]] = {}  # client: its test, the number of calls
_outcomes: dict[str, str] = {}  # of tests


@pytest.fixture(scope="session")
def clients() -> Path:
    named = os.environ.get("CLIENTS")
    if not named:
        pytest.skip("needs the clients: `make test-clients` installs them")
    if not (BUNDLED / "checksums.json").is_file():
        pytest.skip("this copy has no pretrained/en-de")
    return Path(named)


@pytest.fixture(scope="session")
def service(clients: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a service that wants no key, and keeps suggestions."""
    folder = tmp_path_factory.mktemp("state")
    yield from serve(tmp_path_factory.mktemp("open"), "--state-folder", folder, "--suggestions", "on")


@pytest.fixture(scope="session")
def locked_service(clients: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a service that wants KEY."""
    made = subprocess.run(
        [sys.executable, "-c", f"from service.keys import hash_of; print(hash_of({KEY!r}))"],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    )
    yield from serve(tmp_path_factory.mktemp("locked"), "--api-keys", f"clients={made.stdout.strip()}")


@pytest.fixture
def run(
    clients: Path, service: str, locked_service: str, tmp_path: Path, request: pytest.FixtureRequest
) -> Callable[..., dict[str, Any]]:
    """run("python", "deepl_library.py"): what a script reports of the client that it drives.

    The script is told both addresses and the key, runs in a folder of its own, and prints one JSON object.
    """

    def run_script(environment: str, script: str) -> dict[str, Any]:
        if environment == "node":
            command = [node(), str(HERE / "node" / script)]
        else:
            command = [str(clients / environment / "bin" / "python"), str(HERE / "python" / script)]
        variables = {
            name: value for name, value in os.environ.items() if not name.endswith(("PROXY", "proxy"))
        }
        finished = subprocess.run(
            [*command, service, locked_service, KEY],
            cwd=tmp_path,
            env=variables,
            capture_output=True,
            text=True,
            timeout=300,
        )
        assert finished.returncode == 0, finished.stderr
        report: dict[str, Any] = json.loads(finished.stdout)
        client = report.pop("client")
        _calls[client] = (request.node.nodeid, len(report))
        return report

    return run_script


def node() -> str:
    found = shutil.which("node")
    if found is None:
        pytest.skip("needs Node.js 18 or newer, which was not found")
    if not (HERE / "node" / "node_modules").is_dir():
        pytest.skip("needs the clients for Node: `make test-clients` installs them")
    return found


def serve(folder: Path, *arguments: object) -> Iterator[str]:
    """A service as a process of its own, from its being ready until the generator is closed."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        address = f"http://127.0.0.1:{listener.getsockname()[1]}"
    command = [sys.executable, "-m", "service", "--model", BUNDLED, "--port", address.rpartition(":")[2]]
    log = folder / "log"
    with log.open("w") as output:
        process = subprocess.Popen([*map(str, command), *map(str, arguments)], cwd=ROOT, stderr=output)
    try:
        wait_until_ready(address, process, log)
        yield address
        said = log.read_text()
        assert "Traceback" not in said and "unexpected failure" not in said, said
    finally:
        process.terminate()
        process.wait(30)


def wait_until_ready(address: str, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + START_SECONDS
    while True:
        assert process.poll() is None, f"the service ended:\n{log.read_text()}"
        try:
            with urllib.request.urlopen(f"{address}/health/ready", timeout=5):
                return
        except (urllib.error.URLError, OSError):
            assert time.monotonic() < deadline, f"the service did not become ready:\n{log.read_text()}"
            time.sleep(0.2)


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if report.when == "call":
        _outcomes[report.nodeid] = report.outcome


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """A line for each client."""
    if _calls:
        terminalreporter.section("clients")
        for client, (test, calls) in sorted(_calls.items()):
            terminalreporter.write_line(f"{client}: {_outcomes.get(test, 'failed')}, {calls} calls")
