"""The fields of a request, whether they come as JSON, in a form or in the query string."""

from __future__ import annotations

from typing import Any, NamedTuple

from starlette.requests import Request

from service.body import MAX_FORM_FIELDS, media_type, read_form, read_json
from service.errors import InvalidJSON, InvalidValue, UnsupportedContentType, clip

URLENCODED = "application/x-www-form-urlencoded"
MULTIPART = "multipart/form-data"
FORMS = (URLENCODED, MULTIPART)


class Upload(NamedTuple):
    """A file as it was sent. Its name is a client's word: good for its ending, never for a path."""

    name: str
    content: bytes


async def read_fields(request: Request, *, lists: frozenset[str]) -> dict[str, Any]:
    """Fields by name: those of a JSON object as they are, those of forms as text.

    Outside JSON the query string counts too, also under an empty body or a GET. A field given several times
    is a list where `lists` names it, and else its first value. Raises InvalidJSON, UnsupportedContentType.
    """
    content_type = media_type(request)
    if content_type == "application/json" and await request.body():
        value = await read_json(request)
        if not isinstance(value, dict):
            raise InvalidJSON("the body must be an object.")
        return value
    given: dict[str, list[str]] = {}
    if content_type in FORMS:
        given = await read_form(request, content_type)
    elif content_type != "application/json" and await request.body():
        raise UnsupportedContentType(
            f"Content-Type must be application/json, {URLENCODED} or {MULTIPART}, not {clip(content_type)!r}."
        )
    return _merge(request, given, lists)


async def read_upload(request: Request) -> tuple[dict[str, Any], Upload]:
    """The fields of a multipart form and the file in its field `file`; raises InvalidValue without one."""
    if media_type(request) != MULTIPART:
        raise InvalidValue("Invalid request: missing file parameter", field="file")
    async with request.form(max_files=1, max_fields=MAX_FORM_FIELDS) as form:
        given: dict[str, list[str]] = {}
        upload: Upload | None = None
        for name, value in form.multi_items():
            if isinstance(value, str):
                given.setdefault(name, []).append(value)
            elif name == "file":
                upload = Upload(value.filename or "", await value.read())
    if upload is None:
        raise InvalidValue("Invalid request: missing file parameter", field="file")
    return _merge(request, given, frozenset()), upload


def present(values: dict[str, Any]) -> dict[str, Any]:
    """The fields that say something: null and blank texts mean absent to these dialects."""
    return {
        name: value
        for name, value in values.items()
        if value is not None and not (isinstance(value, str) and not value.strip())
    }


def _merge(request: Request, given: dict[str, list[str]], lists: frozenset[str]) -> dict[str, Any]:
    for name in request.query_params:
        given.setdefault(name, request.query_params.getlist(name))
    return {
        name: values if name in lists and len(values) > 1 else values[0] for name, values in given.items()
    }
