"""Which dialect a request speaks, and so the shape of its errors.

| request | dialect | error |
| --- | --- | --- |
| /translate, /detect, /languages with ?api-version=… | Azure's | {"error": {"code", "message"}} |
| /translate, /detect, /languages, /translate_file, … | LibreTranslate's | {"error": "text"} |
| /v2/…, /v3/… | DeepL's | {"message": "text"} |
| /language/translate/v2… | Google's | {"error": {"code", "message", "status"}} |
| all others: /v1/…, /health/…, /, unknown | our own | {"error": {"code", "message", "field"?}} |
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from starlette.responses import JSONResponse
from starlette.types import Scope

from service.dialects import azure, deepl, google, libretranslate
from service.errors import ErrorAnswer

Shape = tuple[int, dict[str, Any]]


class Dialect(NamedTuple):
    """What of a dialect concerns every request."""

    name: str
    shape: Callable[[ErrorAnswer], Shape]  # status and body of an error
    id_header: str | None = None  # how the dialect calls X-Request-ID


def own_shape(answer: ErrorAnswer) -> Shape:
    error = {"code": answer.code, "message": answer.message}
    if answer.field is not None:
        error["field"] = answer.field
    return answer.status, {"error": error}


OWN = Dialect("own", own_shape)
LIBRETRANSLATE = Dialect("LibreTranslate", libretranslate.shape)
DEEPL = Dialect("DeepL", deepl.shape, id_header="X-Trace-ID")
GOOGLE = Dialect("Google", google.shape)
AZURE = Dialect("Azure", azure.shape, id_header="X-RequestId")
UPLOADS = frozenset({libretranslate.UPLOAD, deepl.UPLOAD})
DIALECTS = (OWN, LIBRETRANSLATE, DEEPL, GOOGLE, AZURE)


def dialect_of(scope: Scope) -> Dialect:
    """The dialect of an HTTP request, whether or not there is such a path."""
    path = _path(scope)
    if path in azure.PATHS and azure.names_version(scope):
        return AZURE
    if path.startswith(google.PREFIX):
        return GOOGLE
    if path in libretranslate.PATHS or path.startswith(libretranslate.PREFIX):
        return LIBRETRANSLATE
    if path.startswith(deepl.PREFIXES):
        return DEEPL
    return OWN


def holds_file(scope: Scope) -> bool:
    """Whether the body of a request is expected to hold a file, and may be as long as one."""
    return _path(scope) in UPLOADS


def render_error(scope: Scope, answer: ErrorAnswer) -> JSONResponse:
    """The answer in the shape of the dialect that the request speaks."""
    status, body = dialect_of(scope).shape(answer)
    return JSONResponse(body, status_code=status, headers=answer.headers)


def _path(scope: Scope) -> str:
    path: str = scope["path"]
    return path.removeprefix(scope.get("root_path", ""))
