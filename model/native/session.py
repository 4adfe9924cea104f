"""Continuous batching: sentences join the search at any time, and leave as soon as they are done."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from ctypes import POINTER, byref, c_float, c_int, c_int32, c_int64
from typing import NamedTuple

from model.native.engine import NativeModel
from model.native.library import Options
from model.search.task import Found


class Request(NamedTuple):
    """One sentence to be translated; `name` is the caller's, for the answer."""

    name: int
    source: Sequence[int]  # ids, with all that frames them
    beam_size: int  # 1: greedy search
    n_best: int
    length_penalty: float
    min_length: int  # in target ids, the end not counted
    max_length: int
    look_ahead: int | None = None
    margin: float = math.inf


class NativeSession:
    """The search over all sentences that are in work, in compiled code that holds no lock of Python's.

    Finds what model/search finds. One thread works on a session at a time; several sessions share one model.
    """

    def __init__(self, model: NativeModel, *, start_id: int, eos_id: int, banned_ids: Sequence[int]) -> None:
        self._model, self._library = model, model.library
        banned = (c_int32 * len(banned_ids))(*banned_ids)
        self._session = self._library.dragoman_session(model.model, start_id, eos_id, banned, len(banned))
        if not self._session:
            raise MemoryError("no memory for a session")

    @property
    def rows(self) -> int:
        """Unfinished hypotheses: what a step works on."""
        return int(self._library.dragoman_session_rows(self._session))

    def add(self, requests: Sequence[Request]) -> None:
        """Encode the sentences, and search for them from the next step on."""
        ids = [token for request in requests for token in request.source]
        options = [
            Options(
                *(one.beam_size, one.n_best, one.min_length, one.max_length),
                one.max_length + 1 if one.look_ahead is None else min(one.look_ahead, one.max_length + 1),
                *(one.length_penalty, one.margin),
            )
            for one in requests
        ]
        if self._library.dragoman_session_add(
            self._session,
            (c_int64 * len(requests))(*(request.name for request in requests)),
            (c_int64 * len(ids))(*ids),
            (c_int32 * len(requests))(*(len(request.source) for request in requests)),
            (Options * len(requests))(*options),
            len(requests),
        ):
            raise MemoryError(f"no memory for {len(requests)} sentences")

    def advance(self, steps: int) -> list[tuple[int, list[Found]]]:
        """Up to so many steps, fewer when a sentence gets done: names and hypotheses of those that are, best first."""
        answers = self._library.dragoman_session_advance(self._session, steps)
        if answers < 0:
            raise MemoryError(f"no memory for a step of {self.rows} rows")
        return list(self._take(answers))

    def drop(self, name: int) -> None:
        """Forget a sentence."""
        self._library.dragoman_session_drop(self._session, name)

    def _take(self, answers: int) -> Iterator[tuple[int, list[Found]]]:
        name, hypotheses = c_int64(), c_int()
        for _ in range(answers):
            answer = self._library.dragoman_session_take(self._session, byref(name), byref(hypotheses))
            yield name.value, [self._hypothesis(answer, place) for place in range(hypotheses.value)]

    def _hypothesis(self, answer: int, place: int) -> Found:
        ids, id_scores = POINTER(c_int32)(), POINTER(c_float)()
        length, scored, score, truncated = c_int(), c_int(), c_float(), c_int()
        self._library.dragoman_hypothesis(
            answer, place, *map(byref, (ids, length, id_scores, scored, score, truncated))
        )
        return Found(
            tuple(ids[: length.value]), tuple(id_scores[: scored.value]), score.value, bool(truncated.value)
        )

    def __del__(self) -> None:
        if getattr(self, "_session", None):
            self._library.dragoman_session_free(self._session)
