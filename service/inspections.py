"""Sentences laid open, one at a time: an inspection may wait, translations may not wait for many of them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

from model.heads import Head
from model.inspection import Inspection, head_numbers, inspect
from model.plain import plain, plain_head, weights_in
from model.translator import SentenceTooLong, Translator
from model.what_if import WhatIf
from service.errors import InvalidValue, OverTextLimit, QueueFull, ServiceError, clip
from service.languages import Direction
from service.models import Models

MOST_WAITING = 16  # inspections
MOST_PIECES = 64  # of the source
MOST_WEIGHTS = 1_000_000  # in one answer: about 6 MB

Render = Callable[[Inspection, Translator], Any]


class Inspections:
    """Asks the thread that owns the model, with no more than one inspection between two batches."""

    def __init__(self, models: Models) -> None:
        self._models = models
        self._turn = asyncio.Lock()
        self._waiting = 0

    async def everything(self, text: str, direction: Direction, changes: dict[str, Any]) -> bytes:
        """JSON, as `model.plain` has it. Raises QueueFull, OverTextLimit, InvalidValue, what Batcher.run raises."""
        return await self._inspect(text, direction, changes, _everything)

    async def head(self, text: str, direction: Direction, changes: dict[str, Any], head: Head) -> bytes:
        """The numbers of one head; the same is raised."""
        return await self._inspect(
            text, direction, changes, lambda inspection, _: plain_head(head_numbers(inspection, head))
        )

    async def _inspect(
        self, text: str, direction: Direction, changes: dict[str, Any], render: Render
    ) -> bytes:
        if self._waiting >= MOST_WAITING:
            raise QueueFull("The service is busy; please try again in a moment.")
        self._waiting += 1
        try:
            async with self._turn:
                with self._models.batcher(direction) as batcher:
                    answer = await batcher.run(
                        lambda translator: _work(translator, text, direction, changes, render)
                    )
        finally:
            self._waiting -= 1
        if isinstance(answer, ServiceError):
            raise answer
        return answer


def _work(
    translator: Translator, text: str, direction: Direction, changes: dict[str, Any], render: Render
) -> bytes | ServiceError:
    """In the thread of the model; what the client is to blame for comes back as a value."""
    try:
        sentence = translator.prepare(text, *direction)
    except SentenceTooLong as error:
        return OverTextLimit(f"text: {error}.", field="text")
    if len(sentence.ids) > MOST_PIECES:
        return _too_long(len(sentence.ids))
    try:
        inspection = inspect(translator, sentence, WhatIf(**_spelled(changes, translator)))
        config = translator.model.config
        if weights_in(config, len(sentence.ids), len(inspection.target_ids)) > MOST_WEIGHTS:
            return _too_long(len(sentence.ids))
        answer = render(inspection, translator)
    except ValueError as error:
        field = str(error).partition(":")[0]
        return InvalidValue(clip(str(error), characters=200), field=field)
    return json.dumps(answer, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()


def _spelled(changes: dict[str, Any], translator: Translator) -> dict[str, Any]:
    """A beginning that was written as text, in ids."""
    prefix = changes.get("prefix", ())
    ids = translator.tokenizer.encode_target(prefix) if isinstance(prefix, str) else prefix
    return changes | {"prefix": tuple(ids)}


def _everything(inspection: Inspection, translator: Translator) -> dict[str, Any]:
    return {"model": translator.name, **plain(inspection, translator.model.config)}


def _too_long(pieces: int) -> OverTextLimit:
    return OverTextLimit(
        f"text: a sentence of {pieces} pieces; the glass box shows up to {MOST_PIECES}.",
        field="text",
        size=pieces,
        limit=MOST_PIECES,
    )
