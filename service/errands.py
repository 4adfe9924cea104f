"""Work for the model that is no translating, and how outcomes get from its threads to the event loop."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Any, NamedTuple

from model.translator import Translator
from service.errors import ServiceError, TranslationFailed, whereabouts

logger = logging.getLogger(__name__)


class Errand(NamedTuple):
    """Such as an alignment; its future's handler may have left."""

    work: Callable[[Translator], Any]
    future: asyncio.Future[Any]

    def run(self, translator: Translator) -> None:
        if self.future.cancelled():
            return
        outcome: Any
        try:
            outcome = self.work(translator)
        except Exception as error:
            logger.error("an errand failed: %s", whereabouts(error))
            outcome = TranslationFailed("The model failed on this text.")
        settle(self.future, outcome)


def settle(future: asyncio.Future[Any], outcome: Any) -> None:
    """Hand an outcome over to the event loop of the waiting handler, which may be gone."""

    def set_outcome() -> None:
        if future.done():
            return
        if isinstance(outcome, ServiceError):
            future.set_exception(outcome)
        else:
            future.set_result(outcome)

    try:
        future.get_loop().call_soon_threadsafe(set_outcome)
    except RuntimeError:  # the loop is closed
        logger.debug("an outcome came after the event loop had ended")
