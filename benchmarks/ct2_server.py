"""A translation server around CTranslate2, as one would write it: `python -m benchmarks.ct2_server FOLDER --port 9000`.

What `python -m service` is measured beside. It has what makes such a server fast, and nothing else: sentences of all
requests are translated together, a batch as soon as one of CTranslate2's workers is free, of what waits by then.
FOLDER is what `model.export` writes; texts are cut into sentences, and put together, by the code that the service has.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import math
import threading
from collections import deque
from collections.abc import Sequence
from pathlib import Path
from typing import Literal, NamedTuple

import uvicorn
from fastapi import FastAPI, HTTPException
from fastapi.concurrency import run_in_threadpool
from pydantic import BaseModel, Field

from benchmarks.opponent import BATCH_TOKENS, Opponent
from tokenizer import open_tokenizer
from tokenizer.segments import Segment, cut, put_back

SHORT = 1000  # characters that are cut at once: to hand them to a thread would take longer


class Decoding(BaseModel):
    strategy: Literal["greedy", "beam"] = "beam"
    beam_size: int = Field(default=4, ge=1, le=16)


class Body(BaseModel):
    text: str
    source: str
    target: str
    decoding: Decoding = Decoding()


class Translation(BaseModel):
    text: str


class Answer(BaseModel):
    translation: Translation


class Job:
    """The sentences of one request, and the future that its handler awaits."""

    def __init__(self, sources: Sequence[list[str]], beam: int) -> None:
        self.sources, self.beam = sources, beam
        self.texts = [""] * len(sources)
        self.remaining = len(sources)
        self.answer: asyncio.Future[list[str]] = asyncio.get_running_loop().create_future()


class Item(NamedTuple):
    """One sentence of a job."""

    job: Job
    place: int

    @property
    def source(self) -> list[str]:
        return self.job.sources[self.place]


class Batches:
    """A thread for each of the engine's workers; each takes what waits, in the order of arrival."""

    def __init__(self, engine: Opponent, threads: int) -> None:
        self._engine = engine
        self._changed = threading.Condition()
        self._waiting: deque[Item] = deque()
        self._idle = 0
        for _ in range(threads):
            threading.Thread(target=self._work, daemon=True).start()

    async def translate(self, sources: Sequence[list[str]], beam: int) -> list[str]:
        """One text for each source."""
        if not sources:
            return []
        job = Job(sources, beam)
        with self._changed:
            self._waiting.extend(Item(job, place) for place in range(len(sources)))
            self._changed.notify()
        return await job.answer

    def _work(self) -> None:
        while True:
            batch = self._take()
            outcome: list[str] | Exception
            try:
                outcome = self._engine.translate([item.source for item in batch], batch[0].job.beam)
            except Exception as error:
                outcome = error
            batch[0].job.answer.get_loop().call_soon_threadsafe(self._deliver, batch, outcome)

    def _take(self) -> list[Item]:
        """All that waits, or its share where other threads wait, too; of one beam size, and no more than a batch."""
        with self._changed:
            while not self._waiting:
                self._idle += 1
                self._changed.wait()
                self._idle -= 1
            share = math.ceil(len(self._waiting) / (1 + self._idle))
            batch = [self._waiting.popleft()]
            tokens = len(batch[0].source)
            while len(batch) < share and self._waiting[0].job.beam == batch[0].job.beam:
                tokens += len(self._waiting[0].source)
                if tokens > BATCH_TOKENS:
                    break
                batch.append(self._waiting.popleft())
            if self._waiting and self._idle:
                self._changed.notify()
            return batch

    def _deliver(self, batch: list[Item], outcome: list[str] | Exception) -> None:
        for i, item in enumerate(batch):
            job = item.job
            if job.answer.done():
                continue
            if isinstance(outcome, Exception):
                job.answer.set_exception(outcome)
                continue
            job.texts[item.place] = outcome[i]
            job.remaining -= 1
            if job.remaining == 0:
                job.answer.set_result(job.texts)


def create_app(folder: Path, *, kind: str, workers: int, threads: int) -> FastAPI:
    """The application; the model is read at once."""
    facts = json.loads((folder / "decoding.json").read_text())
    tokenizer = open_tokenizer({name: (folder / name).read_bytes() for name in facts["tokenizer"]})
    directions = {tuple(direction) for direction in facts["directions"]}
    longest = facts["longest_source"]
    engine = Opponent(folder, kind=kind, workers=workers, threads=threads, tokenizer=tokenizer)
    batches = Batches(engine, workers)
    app = FastAPI()

    def lay(text: str, source: str, target: str) -> tuple[list[Segment], list[list[str]]]:
        """Its segments, and those that are sentences as the engine wants them."""
        prefix = tokenizer.source_prefix(target)
        frame = len(prefix) + 1
        segments = cut(text, source, lambda part: len(tokenizer.encode(part)) + frame <= longest)
        ids = [
            (*prefix, *tokenizer.encode(one.text), tokenizer.eos_id) for one in segments if one.is_sentence
        ]
        return segments, [engine.spell(one) for one in ids]

    @app.post("/v1/translate")
    async def translate(body: Body) -> Answer:
        source, target = body.source, body.target
        if (source, target) not in directions:
            raise HTTPException(422, f"{source}→{target} is not served")
        if len(body.text) <= SHORT:
            segments, sources = lay(body.text, source, target)
        else:
            segments, sources = await run_in_threadpool(lay, body.text, source, target)
        beam = body.decoding.beam_size if body.decoding.strategy == "beam" else 1
        texts = iter(await batches.translate(sources, beam))
        text = put_back(segments, texts, source_language=source, target_language=target)
        return Answer(translation=Translation(text=text))

    return app


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path, help="an export for CTranslate2")
    parser.add_argument("--port", type=int, default=9000)
    parser.add_argument("--kind", default="int8", help="of its weights: int8 or float32")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--threads", type=int, default=1, help="of each worker")
    options = parser.parse_args()
    app = create_app(options.folder, kind=options.kind, workers=options.workers, threads=options.threads)
    uvicorn.run(app, port=options.port, log_level="warning", access_log=False)


if __name__ == "__main__":
    main()
