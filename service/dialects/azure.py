"""Azure's dialect for texts, of version 3.0 and of 2026-06-06. It shares /translate and /languages with
LibreTranslate's; a request is Azure's when its query names an api-version."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal
from urllib.parse import parse_qs

from fastapi import APIRouter, Depends
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, TypeAdapter, ValidationError
from starlette.requests import Request
from starlette.routing import Match
from starlette.types import Scope

from model.search.options import DecodingOptions
from service import requested
from service.body import media_type, read_json
from service.callers import admit, bearer
from service.errors import ErrorAnswer, InvalidValue, UnsupportedContentType, clip
from service.keys import Account
from service.languages import known_languages, name_of, resolve_language
from service.sources import AUTO
from service.state import ServiceState, state_of
from service.text.reading import Reading

PATHS = frozenset({"/translate", "/languages"})
_VERSION = "api-version"


def names_version(scope: Scope) -> bool:
    return _VERSION in parse_qs(scope.get("query_string", b"").decode("latin-1"))


class VersionedRoute(APIRoute):
    """A route for requests whose query names an api-version; to others it is not there."""

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        return super().matches(scope) if names_version(scope) else (Match.NONE, {})


router = APIRouter(tags=["Azure"], route_class=VersionedRoute, include_in_schema=False)
State = Annotated[ServiceState, Depends(state_of)]


def _small(value: object) -> object:
    return value.lower() if isinstance(value, str) else value


class Target(BaseModel):
    model_config = ConfigDict(extra="ignore")

    language: str = Field(max_length=64)


class Input(BaseModel):
    model_config = ConfigDict(extra="ignore", populate_by_name=True)

    text: str
    text_type: Annotated[Literal["plain", "html"], BeforeValidator(_small)] = Field("plain", alias="textType")
    language: str | None = Field(None, max_length=64)
    targets: list[Target] = Field(min_length=1)


class OldInput(BaseModel):
    """Of version 3.0, where the languages are in the query."""

    model_config = ConfigDict(extra="ignore")

    Text: str


_inputs = TypeAdapter(list[Input])
_old_inputs = TypeAdapter(list[OldInput])


def shape(answer: ErrorAnswer) -> tuple[int, dict[str, Any]]:
    """Codes are the status and three digits more, of which only the first three say anything here."""
    return answer.status, {"error": {"code": 1000 * answer.status, "message": answer.message}}


@router.post("/translate")
async def translate(request: Request, state: State) -> Any:
    """A list of texts in a list for version 3.0; for later ones an object of inputs, each with its own targets."""
    account = admit(request, state, _key(request))
    if media_type(request) != "application/json":
        raise UnsupportedContentType(
            f"Content-Type must be application/json, not {clip(media_type(request))!r}."
        )
    body = await read_json(request)
    if isinstance(body, dict):
        inputs = _validated(_inputs, body.get("inputs"))
        return {"value": await _translate(request, state, account, inputs, tag="language")}
    targets = [{"language": code} for code in request.query_params.getlist("to")]
    if not targets:
        raise InvalidValue("to: a language is needed in the query.", field="to")
    source = request.query_params.get("from") or None
    kind = request.query_params.get("textType") or "plain"
    inputs = _validated(
        _inputs,
        [
            {"text": one.Text, "textType": kind, "language": source, "targets": targets}
            for one in _validated(_old_inputs, _with_capital(body))
        ],
    )
    return await _translate(request, state, account, inputs, tag="to")


@router.get("/languages")
async def languages(request: Request, state: State) -> dict[str, Any]:
    listed = known_languages(state.models.directions)
    return {
        "translation": {
            code: {"name": name_of(code), "nativeName": name_of(code), "dir": _direction(code), "models": []}
            for code in listed
        }
    }


async def _translate(
    request: Request, state: ServiceState, account: Account, inputs: Sequence[Input], *, tag: str
) -> list[dict[str, Any]]:
    """Texts of one kind and with the same languages go together; `tag` is how the version calls a target."""
    directions = state.models.directions
    answers: list[dict[str, Any]] = [{"translations": [{} for _ in one.targets]} for one in inputs]
    groups: dict[tuple[str, str, str], list[tuple[int, int]]] = {}
    for place, one in enumerate(inputs):
        for rank, target in enumerate(one.targets):
            resolve_language(target.language, directions, field="language")
            key = (one.language or AUTO, target.language, one.text_type)
            groups.setdefault(key, []).append((place, rank))
    for (source, code, kind), places in groups.items():
        texts = [inputs[place].text for place, _ in places]
        reading = Reading(markup="html" if kind == "html" else "text")
        wanted = requested.Wanted(texts, source, code, field="text", reading=reading)
        translated = await requested.translate(
            request, state, account, wanted, DecodingOptions(strategy="beam")
        )
        for (place, rank), result in zip(places, translated, strict=True):
            cut = {"truncated": True} if result.text.truncated else {}
            answers[place]["translations"][rank] = {tag: code, "text": result.text.text} | cut
            if found := result.source.detected:
                answers[place]["detectedLanguage"] = {"language": found.language, "score": found.confidence}
    return answers


def _validated(adapter: TypeAdapter[Any], value: object) -> Any:
    try:
        return adapter.validate_python(value)
    except ValidationError as error:
        raise RequestValidationError(error.errors()) from error


def _with_capital(body: object) -> object:
    """Version 3.0 spells it Text, and its client text."""
    if not isinstance(body, list):
        return body
    return [{"Text": one["text"]} if isinstance(one, dict) and "text" in one else one for one in body]


def _direction(code: str) -> str:
    return "rtl" if code in {"ar", "fa", "he", "ps", "sd", "ug", "ur", "yi"} else "ltr"


def _key(request: Request) -> str | None:
    return request.headers.get("ocp-apim-subscription-key") or bearer(request)
