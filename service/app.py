"""The application: routes, errors, the onion, and the state that lives as long as it does."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any, TypedDict

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from model.directory import load_translator
from model.translator import Translator
from service.batcher import Batcher
from service.dialects import render_error
from service.errors import ServiceError, answer_for
from service.middleware import onion
from service.routes import health, libretranslate, page, v1
from service.settings import Settings
from service.state import ServiceState
from service.text_translator import TextTranslator

_DESCRIPTION = """
Two dialects over one model: `/v1` is this project's own; `/translate` and `/languages` answer clients written
for LibreTranslate. Errors under `/v1` are `{"error": {"code", "message", "field"?}}`, elsewhere as each
dialect's clients expect them. Empty, blank and letterless texts come back unchanged, and so does any text
whose source and target are the same language; line breaks, tabs and indentation always stay.
"""


class LifespanState(TypedDict):
    service: ServiceState


def create_app(
    settings: Settings,
    *,
    load: Callable[[], Translator] | None = None,
    on_load_failure: Callable[[], None] | None = None,
) -> FastAPI:
    """The ASGI application. It starts at once and loads the model in the background.

    `load` replaces the loading of `settings.model`; `on_load_failure` is called, in the worker thread, should
    that fail.
    """

    def load_model() -> Translator:
        return load_translator(settings.model, device=settings.device, dtype=settings.dtype)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[LifespanState]:
        batcher = Batcher(
            load or load_model,
            queue_tokens=settings.queue_tokens,
            batch_tokens=settings.batch_tokens,
            on_load_failure=on_load_failure,
        )
        batcher.start()
        text_translator = TextTranslator(batcher)
        try:
            yield {"service": ServiceState(settings, batcher, text_translator)}
        finally:
            text_translator.close()
            await asyncio.to_thread(batcher.stop)

    app = FastAPI(
        title="Dragoman",
        version="0.1.0",
        description=_DESCRIPTION,
        lifespan=lifespan,
        middleware=onion(settings),
        exception_handlers=dict.fromkeys((ServiceError, RequestValidationError, HTTPException), _answer),
        redirect_slashes=False,
        docs_url=None,  # the interactive pages load scripts from elsewhere, which the service must not need
        redoc_url=None,
    )
    for router in (v1.router, libretranslate.router, health.router, page.router):
        app.include_router(router)
    app.router.routes.append(page.static)
    app.openapi = _without_422(app.openapi)  # type: ignore[method-assign]
    return app


async def _answer(request: Request, error: Exception) -> Response:
    return render_error(request.scope["path"], answer_for(error))


def _without_422(generate: Callable[[], dict[str, Any]]) -> Callable[[], dict[str, Any]]:
    """FastAPI announces a 422 for every route with a body; here that is a 400 in the dialect's shape."""

    def openapi() -> dict[str, Any]:
        document = generate()
        for path in document["paths"].values():
            for operation in path.values():
                operation["responses"].pop("422", None)
        for name in ("HTTPValidationError", "ValidationError"):
            document["components"]["schemas"].pop(name, None)
        return document

    return openapi
