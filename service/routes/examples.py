"""Requests, answers and errors shown in the OpenAPI description. A test sends every request."""

from __future__ import annotations

from typing import Any

from fastapi.openapi.models import Example

from service.schemas import v1 as schema

REQUESTS: dict[str, Example] = {
    "text": {
        "summary": "A text of two paragraphs",
        "value": {"text": "Good morning!\n\nIs this seat taken?", "source": "en", "target": "de"},
    },
    "list": {
        "summary": "A list of texts",
        "value": {"text": ["The shop is closed.", "It opens at nine."], "source": "en", "target": "de"},
    },
    "alternatives": {
        "summary": "The three best candidates of a beam of eight",
        "value": {
            "text": "Das ist mir neu.",
            "source": "de",
            "target": "en",
            "decoding": {"beam_size": 8, "n_best": 3, "length_penalty": 1.0},
        },
    },
}
GREEDY_REQUESTS: dict[str, Example] = {
    "text": REQUESTS["text"],
    "short": {
        "summary": "No more than 20 pieces for each sentence",
        "value": {"text": "Guten Abend!", "source": "de", "target": "en", "decoding": {"max_length": 20}},
    },
}
ANSWERS: dict[str, Any] = {
    "text": {
        "summary": "To one text",
        "value": {
            "translation": {
                "text": "Guten Morgen!\n\nIst dieser Platz besetzt?",
                "score": -0.61,
                "truncated": False,
            },
            "model": "en-de",
            "source": "en",
            "target": "de",
            "milliseconds": 48.2,
        },
    },
    "list": {
        "summary": "To a list of texts",
        "value": {
            "translations": [
                {"text": "Das Geschäft ist geschlossen.", "score": -0.25, "truncated": False},
                {"text": "Es öffnet um neun.", "score": -0.44, "truncated": False},
            ],
            "model": "en-de",
            "source": "en",
            "target": "de",
            "milliseconds": 51.9,
        },
    },
    "alternatives": {
        "summary": "With n_best above 1",
        "value": {
            "translation": {
                "text": "That's new to me.",
                "score": -0.31,
                "truncated": False,
                "alternatives": [
                    {"text": "This is new to me.", "score": -0.38},
                    {"text": "I didn't know that.", "score": -0.72},
                ],
            },
            "model": "en-de",
            "source": "de",
            "target": "en",
            "milliseconds": 60.5,
        },
    },
}

_SENTENCE = {"text": "The harbour is quiet today.", "source": "en", "target": "de"}
INSPECTIONS: dict[str, Example] = {
    "sentence": {"summary": "A sentence as it is translated", "value": _SENTENCE},
    "what if": {
        "summary": "With a head switched off and a beginning forced",
        "value": _SENTENCE
        | {"prefix": "Heute", "silent_heads": [{"part": "cross", "layer": 0, "head": 1}], "temperature": 1.5},
    },
}
HEADS: dict[str, Example] = {
    "head": {
        "summary": "The first head of the decoder's first layer that looks at the source",
        "value": _SENTENCE | {"head": {"part": "cross", "layer": 0, "head": 0}},
    },
}
_OBJECT = {"content": {"application/json": {"schema": {"type": "object"}}}}
INSPECTED: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "model, shape, source, target, shown, greedy, beam, encoder, decoder, lens, choices, tree"
    }
    | _OBJECT
}
INSPECTED_HEAD: dict[int | str, dict[str, Any]] = {
    200: {"description": "queries, keys, values, scores, weights, found"} | _OBJECT
}


def _error(description: str, code: str, message: str, field: str | None = None) -> dict[str, Any]:
    error = {"code": code, "message": message} | ({"field": field} if field else {})
    return {
        "model": schema.ErrorAnswer,
        "description": description,
        "content": {"application/json": {"example": {"error": error}}},
    }


ERRORS: dict[int | str, dict[str, Any]] = {
    400: _error(
        "The request is wrong",
        "unsupported_language",
        "target: xx is not supported; known: de, en.",
        "target",
    ),
    408: _error("The body came too slowly", "request_timeout", "The body did not arrive within 30 seconds."),
    413: _error("Over a limit", "too_much", "text: request (20001) exceeds text limit (20000).", "text"),
    415: _error(
        "Not JSON", "unsupported_content_type", "Content-Type must be application/json, not 'text/plain'."
    ),
    500: _error("The model failed on this request", "translation_failed", "The model failed on this text."),
    503: _error(
        "Busy, loading or broken; see Retry-After",
        "queue_full",
        "The service is busy; please try again in a moment.",
    ),
}
