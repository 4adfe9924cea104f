"""Errors as DeepL's libraries read them: a text under "message", and statuses that they know."""

from __future__ import annotations

from typing import Any

from service.errors import ErrorAnswer, MissingKey, QuotaExceeded, ServiceError

# Their libraries know 403 for whatever is wrong with a key, and take 401 for an accident.
_STATUS: dict[type[ServiceError], int] = {MissingKey: 403, QuotaExceeded: 456}


def shape(answer: ErrorAnswer) -> tuple[int, dict[str, Any]]:
    status = _STATUS.get(type(answer.error), answer.status)  # type: ignore[arg-type]
    return status, {"message": answer.message}
