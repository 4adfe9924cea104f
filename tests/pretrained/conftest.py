"""The bundled model inside the service, without HTTP, over PyTorch and as it is served."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from model.acceleration import accelerate
from model.directory import load_translator
from model.search.options import DecodingOptions
from model.translator import Translator
from service.batcher import Batcher, WorkerState
from service.languages import Direction
from service.models import Found, Models
from service.text.reading import PLAIN, Reading
from service.text.results import ServedText
from service.text_translator import TextTranslator

DIRECTORY = Path(__file__).parents[2] / "pretrained" / "en-de"
Translate = Callable[..., list[ServedText]]


@pytest.fixture(scope="session")
def translate() -> Iterator[Translate]:
    """translate(texts, reading, options): in PyTorch, whose numbers are those of training."""
    with serving(lambda: load_translator(DIRECTORY, device="cpu")) as translate:
        yield translate


@pytest.fixture(scope="session")
def translate_as_served() -> Iterator[Translate]:
    """The same by what this machine serves with: compiled, in int8, where that can be had."""

    def load() -> Translator:
        translator = load_translator(DIRECTORY, device="cpu")
        accelerate(translator)
        return translator

    with serving(load) as translate:
        yield translate


@contextlib.contextmanager
def serving(load: Callable[[], Translator]) -> Iterator[Translate]:
    models = Models(
        lambda: [Found("en-de", "1", load)], lambda found, _: Batcher(found.load, queue_tokens=1_000_000)
    )
    models.start()
    [batcher] = models.batchers
    while batcher.state is WorkerState.LOADING:
        time.sleep(0.01)
    text_translator = TextTranslator(models)

    def run(
        texts: list[str],
        reading: Reading = PLAIN,
        options: DecodingOptions | None = None,
        direction: Direction = ("en", "de"),
    ) -> list[ServedText]:
        work = text_translator.translate(texts, direction, options or DecodingOptions(), reading)
        return asyncio.run(work)

    yield run
    text_translator.close()
    batcher.stop()
