"""A translation as server-sent events: its sentences as they are done, then the whole."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from typing import Any

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from model.search.options import DecodingOptions
from service.callers import charging
from service.errors import InvalidValue, ServiceError, answer_for
from service.keys import Account
from service.limits import check_texts
from service.requested import Translated, Wanted
from service.state import ServiceState

MEDIA_TYPE = "text/event-stream"
HEADERS = {
    "Cache-Control": "no-store",
    "X-Accel-Buffering": "no",
}  # the second is for nginx, which would collect


def are_wanted(request: Request) -> bool:
    return MEDIA_TYPE in request.headers.get("accept", "").lower()


async def respond(
    state: ServiceState,
    account: Account,
    wanted: Wanted,
    options: DecodingOptions,
    render: Callable[[Translated], dict[str, Any]],
) -> Response:
    """`part` events with a piece of text each, then `done` with what `render` makes of the whole, or `error`.

    What goes wrong before the first part is raised, and becomes an answer like any other.
    """
    if len(wanted.texts) != 1:
        raise InvalidValue(
            f"{wanted.field}: only one text can be streamed, not {len(wanted.texts)}.", field=wanted.field
        )
    check_texts(wanted.texts, state.settings, field=wanted.field)
    events = _events(state, account, wanted, options, render)
    first = await anext(events)
    return StreamingResponse(_after(first, events), media_type=MEDIA_TYPE, headers=HEADERS)


async def _events(
    state: ServiceState,
    account: Account,
    wanted: Wanted,
    options: DecodingOptions,
    render: Callable[[Translated], dict[str, Any]],
) -> AsyncIterator[str]:
    has_begun = False
    try:
        directions = state.models.directions
        [source] = await state.sources.of(wanted.texts, wanted.source, wanted.target, directions)
        with charging(state, account, wanted.texts):
            parts = state.text_translator.stream(wanted.texts[0], source.direction, options, wanted.reading)
            async for part in parts:
                if isinstance(part, str):
                    yield _event("part", {"text": part})
                else:
                    yield _event("done", render(Translated(part, source)))
                has_begun = True
    except ServiceError as error:
        if not has_begun:
            raise
        answer = answer_for(error)
        yield _event("error", {"error": {"code": answer.code, "message": answer.message}})


async def _after(first: str, rest: AsyncIterator[str]) -> AsyncIterator[str]:
    yield first
    async for event in rest:
        yield event


def _event(name: str, data: dict[str, Any]) -> str:
    """JSON has no line break of its own, so that one line of data holds it."""
    return f"event: {name}\ndata: {json.dumps(data, ensure_ascii=False)}\n\n"
