"""Errors in the words and with the statuses that LibreTranslate's clients look for."""

from __future__ import annotations

from typing import Any

from service.errors import (
    ErrorAnswer,
    InvalidJSON,
    MissingKey,
    OverTextLimit,
    QuotaExceeded,
    TooManyRequests,
    TranslationFailed,
    UnsupportedLanguage,
    WrongKey,
)


def shape(answer: ErrorAnswer) -> tuple[int, dict[str, Any]]:
    """A text under "error". Over a limit is 400 there, no key 400, a wrong one 403, a used up quota 403."""
    status, message = _status_and_message(answer)
    return status, {"error": message}


def _status_and_message(answer: ErrorAnswer) -> tuple[int, str]:
    match answer.error:
        case OverTextLimit(size=size, limit=limit):
            return 400, f"Invalid request: request ({size}) exceeds text limit ({limit})"
        case InvalidJSON():
            return 400, f"Invalid JSON format: {answer.message}"
        case MissingKey():
            return 400, "Please contact the server operator to get an API key"
        case WrongKey():
            return 403, "Invalid API key"
        case QuotaExceeded():
            return 403, answer.message
        case TooManyRequests(limit=limit):
            return 429, f"Slowdown: {limit} per 1 minute"
        case TranslationFailed():
            return 500, f"Cannot translate text: {answer.message}"
    bare = answer.message.removeprefix(f"{answer.field}: ")
    if isinstance(answer.error, UnsupportedLanguage) or bare.startswith("Invalid request"):
        return answer.status, bare
    return answer.status, answer.message
