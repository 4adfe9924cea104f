"""A real Chromium in front of the real service. CHROMIUM names the browser; `make test-browser` sets it."""

import contextlib
import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.browser.small_model import make_small_model

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page, Playwright

ROOT = Path(__file__).parents[2]
BUNDLED = ROOT / "pretrained" / "en-de"
START_SECONDS = 60


@pytest.fixture(scope="session")
def chromium() -> Path:
    named = os.environ.get("CHROMIUM")
    if not named:
        pytest.skip("needs a browser: `make test-browser` installs one, or set CHROMIUM to its path")
    pytest.importorskip("playwright.sync_api", reason="needs playwright: `make test-browser` installs it")
    path = Path(named)
    if not path.is_file():
        pytest.fail(f"CHROMIUM names {named!r}, which is not a file")
    return path


@pytest.fixture(scope="session")
def model_directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What MODEL names, else the bundled model, else a small one made on the spot."""
    if named := os.environ.get("MODEL"):
        return Path(named)
    if BUNDLED.is_dir():
        return BUNDLED
    directory = tmp_path_factory.mktemp("models") / "small"
    make_small_model(directory)
    return directory


@pytest.fixture(scope="session")
def serving(
    chromium: Path, model_directory: Path, tmp_path_factory: pytest.TempPathFactory
) -> Callable[..., contextlib.AbstractContextManager[str]]:
    """serving("--port", "8000"): the address of a `python -m service` of its own, once it says that it is ready."""

    @contextlib.contextmanager
    def start(*arguments: str) -> Iterator[str]:
        log = tmp_path_factory.mktemp("service") / "log"
        port = free_port()
        command = [sys.executable, "-m", "service", "--model", str(model_directory), "--port", str(port)]
        with log.open("w") as output:
            process = subprocess.Popen(
                [*command, *arguments], cwd=ROOT, stdout=output, stderr=subprocess.STDOUT
            )
        try:
            wait_until_ready(f"http://127.0.0.1:{port}", process, log)
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()
            process.wait(timeout=30)

    return start


@pytest.fixture(scope="session")
def address(serving: Callable[..., contextlib.AbstractContextManager[str]]) -> Iterator[str]:
    """Where the service answers that most tests share."""
    with serving() as address:
        yield address


# Not for the session: while Playwright runs, asyncio.run() fails in every other test of the process.
@pytest.fixture(scope="module")
def browser(chromium: Path) -> "Iterator[Browser]":
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = launch(playwright, chromium)
        yield browser
        browser.close()


@dataclass
class Watch:
    """What a page must not do, as it was seen doing it."""

    console_errors: list[str] = field(default_factory=list)
    policy_violations: list[str] = field(default_factory=list)
    dialogs: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)


@pytest.fixture
def watch() -> Watch:
    return Watch()


@pytest.fixture
def page(browser: "Browser", address: str, watch: Watch) -> "Iterator[Page]":
    """The open page, its languages chosen, in a browser profile that nothing has used before."""
    context = browser.new_context(locale="en-GB", viewport={"width": 1200, "height": 800})
    page = context.new_page()
    observe(page, watch)
    page.goto(address)
    page.get_by_role("button", name="Translate").and_(page.locator(":enabled")).wait_for()
    yield page
    context.close()
    assert watch.policy_violations == []
    assert watch.dialogs == []
    assert [url for url in watch.requests if not url.startswith(f"{address}/")] == []


@pytest.fixture
def too_faint() -> str:
    """A JavaScript function that lists texts and borders with too little contrast."""
    return Path(__file__).with_name("contrast.js").read_text(encoding="utf-8")


@pytest.fixture
def violations(chromium: Path) -> "Callable[[Page], list[str]]":
    """violations(page): what axe-core, the usual judge of WCAG 2.2 A and AA, has against the page."""
    axe = pytest.importorskip(
        "axe_playwright_python.sync_playwright", reason="`make test-browser` installs it"
    )

    def judge(page: "Page") -> list[str]:
        options = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}
        found = axe.Axe().run(page, options=options).response["violations"]
        return [f"{one['id']}: {node['html'][:120]}" for one in found for node in one["nodes"]]

    return judge


def observe(page: "Page", watch: Watch) -> None:
    def keep_error(message) -> None:
        if message.type in ("error", "warning"):
            watch.console_errors.append(message.text)

    def refuse_dialog(dialog) -> None:
        watch.dialogs.append(dialog.message)
        dialog.dismiss()

    page.on("console", keep_error)
    page.on("pageerror", lambda error: watch.console_errors.append(str(error)))
    page.on("dialog", refuse_dialog)
    page.on("request", lambda request: watch.requests.append(request.url))
    page.expose_function("reportViolation", lambda violation: watch.policy_violations.append(violation))
    page.add_init_script(
        "addEventListener('securitypolicyviolation',"
        " (event) => reportViolation(`${event.violatedDirective} ${event.blockedURI}`))"
    )


def launch(playwright: "Playwright", chromium: Path) -> "Browser":
    return playwright.chromium.launch(
        executable_path=chromium,
        headless=True,
        args=[
            "--no-sandbox",  # the tests may run as root, as in a container
            "--disable-gpu",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            "--no-first-run",
        ],
    )


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
    return port


def wait_until_ready(address: str, process: "subprocess.Popen[bytes]", log: Path) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        if process.poll() is not None:
            break
        try:
            with urllib.request.urlopen(f"{address}/health/ready", timeout=5):
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.2)
    pytest.fail(f"The service did not become ready:\n{log.read_text()[-2000:]}")
