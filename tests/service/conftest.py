"""A small real translator (upper case), the application around it, and a server on a socket."""

import contextlib
import socket
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple, cast

import pytest
import torch
from fastapi.testclient import TestClient

from model.alignment import Alignment
from model.config import preset
from model.decoding import Work
from model.directory import save_translator
from model.search.options import DecodingOptions
from model.sentence import Sentence
from model.transformer import Transformer
from model.translator import Hypothesis, Translator
from service.__main__ import build_server
from service.app import create_app
from service.batcher import Batcher
from service.settings import Settings
from tokenizer import Tokenizer
from tokenizer.train import train_tokenizer


class LoudSession:
    """Decodes a batch at a time, of equal options."""

    def __init__(self, translator: "UpperCase") -> None:
        self.translator, self.decoder = translator, translator.decoder
        self.works: list[Work] = []

    def __len__(self) -> int:
        return len(self.works)

    def takes(self, work: Work) -> bool:
        longest = max(len(one.sentence.ids) for one in (*self.works, work))
        fits = longest * (len(self.works) + 1) <= self.translator.batch_tokens
        return not self.works or (fits and work.options == self.works[0].options)

    def add(self, work: Work) -> None:
        self.works.append(work)

    def advance(self) -> list[tuple[int, list[Hypothesis]]]:
        works, self.works = self.works, []
        answers = self.translator.translate([work.sentence for work in works], works[0].options)
        return list(zip([work.name for work in works], answers, strict=True))

    def drop(self, name: int) -> None:
        self.works = [work for work in self.works if work.name != name]


class UpperCase:
    """A translator for English and German, one piece a character, that says the same only louder.

    It notes what it decodes, can be held back at a gate, fails on sentences that contain BOOM and takes its
    thread down with FATAL. The k-th best hypothesis has k exclamation marks.
    """

    name = "upper"
    directions = (("en", "de"), ("de", "en"))
    decoder = SimpleNamespace(threads=1)
    batch_tokens = 1000

    def __init__(self) -> None:
        self.gate = threading.Event()
        self.gate.set()
        self.is_decoding = threading.Event()
        self.batches: list[list[str]] = []
        self.options: list[DecodingOptions] = []

    @property
    def decoded(self) -> list[str]:
        return [text for batch in self.batches for text in batch]

    def forget(self) -> None:
        self.batches.clear()
        self.options.clear()

    def fits(self, text: str) -> bool:
        return len(text) <= 200

    def prepare(self, text: str, source_language: str, target_language: str, phrases=()) -> Sentence:
        assert (source_language, target_language) in self.directions
        assert self.fits(text)
        return Sentence(text, target_language, tuple(map(ord, text)))

    def session(self) -> LoudSession:
        return LoudSession(self)

    def translate(self, sentences, options: DecodingOptions) -> list[list[Hypothesis]]:
        texts = [sentence.text for sentence in sentences]
        self.batches.append(texts)
        self.options.append(options)
        self.is_decoding.set()
        assert self.gate.wait(20), "nobody opened the gate"
        if any("BOOM" in text for text in texts):
            raise RuntimeError(f"cannot translate {texts}")
        if any("FATAL" in text for text in texts):
            raise SystemExit(f"gone over {texts}")
        return [self.hypotheses(text, options) for text in texts]

    def align(self, sentence: Sentence, target: str) -> Alignment:
        """Character i was made from character i."""
        source = [(place, place + 1) for place in range(len(sentence.text))]
        rows = [[float(place == origin) for place in range(len(source))] for origin in range(len(target))]
        return Alignment(rows, source, [(place, place + 1) for place in range(len(target))])

    def hypotheses(self, text: str, options: DecodingOptions) -> list[Hypothesis]:
        upper = text.upper()
        cut = upper[: options.max_length]
        return [
            Hypothesis(cut + "!" * k, -1.0 - k, (), (), truncated=len(cut) < len(upper))
            for k in range(options.n_best)
        ]


