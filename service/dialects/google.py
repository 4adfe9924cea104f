"""Google's dialect, version 2: what its client for basic translation asks for."""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeVar

from fastapi import APIRouter, Depends
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from starlette.requests import Request

from model.search.options import DecodingOptions
from service import requested
from service.callers import admit
from service.dialects.fields import present, read_fields
from service.errors import ErrorAnswer, InvalidValue
from service.languages import known_languages, name_of, resolve_language
from service.limits import check_texts
from service.schemas.v1 import TextOrTexts
from service.sources import AUTO, nothing
from service.state import ServiceState, state_of
from service.text.reading import Reading

PREFIX = "/language/translate/v2"
Model = TypeVar("Model", bound=BaseModel)
_LISTS = frozenset({"q"})
# The names of its conditions, which its clients show.
_CONDITIONS = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    413: "INVALID_ARGUMENT",
    429: "RESOURCE_EXHAUSTED",
    500: "INTERNAL",
    503: "UNAVAILABLE",
}

router = APIRouter(prefix=PREFIX, tags=["Google"])
State = Annotated[ServiceState, Depends(state_of)]


class DetectRequest(BaseModel):
    model_config = ConfigDict(extra="ignore")

    q: TextOrTexts = Field(description="a text, or a list of texts")

    @property
    def texts(self) -> list[str]:
        return [self.q] if isinstance(self.q, str) else self.q


class TranslateRequest(DetectRequest):
    target: str = Field(max_length=64)
    source: str = Field(AUTO, max_length=64)
    format: Literal["text", "html"] = "html"


def shape(answer: ErrorAnswer) -> tuple[int, dict[str, Any]]:
    condition = _CONDITIONS.get(answer.status, "FAILED_PRECONDITION")
    error = {"code": answer.status, "message": answer.message, "status": condition}
    return answer.status, {"error": error}


@router.get("", include_in_schema=False)
@router.post("", summary="Translate texts")
async def translate(request: Request, state: State) -> dict[str, Any]:
    """`detectedSourceLanguage` where the client named no source."""
    values = await read_fields(request, lists=_LISTS)
    account = admit(request, state, _key(request))
    wanted = _parse(values, TranslateRequest)
    options = DecodingOptions(strategy="beam")
    texts = requested.Wanted(
        wanted.texts, wanted.source, wanted.target, field="q", reading=Reading(markup=wanted.format)
    )
    translated = await requested.translate(request, state, account, texts, options)
    return {
        "data": {
            "translations": [
                {"translatedText": one.text.text}
                | ({"detectedSourceLanguage": one.source.language} if one.source.detected else {})
                | ({"truncated": True} if one.text.truncated else {})
                for one in translated
            ]
        }
    }


@router.get("/detect", include_in_schema=False)
@router.post("/detect", summary="Tell the languages of texts")
async def detect(request: Request, state: State) -> dict[str, Any]:
    """A list for each text, with its likeliest language."""
    values = await read_fields(request, lists=_LISTS)
    admit(request, state, _key(request))
    texts = _parse(values, DetectRequest).texts
    check_texts(texts, state.settings, field="q")
    directions = state.models.directions
    best = [
        ranked[0] if ranked else nothing(directions)
        for ranked in await state.sources.detect(texts, directions)
    ]
    return {
        "data": {
            "detections": [
                [{"language": one.language, "confidence": one.confidence, "isReliable": False}]
                for one in best
            ]
        }
    }


@router.get("/languages", summary="Languages, with names if a language for them is named")
async def languages(request: Request, state: State) -> dict[str, Any]:
    """Names are English, whatever the language asked for."""
    directions = state.models.directions
    named = request.query_params.get("target")
    if named:
        resolve_language(named, directions, field="target")
    listed = [
        {"language": code} | ({"name": name_of(code)} if named else {})
        for code in known_languages(directions)
    ]
    return {"data": {"languages": listed}}


def _key(request: Request) -> str | None:
    return request.headers.get("x-goog-api-key") or request.query_params.get("key")


def _parse(values: dict[str, Any], model: type[Model]) -> Model:
    given = present(values)
    if isinstance(values.get("q"), str):
        given["q"] = values["q"]  # a blank text is a text
    for name, field in model.model_fields.items():
        if field.is_required() and name not in given:
            raise InvalidValue(f"Missing parameter: {name}", field=name)
    try:
        return model.model_validate(given)
    except ValidationError as error:
        raise RequestValidationError(error.errors()) from error
