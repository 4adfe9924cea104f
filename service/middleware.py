"""The onion around every request, outermost layer first. Plain ASGI: nothing here buffers or delays an answer."""

from __future__ import annotations

import asyncio
import logging
import secrets
import time
from collections.abc import Callable

from starlette.datastructures import Headers, MutableHeaders
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from service.callers import LimitHeaders
from service.dialects.by_request import dialect_of, holds_file, render_error
from service.errors import (
    QueueFull,
    RequestTimeout,
    ServiceError,
    ShuttingDown,
    TooMuch,
    answer_for,
    whereabouts,
)
from service.settings import Settings

access_logger = logging.getLogger("service.access")
logger = logging.getLogger(__name__)

# The page needs its own files and this service, and nothing else; no inline script or style.
_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})  # that a log may name
CONTENT_SECURITY_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
MAX_UPLOADS = 16  # files that are read and translated while their clients wait, since each may be large
SECURITY_HEADERS = {
    "Content-Security-Policy": CONTENT_SECURITY_POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
}


def onion(settings: Settings) -> list[Middleware]:
    """Every layer, outermost first."""
    return [
        Middleware(AccessLog),
        Middleware(SecurityHeaders),
        Middleware(
            CORSMiddleware,
            allow_origins=[origin.strip() for origin in settings.cors_origins.split(",") if origin.strip()],
            allow_methods=["GET", "POST", "PUT", "PATCH", "DELETE"],
            allow_headers=["Authorization", "Content-Type"],
            expose_headers=[
                "Retry-After",
                "X-Request-ID",
                "RateLimit-Limit",
                "RateLimit-Remaining",
                "RateLimit-Reset",
            ],
        ),
        Middleware(LimitHeaders),
        Middleware(ErrorBoundary),
        Middleware(RequestLimit, max_requests=settings.max_requests),
        Middleware(RequestLimit, max_requests=MAX_UPLOADS, counts=holds_file),
        Middleware(
            BodyLimit,
            max_bytes=settings.max_body_bytes,
            max_file_bytes=settings.max_file_bytes,
            seconds=settings.body_seconds,
        ),
    ]


class AccessLog:
    """Gives each request an id and logs what became of it: template of the route, never path, query or body."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await self.app(scope, receive, send)
        request_id, dialect = secrets.token_hex(8), dialect_of(scope)
        started = time.perf_counter()
        status = 0

        async def send_with_id(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = MutableHeaders(scope=message)
                headers["X-Request-ID"] = request_id
                if dialect.id_header:
                    headers[dialect.id_header] = request_id
            await send(message)

        try:
            await self.app(scope, receive, send_with_id)
        finally:
            milliseconds = 1000 * (time.perf_counter() - started)
            method = scope["method"] if scope["method"] in _METHODS else "(other)"
            access_logger.info(
                "%s %s %d %.1fms id=%s", method, _label(scope, status), status, milliseconds, request_id
            )


def _label(scope: Scope, status: int) -> str:
    """What the log calls a request: the route's template, or a path that proved to be ours; never a client's text."""
    template: str | None = getattr(scope.get("route"), "path", None)
    return template or (scope["path"] if status in (200, 304) else "(unknown)")


class SecurityHeaders:
    """Tells browsers to run nothing but our own files."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await self.app(scope, receive, send)

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(SECURITY_HEADERS)
            await send(message)

        await self.app(scope, receive, send_with_headers)


class ErrorBoundary:
    """Turns what no handler has caught into the dialect's JSON, and logs its place without its message."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await self.app(scope, receive, send)
        has_started = False

        async def send_and_note(message: Message) -> None:
            nonlocal has_started
            has_started = True
            await send(message)

        try:
            await self.app(scope, receive, send_and_note)
        except asyncio.CancelledError:
            # uvicorn cancels what has not ended when its patience with the last requests does.
            await self._answer(
                ShuttingDown("The service is shutting down."), has_started, scope, receive, send
            )
        except Exception as error:
            if not isinstance(error, ServiceError):
                logger.error("an unexpected failure: %s", whereabouts(error))
            await self._answer(error, has_started, scope, receive, send)

    async def _answer(
        self, error: Exception, has_started: bool, scope: Scope, receive: Receive, send: Send
    ) -> None:
        if not has_started:  # else the server sees an unfinished answer and closes the connection
            await render_error(scope, answer_for(error))(scope, receive, send)


class RequestLimit:
    """Bounds the requests in work, and with them the memory that their bodies hold. Reading (GET) is always served."""

    def __init__(
        self, app: ASGIApp, *, max_requests: int, counts: Callable[[Scope], bool] = lambda scope: True
    ) -> None:
        self.app = app
        self._counts = counts
        self._max_requests = max_requests
        self._in_work = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if (
            scope["type"] != "http"
            or scope["method"] in ("GET", "HEAD", "OPTIONS")
            or not self._counts(scope)
        ):
            return await self.app(scope, receive, send)
        if self._in_work >= self._max_requests:
            raise QueueFull("The service is busy; please try again in a moment.")
        self._in_work += 1
        try:
            await self.app(scope, receive, send)
        finally:
            self._in_work -= 1


class BodyLimit:
    """Reads the whole body, chunked or not, before anything looks at it: within a size and a time."""

    # A client that is still sending reads no answer; what it sends for so long is thrown away to let it see the 413.
    drain_seconds = 1.0

    def __init__(self, app: ASGIApp, *, max_bytes: int, seconds: float, max_file_bytes: int = 0) -> None:
        self.app = app
        self._max_bytes = max_bytes
        self._max_file_bytes = max_file_bytes or max_bytes
        self._seconds = seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await self.app(scope, receive, send)
        try:
            limit = self._max_file_bytes if holds_file(scope) else self._max_bytes
            body = await self._read(Headers(scope=scope), receive, limit)
        except (TooMuch, RequestTimeout) as error:
            answer = answer_for(error)
            answer.headers["Connection"] = "close"  # the rest of the body is not a next request
            return await render_error(scope, answer)(scope, receive, send)
        if body is None:
            return None  # the client left before it had sent everything
        replay: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

        async def receive_again() -> Message:
            return replay.pop() if replay else await receive()

        await self.app(scope, receive_again, send)

    async def _read(self, headers: Headers, receive: Receive, limit: int) -> bytes | None:
        declared = headers.get("content-length", "")
        if declared.isdecimal() and int(declared) > limit:
            if "100-continue" not in headers.get("expect", "").lower():
                await self._drain(receive)
            raise _too_much(limit)
        body = bytearray()
        try:
            async with asyncio.timeout(self._seconds):
                while True:
                    message = await receive()
                    if message["type"] == "http.disconnect":
                        return None
                    body += message.get("body", b"")
                    if len(body) > limit:
                        break
                    if not message.get("more_body", False):
                        return bytes(body)
        except TimeoutError:
            raise RequestTimeout(f"The body did not arrive within {self._seconds:g} seconds.") from None
        await self._drain(receive)
        raise _too_much(limit)

    async def _drain(self, receive: Receive) -> None:
        try:
            async with asyncio.timeout(self.drain_seconds):
                while (await receive()).get("more_body", False):
                    pass
        except TimeoutError:
            pass


def _too_much(limit: int) -> TooMuch:
    return TooMuch(f"The body exceeds the limit of {limit} bytes.")
