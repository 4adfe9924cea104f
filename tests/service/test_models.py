"""Several models in one service: found, listed, joined by detours, exchanged without losing a request."""

from __future__ import annotations

import asyncio
import shutil
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from model.alignment import Alignment, composed
from model.search.options import DecodingOptions
from model.translator import Hypothesis
from service.batcher import Batcher, WorkerState
from service.errors import NotReady, WorkerDied
from service.models import Found, Models, model_folders, version_of
from service.text.reading import Reading
from service.text_translator import TextTranslator
from tests.service.conftest import UpperCase

OPTIONS = DecodingOptions(strategy="greedy")


class Tagging(UpperCase):
    """Says the same with the name of its target language behind each word, so that it shows who said what."""

    def __init__(self, name: str, *directions: tuple[str, str]) -> None:
        super().__init__()
        self.name = name
        self.directions = directions  # type: ignore[assignment]

    def translate(self, sentences, options: DecodingOptions) -> list[list[Hypothesis]]:
        assert self.gate.wait(20)
        return [
            [Hypothesis(self._say(one.text, one.target_language), -1.0, (), (), truncated=False)]
            for one in sentences
        ]

    def align(self, sentence, target: str) -> Alignment:
        words, said = sentence.text.split(" "), target.split(" ")
        rows = [[float(column == row) for column in range(len(words))] for row in range(len(said))]
        return Alignment(rows, _spans(words), _spans(said))

    def _say(self, text: str, language: str) -> str:
        return " ".join(f"{word}-{language}" if word[0].isalpha() else word for word in text.split(" "))


def _spans(words: list[str]) -> list[tuple[int, int]]:
    spans, at = [], 0
    for word in words:
        spans.append((at, at + len(word)))
        at += len(word) + 1
    return spans


def forgetful(one: Found, failed: Any) -> Batcher:
    return Batcher(one.load, queue_tokens=10_000, on_load_failure=failed)


@asynccontextmanager
async def serving(
    find: Callable[[], list[Found]], make: Callable[[Found, Any], Batcher] = forgetful
) -> AsyncIterator[Models]:
    models = Models(find, make)
    models.start()
    try:
        while any(batcher.state is WorkerState.LOADING for batcher in models.batchers):
            await asyncio.sleep(0.005)
        yield models
    finally:
        await models.stop()


def found(*translators: Any, version: str = "1") -> list[Found]:
    def loader(translator: Any) -> Callable[[], Any]:
        return lambda: translator

    return [Found(one.name, version, loader(one)) for one in translators]


def from_german() -> Tagging:
    return Tagging("de-en", ("de", "en"), ("en", "de"))


def to_french() -> Tagging:
    return Tagging("en-fr", ("en", "fr"), ("fr", "en"))


async def translated(models: Models, *arguments: Any) -> Any:
    text_translator = TextTranslator(models)
    try:
        return await text_translator.translate(*arguments)
    finally:
        text_translator.close()


def test_directions_are_those_of_all_models_and_detours_through_english() -> None:
    async def check() -> None:
        async with serving(lambda: found(from_german(), to_french())) as models:
            assert models.direct_directions == (("de", "en"), ("en", "de"), ("en", "fr"), ("fr", "en"))
            assert set(models.directions) - set(models.direct_directions) == {("de", "fr"), ("fr", "de")}
            assert models.names == ("de-en", "en-fr")

    asyncio.run(check())


def test_a_detour_goes_through_english_and_says_so() -> None:
    async def check() -> None:
        async with serving(lambda: found(from_german(), to_french())) as models:
            [text] = await translated(models, ["eins zwei"], ("de", "fr"), OPTIONS)
            assert text.text == "eins-en-fr zwei-en-fr"
            assert (text.through, text.model) == ("en", "de-en, en-fr")
            [direct] = await translated(models, ["eins"], ("de", "en"), OPTIONS)
            assert (direct.through, direct.model) == (None, "de-en")

    asyncio.run(check())


def test_what_must_not_change_markup_and_terms_survive_a_detour() -> None:
    async def check() -> None:
        async with serving(lambda: found(from_german(), to_french())) as models:
            reading = Reading(markup="html")
            [text] = await translated(
                models, ["<p>eins <b>zwei {name}</b> drei</p>"], ("de", "fr"), OPTIONS, reading
            )
            assert text.text.count("{name}") == 1
            assert text.text.index("<b>zwei") < text.text.index("{name}</b>") < text.text.index("drei")
            assert text.lost == ()

    asyncio.run(check())


def test_alignments_are_composed_through_the_text_between() -> None:
    first = Alignment([[1.0, 0.0], [0.0, 1.0]], [(0, 2), (2, 5)], [(0, 3), (3, 6)])
    second = Alignment([[1.0, 0.0, 0.0], [0.0, 0.5, 0.5]], [(0, 3), (3, 4), (4, 6)], [(0, 1), (1, 2)])
    assert composed(first, second) == Alignment(
        [[1.0, 0.0], [0.0, 1.0]], first.source_spans, second.target_spans
    )


