"""Request bodies as values: strict JSON, and forms.

JSON must mean the same to every reader, so what RFC 8259 leaves open is refused: duplicate keys, NaN and
Infinity, other encodings than UTF-8, halves of surrogate pairs, and nesting beyond reason.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Coroutine
from email.message import Message
from functools import lru_cache
from inspect import signature
from typing import Any, NoReturn
from urllib.parse import parse_qsl

from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from starlette.requests import Request
from starlette.responses import Response

from service.errors import InvalidJSON, InvalidRequest, InvalidValue, UnsupportedContentType, clip, dotted
from service.state import state_of

MAX_FORM_FIELDS = 1000


class StrictJSONRoute(APIRoute):
    """A route whose body is read by `read_json`. Its endpoint takes the request, the body and the state.

    FastAPI describes it, and would call it: with machinery for any dependencies, and with every answer validated and
    built anew. This calls it with the three, and writes the model that it gives.
    """

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        if self.body_field is None:
            return super().get_route_handler()
        parameters = signature(self.endpoint).parameters
        if list(parameters) != ["request", "body", "state"]:
            raise TypeError(f"{self.endpoint.__name__} takes {', '.join(parameters)}")
        validate = self.body_field.validate

        async def read_then_call(request: Request) -> Response:
            content_type = media_type(request)
            if content_type != "application/json":
                raise UnsupportedContentType(
                    f"Content-Type must be application/json, not {clip(content_type)!r}."
                )
            body, errors = validate(await read_json(request), loc=("body",))
            if errors:
                raise RequestValidationError(errors)
            answer = await self.endpoint(request, body, await state_of(request))
            if isinstance(answer, Response):
                return answer
            content = answer.model_dump_json(exclude_none=self.response_model_exclude_none)
            return Response(content, media_type="application/json")

        return read_then_call


def media_type(request: Request) -> str:
    """The media type in lower case without parameters; '' when the header is absent.

    Raises UnsupportedContentType for a charset other than UTF-8.
    """
    return _media_type(request.headers.get("content-type", ""))


@lru_cache(maxsize=64)  # clients send the same few
def _media_type(content_type: str) -> str:
    header = Message()
    header["content-type"] = content_type
    if not header["content-type"]:
        return ""
    charset = header.get_content_charset()
    if charset not in (None, "utf-8", "utf8", "us-ascii"):
        raise UnsupportedContentType(f"The charset must be utf-8, not {clip(charset)!r}.")
    return str(header["content-type"]).partition(";")[0].strip().lower()


async def read_json(request: Request) -> Any:
    """The body as JSON; raises InvalidJSON, or InvalidValue naming the field with a broken character."""
    body = await request.body()
    try:
        text = body.decode("utf-8-sig")
        value = json.loads(text, parse_constant=_refuse_constant, object_pairs_hook=_refuse_duplicates)
    except UnicodeDecodeError as error:
        raise InvalidJSON(f"The body is not UTF-8 at byte {error.start}.") from error
    except json.JSONDecodeError as error:
        raise InvalidJSON(f"The body is not JSON: {error.msg} at character {error.pos}.") from error
    except RecursionError as error:
        raise InvalidJSON("The body is nested too deeply.") from error
    except ValueError as error:  # an integer of thousands of digits
        raise InvalidJSON("The body holds a number that is too long.") from error
    if "\\u" in text:
        _refuse_surrogates(value)
    return value


async def read_form(request: Request, content_type: str) -> dict[str, list[str]]:
    """The fields of a form, each with all its values.

    Browsers send line breaks as CRLF; they become what was typed.
    """
    if content_type == "application/x-www-form-urlencoded":
        fields = await _urlencoded(request)
    else:
        form = await request.form(max_files=0, max_fields=MAX_FORM_FIELDS)
        fields = [(name, value) for name, value in form.multi_items() if isinstance(value, str)]
    values: dict[str, list[str]] = {}
    for name, value in fields:
        values.setdefault(name, []).append(value.replace("\r\n", "\n"))
    return values


async def _urlencoded(request: Request) -> list[tuple[str, str]]:
    body = await request.body()
    try:
        return parse_qsl(
            body.decode("utf-8"), keep_blank_values=True, errors="strict", max_num_fields=MAX_FORM_FIELDS
        )
    except UnicodeDecodeError as error:
        raise InvalidRequest(f"The form is not UTF-8 at byte {error.start}.") from error
    except ValueError as error:
        raise InvalidRequest(f"The form has more than {MAX_FORM_FIELDS} fields.") from error


def _refuse_constant(name: str) -> NoReturn:
    raise InvalidJSON(f"The body is not JSON: {name} is no JSON number.")


def _refuse_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) < len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise InvalidJSON(f"The key {clip(key)!r} occurs twice in one object.")
            seen.add(key)
    return value


def _refuse_surrogates(value: Any) -> None:
    """Walk the value without recursion and name the first string in its order that has half of a surrogate pair."""
    stack: list[tuple[tuple[str | int, ...], Any]] = [((), value)]
    while stack:
        path, item = stack.pop()
        if isinstance(item, str):
            if not _is_unicode(item):
                where = dotted(path) or "the body"
                raise InvalidValue(
                    f"{where} holds half of a surrogate pair, which is no character.", field=where
                )
        elif isinstance(item, list):
            stack.extend(((*path, index), item[index]) for index in reversed(range(len(item))))
        elif isinstance(item, dict):
            for key, element in reversed(item.items()):
                stack.append(((*path, key), element))
                stack.append((path, key))


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
