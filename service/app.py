"""The application: routes, errors, the onion, and the state that lives as long as it does."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import signal
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any, TypedDict

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from model.acceleration import accelerate_soon
from model.directory import load_translator
from model.translator import Translator
from service.batcher import Batcher
from service.dialects import azure, google
from service.dialects.by_request import render_error
from service.dialects.deepl import documents as deepl_documents
from service.dialects.deepl import glossaries as deepl_glossaries
from service.dialects.deepl import routes as deepl
from service.dialects.libretranslate import files as libretranslate_files
from service.dialects.libretranslate import routes as libretranslate
from service.errors import ServiceError, answer_for
from service.files import Files
from service.glossaries import Glossaries
from service.inspections import Inspections
from service.keys import load_accounts
from service.middleware import onion
from service.models import Found, Models, model_folders, version_of
from service.rates import Rates
from service.routes import health, inspect, page, reading, v1
from service.settings import Settings
from service.sources import Sources
from service.state import ServiceState
from service.storage import Storage, UnusableFolder
from service.suggestions import Suggestions
from service.text_translator import TextTranslator
from service.usage import Usage

_DESCRIPTION = """
Several dialects over one model: `/v1` is this project's own; `/translate`, `/detect`, `/languages` and what stands
beside them answer clients written for LibreTranslate, `/v2` and `/v3` those written for DeepL. Errors under `/v1`
are `{"error": {"code", "message", "field"?}}`, elsewhere as each dialect's clients expect them. Empty, blank and
letterless texts come back unchanged, and so does any text whose source and target are the same language; line
breaks, tabs and indentation always stay.
"""

HOUSEKEEPING_SECONDS = 5.0
logger = logging.getLogger(__name__)


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
    that fail. Raises UnusableKeys or UnusableFolder.
    """
    accounts = load_accounts(settings)
    storage = Storage(Path(settings.state_folder) if settings.state_folder else None)
    if settings.suggestions == "on" and not storage.is_kept:
        raise UnusableFolder(
            "suggestions are on, which needs a state folder (--state-folder) to keep them in"
        )
    usage, glossaries = Usage(storage), Glossaries(storage)

    def load_model(folder: Path) -> Translator:
        translator = load_translator(folder, device=settings.device, dtype=settings.dtype)
        translator.plain.batch_pieces = settings.batch_tokens
        accelerate_soon(translator, engine=settings.engine, dtype=settings.dtype)
        return translator

    def find_models() -> list[Found]:
        if load is not None:
            return [Found("given", "", load)]
        folders = model_folders(settings.model) or [
            settings.model
        ]  # whose loading says what is wrong with it
        return [Found(folder.name, version_of(folder), partial(load_model, folder)) for folder in folders]

    def make_batcher(found: Found, on_failure: Callable[[], None] | None) -> Batcher:
        return Batcher(
            found.load,
            queue_tokens=settings.queue_tokens,
            cache_sentences=settings.cache_sentences,
            on_load_failure=on_failure,
        )

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[LifespanState]:
        models = Models(find_models, make_batcher)
        models.start(on_load_failure)
        _reload_on_hangup(models)
        text_translator = TextTranslator(models)
        sources = Sources()
        files = Files(seconds=60 * settings.file_minutes)
        keeping = asyncio.create_task(_keep_house(usage, files))
        state = ServiceState(
            settings,
            models,
            text_translator,
            sources,
            accounts,
            usage,
            Rates(),
            glossaries,
            files,
            Suggestions(storage),
            Inspections(models),
        )
        try:
            yield {"service": state}
        finally:
            keeping.cancel()
            await files.close()
            sources.close()
            text_translator.close()
            await models.stop()
            usage.save()

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
    for router in (
        v1.router,
        inspect.router,
        azure.router,  # before LibreTranslate's, whose paths it shares
        libretranslate.router,
        libretranslate_files.router,
        deepl.router,
        deepl_glossaries.router,
        deepl_documents.router,
        google.router,
        health.router,
        page.router,
        reading.router,
    ):
        app.include_router(router)
    app.router.routes.append(page.static)
    app.openapi = _without_422(app.openapi)  # type: ignore[method-assign]
    return app


async def _answer(request: Request, error: Exception) -> Response:
    return render_error(request.scope, answer_for(error))


def _reload_on_hangup(models: Models) -> None:
    """SIGHUP makes the service look for models again, where signals can be had: in the main thread, on Unix."""
    running: set[asyncio.Task[None]] = set()

    def reload() -> None:
        task = asyncio.create_task(models.reload())
        running.add(task)
        task.add_done_callback(running.discard)

    with contextlib.suppress(NotImplementedError, RuntimeError, ValueError, AttributeError):
        asyncio.get_running_loop().add_signal_handler(signal.SIGHUP, reload)


async def _keep_house(usage: Usage, files: Files) -> None:
    """What is done now and then, whether or not requests come."""
    while True:
        await asyncio.sleep(HOUSEKEEPING_SECONDS)
        files.forget_expired()
        try:
            await asyncio.to_thread(usage.save)
        except OSError as error:
            logger.error("the usage could not be saved: %s", error)


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