def test_nothing_is_said_before_every_model_is_ready() -> None:
    async def check() -> None:
        gate = threading.Event()

        def slowly() -> Tagging:
            assert gate.wait(20)
            return to_french()

        models = Models(
            lambda: [*found(from_german()), Found("slow", "1", slowly)],  # type: ignore[arg-type]
            lambda one, _: Batcher(one.load, queue_tokens=10_000),
        )
        models.start()
        try:
            with pytest.raises(NotReady):
                models.check_ready()
            gate.set()
            while any(batcher.state is WorkerState.LOADING for batcher in models.batchers):
                await asyncio.sleep(0.005)
            models.check_ready()
        finally:
            await models.stop()

    asyncio.run(check())


def test_a_reload_takes_in_new_models_and_lets_old_ones_go() -> None:
    async def check() -> None:
        there = found(from_german())
        async with serving(lambda: there) as models:
            there[:] = found(to_french())
            await models.reload()
            assert models.names == ("en-fr",)
            there.clear()
            await models.reload()
            assert models.names == ("en-fr",), "an empty folder is a mistake, not a wish"

    asyncio.run(check())


def test_a_reload_leaves_a_model_alone_that_has_not_changed() -> None:
    async def check() -> None:
        there = found(from_german())
        async with serving(lambda: there) as models:
            before = models.batchers
            await models.reload()
            assert models.batchers == before
            there[:] = found(from_german(), version="2")
            await models.reload()
            assert models.batchers != before

    asyncio.run(check())


def test_a_reloaded_model_gives_answers_of_its_own() -> None:
    """What the old one said is remembered as its own, and goes with it."""

    async def check() -> None:
        there = found(from_german())

        def with_memory(one: Found, failed: Any) -> Batcher:
            return Batcher(one.load, queue_tokens=10_000, cache_sentences=100, on_load_failure=failed)

        async with serving(lambda: there, with_memory) as models:
            [text] = await translated(models, ["satz"], ("de", "en"), OPTIONS)
            assert text.text == "satz-en"
            newer = from_german()
            newer.translate = lambda sentences, options: [  # type: ignore[method-assign]
                [Hypothesis(one.text.upper(), -1.0, (), (), truncated=False)] for one in sentences
            ]
            there[:] = found(newer, version="2")
            await models.reload()
            [text] = await translated(models, ["satz"], ("de", "en"), OPTIONS)
            assert text.text == "SATZ"

    asyncio.run(check())


def test_requests_on_their_way_are_answered_by_the_model_that_they_began_with() -> None:
    async def check() -> None:
        old, new = from_german(), from_german()
        there = found(old)
        async with serving(lambda: there) as models:
            old.gate.clear()
            tasks = [
                asyncio.create_task(translated(models, [f"satz {n}"], ("de", "en"), OPTIONS))
                for n in range(20)
            ]
            await asyncio.sleep(0.05)
            there[:] = found(new, version="2")
            await models.reload()
            [fresh] = await translated(models, ["neu"], ("de", "en"), OPTIONS)
            assert fresh.text == "neu-en"
            assert not any(task.done() for task in tasks)
            old.gate.set()
            for number, [text] in enumerate(await asyncio.gather(*tasks)):
                assert text.text == f"satz-en {number}"

    asyncio.run(check())


def test_a_model_that_cannot_be_loaded_leaves_the_old_one_in_its_place(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def check() -> None:
        there = found(from_german())
        async with serving(lambda: there) as models:

            def broken() -> Any:
                raise ValueError("damaged")

            there[:] = [Found("de-en", "2", broken)]
            await models.reload()
            [text] = await translated(models, ["eins"], ("de", "en"), OPTIONS)
            assert text.text == "eins-en"

    asyncio.run(check())
    assert "what was served is served on" in caplog.text


def test_a_model_that_cannot_be_loaded_at_the_start_is_told_to_whoever_asked() -> None:
    failed = threading.Event()

    async def check() -> None:
        def broken() -> Any:
            raise ValueError("damaged")

        models = Models(
            lambda: [Found("x", "1", broken)],
            lambda one, failure: Batcher(one.load, queue_tokens=10, on_load_failure=failure),
        )
        models.start(failed.set)
        assert await asyncio.to_thread(failed.wait, 10)
        with pytest.raises(WorkerDied):
            models.check_ready()
        await models.stop()

    asyncio.run(check())


def test_a_folder_of_models_is_told_from_a_model(tiny_model: Path, tmp_path: Path) -> None:
    assert model_folders(tiny_model) == [tiny_model]
    several = tmp_path / "several"
    for name in ("b", "a", ".a.old"):
        shutil.copytree(tiny_model, several / name)
    shutil.copytree(tiny_model, several / "run" / "model")
    (several / "notes").mkdir()
    assert [folder.name for folder in model_folders(several)] == ["a", "b", "run"]
    assert model_folders(several / "run") == [several / "run"]
    assert model_folders(tmp_path / "nothing") == []


def test_the_version_of_a_model_changes_with_its_parts(tiny_model: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(tiny_model, tmp_path / "one")
    before = version_of(folder)
    assert version_of(tiny_model) == before
    checksums = folder / "checksums.json"
    checksums.write_text(checksums.read_text().replace("a", "b", 1))
    assert version_of(folder) != before