class Identity(UpperCase):
    """Says exactly the same, so that whatever else changes is the service's doing."""

    def hypotheses(self, text: str, options: DecodingOptions) -> list[Hypothesis]:
        return [Hypothesis(text, -1.0, (), (), truncated=False)]


class Running(NamedTuple):
    """A server that answers at an address, and the batcher inside it."""

    address: tuple[str, int]
    batcher: Batcher


@pytest.fixture
def translator() -> UpperCase:
    return UpperCase()


@pytest.fixture
def identity() -> Identity:
    return Identity()


@pytest.fixture
def make_client() -> Iterator[Callable[..., TestClient]]:
    """make_client(translator, max_texts=3): a client of a running application, ready unless told otherwise."""
    with contextlib.ExitStack() as stack:

        def make(translator, *, wait: bool = True, **settings) -> TestClient:
            app = create_app(
                Settings(**settings), load=translator if callable(translator) else lambda: translator
            )
            client = stack.enter_context(TestClient(app, raise_server_exceptions=True))
            if wait:
                wait_until(lambda: client.get("/health/ready").status_code == 200)
                getattr(translator, "forget", lambda: None)()
            return client

        yield make


@pytest.fixture
def client(make_client, translator) -> TestClient:
    client: TestClient = make_client(translator)
    return client


@pytest.fixture(scope="module")
def shared_client() -> Iterator[TestClient]:
    """For tests that leave the service as they found it and do not ask what the model has heard."""
    with TestClient(create_app(Settings(), load=cast(Any, UpperCase))) as client:
        wait_until(lambda: client.get("/health/ready").status_code == 200)
        yield client


@pytest.fixture
def serve() -> Iterator[Callable[..., Running]]:
    """serve(translator, body_seconds=1): a real server on a real socket, ready."""
    with contextlib.ExitStack() as stack:

        def start(translator, **settings) -> Running:
            chosen = Settings(**settings)
            listener = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
            address: tuple[str, int] = listener.getsockname()
            app = create_app(chosen, load=lambda: translator)
            server = build_server(chosen, app)
            thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
            thread.start()
            stack.callback(thread.join, 20)
            stack.callback(setattr, server, "should_exit", True)
            wait_until(
                lambda: b" 200 " in exchange(address, b"GET /health/ready HTTP/1.1\r\nConnection: close\r\n")
            )
            translator.forget()
            return Running(address, server.lifespan.state["service"].models.batchers[0])

        yield start


@pytest.fixture
def until() -> Callable[[Callable[[], bool]], None]:
    return wait_until


@pytest.fixture
def send() -> Callable[[tuple[str, int], bytes], bytes]:
    return exchange


@pytest.fixture
def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
    return port


@pytest.fixture(scope="session")
def tiny_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model directory as training leaves it, but with random weights: it answers nonsense, in earnest."""
    nouns, verbs = ("cat", "dog", "tree", "Katze", "Hund", "Baum"), ("sees", "likes", "sieht", "mag")
    lines = [f"The {a} {verb} the {b}." for a in nouns for verb in verbs for b in nouns]
    tokenizer = Tokenizer(train_tokenizer(lines, size=340, languages=["de", "en"]))
    torch.manual_seed(1)
    model = Transformer(preset("tiny", vocabulary_size=tokenizer.size)).eval()
    translator = Translator(
        model,
        tokenizer,
        name="tiny",
        directions=[("en", "de"), ("de", "en")],
        longest=model.config.max_positions // 4,
    )
    directory = tmp_path_factory.mktemp("models") / "tiny"
    save_translator(translator, directory, card="# Random weights\n", dtype=torch.float32)
    return directory


def wait_until(condition: Callable[[], bool], *, seconds: float = 15) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "the condition never came true"
        time.sleep(0.005)


def exchange(address: tuple[str, int], request: bytes) -> bytes:
    """Send bytes, with the Host header and the blank line if there is none, and read until the server closes."""
    if b"\r\n\r\n" not in request:
        request += b"Host: localhost\r\n\r\n"
    with socket.create_connection(address, timeout=20) as connection:
        connection.sendall(request)
        answer = b""
        while chunk := connection.recv(65536):
            answer += chunk
    return answer
