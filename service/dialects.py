"""Which dialect a path speaks, and the shape its errors have.

| paths | error |
| --- | --- |
| LibreTranslate's: /translate, /languages | {"error": "text"} |
| all others: /v1/…, /health/…, /, unknown | {"error": {"code", "message", "field"?}} |
"""

from __future__ import annotations

from starlette.responses import JSONResponse

from service.errors import ErrorAnswer

LIBRETRANSLATE_PATHS = frozenset({"/translate", "/languages"})


def render_error(path: str, answer: ErrorAnswer) -> JSONResponse:
    """The answer in the shape of the dialect that `path` belongs to."""
    shape = libretranslate_error if path in LIBRETRANSLATE_PATHS else v1_error
    return JSONResponse(shape(answer), status_code=answer.status, headers=answer.headers)


def libretranslate_error(answer: ErrorAnswer) -> dict[str, object]:
    return {"error": answer.message}


def v1_error(answer: ErrorAnswer) -> dict[str, object]:
    error = {"code": answer.code, "message": answer.message}
    if answer.field is not None:
        error["field"] = answer.field
    return {"error": error}
