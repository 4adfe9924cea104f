"""The server around CTranslate2: batches of what waits, each request with its own answer."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence

import pytest

pytest.importorskip("ctranslate2", reason="needs what `make install-exchange` installs")

from fastapi.testclient import TestClient

from benchmarks.ct2_server import Batches, create_app
from benchmarks.opponent import BATCH_TOKENS
from model.directory import load_translator
from model.search import DecodingOptions
from model.texts import translate_texts
from tests.browser.small_model import PAIRS

BODY = {"source": "en", "target": "de", "decoding": {"strategy": "greedy"}}


class Loud:
    """An engine that shouts, once the gate is open."""

    def __init__(self) -> None:
        self.gate = threading.Event()
        self.began = threading.Semaphore(0)
        self.batches: list[tuple[int, int]] = []  # sentences and beam

    def translate(self, sources: Sequence[list[str]], beam: int) -> list[str]:
        self.batches.append((len(sources), beam))
        self.began.release()
        assert self.gate.wait(20)
        if ["boom"] in sources:
            raise RuntimeError("no such piece")
        return [" ".join(source).upper() for source in sources]


async def hold(batches: Batches, engine: Loud) -> list[asyncio.Task[list[str]]]:
    """Both threads at work, so that what comes next waits."""
    held = []
    for name in ("a", "b"):
        held.append(asyncio.create_task(batches.translate([[name]], 1)))
        await asyncio.to_thread(engine.began.acquire)
    return held


def test_what_waits_is_translated_together_and_every_request_gets_its_own() -> None:
    async def scenario() -> Loud:
        engine = Loud()
        batches = Batches(engine, 2)  # type: ignore[arg-type]
        held = await hold(batches, engine)
        waiting = [asyncio.create_task(batches.translate([[f"x{i}"], [f"y{i}"]], 1)) for i in range(10)]
        await asyncio.sleep(0.05)
        engine.gate.set()
        assert await asyncio.gather(*held) == [["A"], ["B"]]
        assert await asyncio.gather(*waiting) == [[f"X{i}", f"Y{i}"] for i in range(10)]
        assert await batches.translate([], 1) == []
        return engine

    engine = asyncio.run(scenario())
    assert engine.batches[:3] == [(1, 1), (1, 1), (20, 1)]


def test_a_batch_has_one_beam_size_and_no_more_than_its_tokens() -> None:
    async def scenario() -> Loud:
        engine = Loud()
        batches = Batches(engine, 2)  # type: ignore[arg-type]
        held = await hold(batches, engine)
        half = BATCH_TOKENS // 2
        asked = [([["w"] * half] * 3, 1), ([["x"]] * 4, 4), ([["y"]], 1)]
        waiting = [asyncio.create_task(batches.translate(sources, beam)) for sources, beam in asked]
        await asyncio.sleep(0.05)
        engine.gate.set()
        await asyncio.gather(*held, *waiting)
        return engine

    engine = asyncio.run(scenario())
    assert sorted(engine.batches[2:]) == [(1, 1), (1, 1), (2, 1), (4, 4)]


def test_a_batch_that_fails_fails_its_requests_and_no_others() -> None:
    async def scenario() -> None:
        engine = Loud()
        engine.gate.set()
        batches = Batches(engine, 1)  # type: ignore[arg-type]
        with pytest.raises(RuntimeError, match="no such piece"):
            await batches.translate([["boom"], ["a"]], 1)
        assert await batches.translate([["a"]], 1) == ["A"]

    asyncio.run(scenario())


@pytest.mark.parametrize(
    ("strategy", "options"),
    [("greedy", DecodingOptions(strategy="greedy")), ("beam", DecodingOptions(strategy="beam", beam_size=4))],
)
def test_it_answers_what_this_project_does(small_model, exported, strategy, options) -> None:
    texts = [english for english, _ in PAIRS]
    texts += ["Good morning! Good night!", "  Good night!\n\n1 + 1\n", " ".join(texts * 5), "", "12"]
    own = translate_texts(load_translator(small_model, device="cpu"), texts, "en", "de", options)
    with TestClient(create_app(exported, kind="float32", workers=2, threads=1)) as client:
        for text, translated in zip(texts, own, strict=True):
            body = BODY | {"text": text, "decoding": {"strategy": strategy}}
            answer = client.post("/v1/translate", json=body)
            assert answer.json() == {"translation": {"text": translated.text}}


def test_it_refuses_a_direction_that_it_has_not(exported) -> None:
    with TestClient(create_app(exported, kind="float32", workers=1, threads=1)) as client:
        assert client.post("/v1/translate", json=BODY | {"text": "a", "target": "fr"}).status_code == 422
