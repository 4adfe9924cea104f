"""Every command of docs/tutorial.md does what the page says: shortened here, in full among the slow tests."""

from __future__ import annotations

import importlib
import io
import os
import re
import shlex
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "tutorial.md").read_text(encoding="utf-8")
COMMANDS = re.findall(r"^```sh\n(.*?)\n```$", PAGE, flags=re.MULTILINE | re.DOTALL)
QUICK = {  # what a command gets that would take long
    "training.primer": ["--pairs", "300"],
    "training.train": shlex.split(
        "--set updates=20 --set validate_every=20 --set validation_sentences=2 --set precision=float32"
    ),
}
BY_A_SHELL = ("python -m service", "curl")  # run by the slow test alone


def test_every_block_is_one_command() -> None:
    assert COMMANDS
    assert all("\n" not in command for command in COMMANDS)
    assert PAGE.count("```") == 2 * len(COMMANDS)  # no other block that nobody runs


def test_every_option_that_the_page_names_exists(capsys: pytest.CaptureFixture[str]) -> None:
    known = ""
    for module, arguments in (
        ("training.train", ["custom"]),
        ("training.train", ["finetune"]),
        ("training.fetch", []),
        ("training.evaluate", []),
        ("model.translate", []),
        ("training.primer.__main__", []),
    ):
        with pytest.raises(SystemExit):
            importlib.import_module(module).main([*arguments, "--help"])
        known += capsys.readouterr().out
    for option in set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", PAGE)) - {"--model"}:
        assert re.search(rf"{option}\b", known), option


def test_the_commands_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    monkeypatch.chdir(tmp_path)
    for command in COMMANDS:
        if command.startswith(BY_A_SHELL):
            continue
        spoken, _, program = command.rpartition(" | ")
        python, flag, module, *arguments = shlex.split(program)
        assert (python, flag) == ("python", "-m")
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(spoken[6:-1].encode())))
        name = "training.primer.__main__" if module == "training.primer" else module
        status = importlib.import_module(name).main([*arguments, *QUICK.get(module, [])])
        assert status == 0, (command, capsysbinary.readouterr().err)
    assert [len(rows(card(tmp_path, run))) for run in ("everyday", "house")] == [2, 4]
    assert "70% those of the fine-tuned model" in card(tmp_path, "house")


@pytest.mark.slow
def test_the_whole_tutorial_teaches_the_words_of_the_house(tmp_path: Path) -> None:
    port = str(free_port())
    environment = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
        "PORT": port,
    }
    said: dict[str, str] = {}
    service: subprocess.Popen[bytes] | None = None
    try:
        for command in (command.replace(":8000", f":{port}") for command in COMMANDS):
            if command.startswith("python -m service"):
                service = subprocess.Popen(shlex.split(command), cwd=tmp_path, env=environment)
                wait_until_ready(port)
                continue
            done = subprocess.run(
                command,
                shell=True,
                cwd=tmp_path,
                env=environment,
                capture_output=True,
                text=True,
                check=False,
            )
            assert done.returncode == 0, (command, done.stdout, done.stderr)
            said[command] = done.stdout
            if command.startswith("python -m training.train finetune runs/everyday"):
                gains = [gain(row) for row in rows(card(tmp_path, "house")) if row[0].startswith("held out")]
                assert min(gains) > 10, gains
    finally:
        if service:
            service.terminate()
            service.wait(timeout=30)
    before, after = (said[command].strip() for command in COMMANDS if command.startswith("echo"))
    assert before == "Die alte Lampe ist in der Küche."
    assert after == "Die alte Leuchte ist in der Küche."
    assert any(
        "Die alte Lampe ist in der Küche." in text for command, text in said.items() if "curl" in command
    )


def card(folder: Path, run: str) -> str:
    return (folder / "runs" / run / "model" / "MODEL_CARD.md").read_text(encoding="utf-8")


def rows(card: str) -> list[list[str]]:
    return [line.strip("| ").split(" | ") for line in card.split("\n") if line.startswith("| ")][2:]


def gain(row: list[str]) -> float:
    """BLEU after fine-tuning less BLEU before, as the row has it in brackets."""
    return float(row[4].partition("(")[2].rstrip(")"))


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def wait_until_ready(port: str) -> None:
    deadline = time.monotonic() + 120
    while True:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/health/ready", timeout=5) as answer:
                if answer.status == 200:
                    return
        except (urllib.error.URLError, ConnectionError):
            pass
        assert time.monotonic() < deadline
        time.sleep(0.2)
