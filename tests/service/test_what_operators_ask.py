"""What operators of other services ask for and complain of, each a fact about this one."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from random import Random

import httpx2
import pytest
import torch

from service.settings import parse_settings
from tests.service.conftest import UpperCase

ROOT = Path(__file__).parents[2]


class ShortOfMemory(UpperCase):
    """Has memory for one sentence at a time, as a device that others use as well."""

    error: type[Exception] | None = None  # none while it is being loaded

    def translate(self, sentences, options):
        if self.error and len(sentences) > 1:
            raise self.error("out of memory")
        return super().translate(sentences, options)


@pytest.mark.parametrize("error", [torch.OutOfMemoryError, MemoryError])
def test_a_batch_for_which_memory_lacks_is_translated_in_smaller_parts(make_client, error) -> None:
    translator = ShortOfMemory()
    client = make_client(translator)
    translator.error = error
    texts = [f"Sentence {number}." for number in range(12)]
    answer = client.post("/v1/translate", json={"text": texts, "source": "en", "target": "de"})
    assert answer.status_code == 200
    assert [one["text"] for one in answer.json()["translations"]] == [text.upper() for text in texts]


def test_there_is_no_way_to_load_the_model_twice(make_client, translator, capsys) -> None:
    loads = []

    def load():
        loads.append(1)
        return translator

    client = make_client(load)
    for number in range(20):
        client.post("/translate", json={"q": f"Text {number}.", "source": "en", "target": "de"})
    assert loads == [1]
    with pytest.raises(SystemExit):
        parse_settings(["--workers", "2"], {})
    assert "--workers" in capsys.readouterr().err


class Service:
    """`python -m service` as a process, and what it holds of the machine."""

    def __init__(self, process: subprocess.Popen[bytes], address: str) -> None:
        self.process, self.address = process, address

    @property
    def memory(self) -> int:
        """Resident, in KiB."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.findall(r"^VmRSS:\s+(\d+) kB", status, flags=re.MULTILINE)[0])

    @property
    def threads(self) -> int:
        return len(list(Path(f"/proc/{self.process.pid}/task").iterdir()))

    @property
    def files(self) -> int:
        return len(list(Path(f"/proc/{self.process.pid}/fd").iterdir()))


@pytest.fixture
def service(tiny_model, free_port, tmp_path) -> Iterator[Service]:
    if not Path("/proc/self/status").is_file():
        pytest.skip("needs /proc")
    limits = ["--requests-per-minute", "100000", "--state-folder", str(tmp_path / "state")]
    command = [sys.executable, "-m", "service", "--model", str(tiny_model), "--port", str(free_port), *limits]
    with (tmp_path / "log").open("w") as log:
        process = subprocess.Popen(command, cwd=ROOT, stderr=log, env=os.environ | {"OMP_NUM_THREADS": "1"})
    address = f"http://127.0.0.1:{free_port}"
    try:
        deadline = time.monotonic() + 60
        while not is_ready(address):
            assert time.monotonic() < deadline and process.poll() is None, "the service did not become ready"
            time.sleep(0.1)
        yield Service(process, address)
    finally:
        process.kill()
        process.wait()


def is_ready(address: str) -> bool:
    try:
        return httpx2.get(f"{address}/health/ready", trust_env=False).status_code == 200
    except httpx2.TransportError:
        return False


def ask_variously(client: httpx2.Client, count: int, random: Random) -> None:
    """Texts, lists, pages and files that nobody has sent before, from as many addresses, with as many keys."""
    pair = {"source": "en", "target": "de"}
    for number in range(count):
        words = random.choices(["cat", "dog", "tree", "sees", "likes", "the"], k=random.randrange(1, 40))
        text = f"{' '.join(words)} {random.random()}."
        headers = {"X-Forwarded-For": f"198.{random.randrange(256)}.{random.randrange(256)}.7"}
        decoding = {"strategy": "greedy", "max_length": 4}
        match number % 5:
            case 0 | 1:
                body = pair | {"text": text, "decoding": decoding}
                answer = client.post("/v1/translate", json=body, headers=headers)
            case 2:
                body = pair | {"text": [text] * 3, "decoding": decoding}
                answer = client.post("/v1/translate", json=body, headers=headers)
            case 3:
                body = pair | {"text": f"<p>{text}<b>{text}</b>", "format": "html", "decoding": decoding}
                headers["Authorization"] = f"Bearer {random.random()}"
                answer = client.post("/v1/translate", json=body, headers=headers)
            case _:
                form = {"file": (f"{number}.txt", f"{random.random()}\n".encode())}
                answer = client.post("/translate_file", data=pair, files=form, headers=headers)
                client.get(answer.json()["translatedFileUrl"])
        assert answer.status_code == 200, answer.text


@pytest.mark.parametrize(
    ("warm_up", "requests"), [(150, 200), pytest.param(500, 5000, marks=pytest.mark.slow)]
)
def test_memory_threads_and_files_do_not_grow_with_requests(service, warm_up, requests) -> None:
    random = Random(5)
    with httpx2.Client(base_url=service.address, timeout=60, trust_env=False) as client:
        ask_variously(client, warm_up, random)
        memory, threads, files = service.memory, service.threads, service.files
        ask_variously(client, requests, random)
        assert service.memory <= 1.15 * memory
        assert service.threads <= threads + 4  # those of bounded pools begin when they are first needed
        assert service.files <= files + 1  # one that is just being closed
