"""The language that each text is in: as its client says, or detected among those served."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

from service.languages import Direction, known_languages, resolve_direction, resolve_language
from service.text.detection import Detection, Detector

AUTO = "auto"
_FALLBACK = "en"  # what is named where nothing was detected, with confidence 0


class Source(NamedTuple):
    """Where a text comes from, and the direction it takes. Text in no language that is known here stays as it is."""

    direction: Direction
    detected: Detection | None  # None where the client said it

    @property
    def language(self) -> str:
        return self.detected.language if self.detected else self.direction[0]


class Sources:
    """Detects in a thread of its own, since a long text takes milliseconds, and reading the detector's data more."""

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="detector")
        self._detectors: dict[tuple[str, ...], Detector] = {}

    def close(self) -> None:
        self._thread.shutdown(wait=False, cancel_futures=True)

    async def detect(self, texts: Sequence[str], directions: Sequence[Direction]) -> list[list[Detection]]:
        """For each text the served languages that it can be in, likeliest first; none where there is no telling."""
        return await asyncio.get_running_loop().run_in_executor(
            self._thread, self._detect, list(texts), tuple(known_languages(directions))
        )

    async def of(
        self, texts: Sequence[str], source: str, target: str, directions: Sequence[Direction]
    ) -> list[Source]:
        """One for each text; raises UnsupportedLanguage or UnavailablePair."""
        if not is_auto(source):
            return [Source(resolve_direction(source, target, directions), None)] * len(texts)
        goal = resolve_language(target, directions, field="target")
        return [self._detected(ranked, goal, directions) for ranked in await self.detect(texts, directions)]

    def _detected(self, ranked: list[Detection], target: str, directions: Sequence[Direction]) -> Source:
        if not ranked:
            return Source((target, target), nothing(directions))
        return Source(resolve_direction(ranked[0].language, target, directions), ranked[0])

    def _detect(self, texts: list[str], languages: tuple[str, ...]) -> list[list[Detection]]:
        if languages not in self._detectors:
            self._detectors = {languages: Detector(languages)}
        detector = self._detectors[languages]
        return [list(detector.detect(text)) for text in texts]


def is_auto(source: str) -> bool:
    return source.strip().lower() == AUTO


def nothing(directions: Sequence[Direction]) -> Detection:
    """What is said of a text whose language there is no telling."""
    known = known_languages(directions)
    return Detection(_FALLBACK if _FALLBACK in known else known[0], 0.0)


def percent(confidence: float) -> int:
    return round(100 * confidence)
