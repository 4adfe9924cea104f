"""Errors as DeepL's libraries read them: a text under "message", and statuses that they know."""

from __future__ import annotations

from typing import Any

from service.dialects.deepl import answers
from service.errors import ErrorAnswer, MissingKey, QuotaExceeded, ServiceError

# Their libraries know 403 for whatever is wrong with a key, and take 401 for an accident.
_STATUS: dict[type[ServiceError], int] = {MissingKey: 403, QuotaExceeded: 456}


def shape(answer: ErrorAnswer) -> tuple[int, dict[str, Any]]:
    status = _STATUS.get(type(answer.error), answer.status)  # type: ignore[arg-type]
    return status, {"message": answer.message}


# For the OpenAPI description.
ERRORS: dict[int | str, dict[str, Any]] = {
    status: {"model": answers.ErrorAnswer, "description": description}
    for status, description in {
        400: "The request is wrong",
        403: "The key is missing or not known",
        404: "No such glossary or document",
        413: "Over a limit",
        415: "Neither JSON nor a form",
        429: "Too many requests; see Retry-After",
        456: "The quota of characters is used up",
        500: "The model failed on this request",
        503: "Busy, loading or broken; see Retry-After",
    }.items()
}
