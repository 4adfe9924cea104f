"""Everything that can go wrong for a client, and the status it becomes.

ServiceError
├── InvalidRequest                 the request cannot be understood
│   ├── InvalidJSON                not JSON, or JSON of a kind that would be read differently by others
│   ├── InvalidValue               a field is missing, of a wrong type or out of range
│   ├── UnsupportedLanguage        no model here knows this language
│   └── UnavailablePair            both languages are known, the direction is not
├── UnsupportedContentType         neither JSON nor (where allowed) a form
├── TooMuch                        over a limit; the same request will never be accepted
├── RequestTimeout                 the body did not arrive in time
├── ClientDisconnected             nobody is left to read the answer
├── TranslationFailed              the model failed on this request; others are unaffected
└── Unavailable                    try again later (Retry-After)
    ├── NotReady                   the model is still being loaded
    ├── QueueFull                  as much work is waiting as the service accepts
    ├── WorkerDied                 the thread that translates is gone; only a restart helps
    └── ShuttingDown

Messages may quote a short value of the client's (clipped), so they go into answers and never into logs.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from http import HTTPStatus
from typing import Any

from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException


class ServiceError(Exception):
    """An error with a message for the client and, where one is to blame, the field."""

    retry_after_seconds: int | None = None

    def __init__(self, message: str, *, field: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.field = field


class InvalidRequest(ServiceError): ...


class InvalidJSON(InvalidRequest): ...


class InvalidValue(InvalidRequest): ...


class UnsupportedLanguage(InvalidRequest): ...


class UnavailablePair(InvalidRequest): ...


class UnsupportedContentType(ServiceError): ...


class TooMuch(ServiceError): ...


class RequestTimeout(ServiceError): ...


class ClientDisconnected(ServiceError): ...


class TranslationFailed(ServiceError): ...


class Unavailable(ServiceError):
    retry_after_seconds = 1


class NotReady(Unavailable): ...


class QueueFull(Unavailable): ...


class WorkerDied(Unavailable):
    retry_after_seconds = 30


class ShuttingDown(Unavailable):
    retry_after_seconds = 5


# The one table: exception → (status, code). 499 is what nginx calls a client that hung up.
STATUS_AND_CODE: dict[type[ServiceError], tuple[int, str]] = {
    InvalidRequest: (400, "invalid_request"),
    InvalidJSON: (400, "invalid_json"),
    InvalidValue: (400, "invalid_value"),
    UnsupportedLanguage: (400, "unsupported_language"),
    UnavailablePair: (400, "unavailable_pair"),
    UnsupportedContentType: (415, "unsupported_content_type"),
    TooMuch: (413, "too_much"),
    RequestTimeout: (408, "request_timeout"),
    ClientDisconnected: (499, "client_disconnected"),
    TranslationFailed: (500, "translation_failed"),
    Unavailable: (503, "unavailable"),
    NotReady: (503, "not_ready"),
    QueueFull: (503, "queue_full"),
    WorkerDied: (503, "worker_died"),
    ShuttingDown: (503, "shutting_down"),
}
INTERNAL_ERROR = (500, "internal_error")


class ErrorAnswer:
    """What the client is told about any exception; a dialect gives it its shape."""

    def __init__(self, status: int, code: str, message: str, *, field: str | None = None) -> None:
        self.status = status
        self.code = code
        self.message = message
        self.field = field
        self.headers: dict[str, str] = {}

    def __repr__(self) -> str:
        return f"<ErrorAnswer {self.status} {self.code} field={self.field!r}>"


def answer_for(error: Exception) -> ErrorAnswer:
    """The status, code, message and headers that `error` becomes; an unknown one says nothing of itself."""
    if isinstance(error, ServiceError):
        status, code = STATUS_AND_CODE[type(error)]
        answer = ErrorAnswer(status, code, error.message, field=error.field)
        if error.retry_after_seconds is not None:
            answer.headers["Retry-After"] = str(error.retry_after_seconds)
        return answer
    if isinstance(error, RequestValidationError):
        return answer_for(first_invalid_value(error.errors()))
    if isinstance(error, HTTPException):
        code = HTTPStatus(error.status_code).phrase.lower().replace(" ", "_").replace("-", "_")
        allowed = (error.headers or {}).get("Allow")
        message = f"{error.detail}: this path answers {allowed}." if allowed else error.detail
        answer = ErrorAnswer(error.status_code, code, message)
        answer.headers.update(error.headers or {})
        return answer
    status, code = INTERNAL_ERROR
    return ErrorAnswer(status, code, "The service failed while answering this request.")


def first_invalid_value(problems: Iterable[Any]) -> InvalidValue:
    """The first of pydantic's complaints as one of ours; the input it carries along is left behind."""
    problem = next(iter(problems))
    path = [part for part in problem["loc"] if part != "body"]
    field = dotted(path)
    kind = problem["type"]
    if kind == "missing":
        return InvalidValue(
            f"{field} is missing." if field else "A JSON body is missing.", field=field or None
        )
    if kind == "extra_forbidden":
        return InvalidValue(f"{field} is not a known field.", field=field)
    reason = problem["msg"].removeprefix("Value error, ")
    return InvalidValue(f"{field}: {reason}" if field else reason, field=field or None)


def dotted(path: Iterable[str | int]) -> str:
    """('decoding', 'beam_size') → 'decoding.beam_size', ('text', 2) → 'text[2]'."""
    name = ""
    for part in path:
        if isinstance(part, int):
            name += f"[{part}]"
        else:
            name += ("." if name else "") + clip(part)
    return name


def clip(value: object, *, characters: int = 40) -> str:
    """A client's value, short and printable, so that an answer may name it."""
    text = value if isinstance(value, str) else json.dumps(value, default=str)
    text = "".join(
        character if character.isprintable() else "\N{REPLACEMENT CHARACTER}" for character in text
    )
    return text if len(text) <= characters else text[:characters] + "…"


def whereabouts(error: BaseException) -> str:
    """The type and place of an exception without its message, which may hold a user's text: fit for logs."""
    traceback = error.__traceback__
    if traceback is None:
        return type(error).__name__
    while traceback.tb_next is not None:
        traceback = traceback.tb_next
    code = traceback.tb_frame.f_code
    return f"{type(error).__name__} at {code.co_filename}:{traceback.tb_lineno} in {code.co_name}"
