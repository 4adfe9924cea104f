"""Everything that can go wrong for a client, and the status it becomes.

ServiceError
├── InvalidRequest                 the request cannot be understood
│   ├── InvalidJSON                not JSON, or JSON of a kind that would be read differently by others
│   ├── InvalidValue               a field is missing, of a wrong type or out of range
│   ├── UnsupportedLanguage        no model here knows this language
│   └── UnavailablePair            both languages are known, the direction is not
├── UnsupportedContentType         neither JSON nor (where allowed) a form
├── TooMuch                        over a limit; the same request will never be accepted
│   └── OverTextLimit              too many texts, or one that is too long
├── MissingKey                     a key is required here
├── WrongKey                       this one is not known
├── Disabled                       the operator has not switched this on
├── NotFound                       no such glossary, document or file, or not of this account
├── QuotaExceeded                  the account has used up its characters
├── TooManyRequests                too fast; try again later (Retry-After)
├── RequestTimeout                 the body did not arrive in time
├── ClientDisconnected             nobody is left to read the answer
├── TranslationFailed              the model failed on this request; others are unaffected
└── Unavailable                    try again later (Retry-After)
    ├── NotReady                   the model is still being loaded
    ├── QueueFull                  as much work is waiting as the service accepts
    ├── NotDone                    the document is still being translated
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


class OverTextLimit(TooMuch):
    """`size` texts or characters are more than `limit`."""

    def __init__(self, message: str, *, field: str | None = None, size: int = 0, limit: int = 0) -> None:
        super().__init__(message, field=field)
        self.size = size
        self.limit = limit


class MissingKey(ServiceError): ...


class WrongKey(ServiceError): ...


class Disabled(ServiceError): ...


class NotFound(ServiceError): ...


class QuotaExceeded(ServiceError): ...


class TooManyRequests(ServiceError):
    """More than `limit` requests in a minute."""

    def __init__(
        self, message: str, *, field: str | None = None, limit: int = 0, retry_after_seconds: int = 1
    ) -> None:
        super().__init__(message, field=field)
        self.limit = limit
        self.retry_after_seconds = retry_after_seconds


class RequestTimeout(ServiceError): ...


class ClientDisconnected(ServiceError): ...


class TranslationFailed(ServiceError): ...


class Unavailable(ServiceError):
    retry_after_seconds = 1


class NotReady(Unavailable): ...


class QueueFull(Unavailable): ...


class NotDone(Unavailable): ...


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
    OverTextLimit: (413, "over_text_limit"),
    MissingKey: (401, "missing_key"),
    WrongKey: (403, "wrong_key"),
    Disabled: (403, "disabled"),
    NotFound: (404, "not_found"),
    QuotaExceeded: (429, "quota_exceeded"),
    TooManyRequests: (429, "too_many_requests"),
    RequestTimeout: (408, "request_timeout"),
    ClientDisconnected: (499, "client_disconnected"),
    TranslationFailed: (500, "translation_failed"),
    Unavailable: (503, "unavailable"),
    NotReady: (503, "not_ready"),
    QueueFull: (503, "queue_full"),
    NotDone: (503, "not_done"),
    WorkerDied: (503, "worker_died"),
    ShuttingDown: (503, "shutting_down"),
}
INTERNAL_ERROR = (500, "internal_error")


class ErrorAnswer:
    """What the client is told about any exception; a dialect gives it its shape, and may look at its kind."""

    def __init__(
        self,
        status: int,
        code: str,
        message: str,
        *,
        field: str | None = None,
        error: Exception | None = None,
    ) -> None:
        self.error = error
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
        answer = ErrorAnswer(status, code, error.message, field=error.field, error=error)
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
