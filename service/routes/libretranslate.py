"""LibreTranslate's dialect, as its clients speak it: JSON, both kinds of form, or only a query string."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Depends
from fastapi.exceptions import RequestValidationError
from pydantic import ValidationError
from starlette.requests import Request

from model.search.options import DecodingOptions
from service.body import media_type, read_form, read_json
from service.disconnect import while_connected
from service.errors import InvalidRequest, InvalidValue, UnsupportedContentType, clip
from service.languages import known_languages, name_of, resolve_direction, targets_of
from service.limits import check_texts
from service.schemas import libretranslate as schema
from service.state import ServiceState, state_of

FORMS = ("application/x-www-form-urlencoded", "multipart/form-data")

router = APIRouter(
    tags=["LibreTranslate"],
    responses={
        status: {"model": schema.ErrorAnswer, "description": description}
        for status, description in {
            400: "The request is wrong",
            413: "Over a limit",
            415: "Neither JSON nor a form",
            500: "The model failed on this request",
            503: "Busy, loading or broken; see Retry-After",
        }.items()
    },
)
State = Annotated[ServiceState, Depends(state_of)]
_request_schema = {"schema": schema.TranslateRequest.model_json_schema()}
_request_example = {"example": {"q": "Good morning!", "source": "en", "target": "de", "alternatives": 2}}
_request_body = {
    "content": {
        "application/json": _request_schema | _request_example,
        **dict.fromkeys(FORMS, _request_schema),
    }
}


@router.post(
    "/translate",
    summary="Translate a text, or in JSON a list of texts",
    response_model_exclude_none=True,
    openapi_extra={"requestBody": _request_body},
)
async def translate(request: Request, state: State) -> schema.TranslateAnswer:
    """`alternatives` are given only when asked for; lists for a list."""
    wanted = await _read(request)
    texts = [wanted.q] if isinstance(wanted.q, str) else wanted.q
    check_texts(texts, state.settings, field="q")
    direction = resolve_direction(wanted.source, wanted.target, state.batcher.translator.directions)
    candidates = 1 + wanted.alternatives
    options = DecodingOptions(strategy="beam", beam_size=max(5, candidates), n_best=candidates)
    translated = await while_connected(request, state.text_translator.translate(texts, direction, options))
    best = [text.text for text in translated]
    others = [[other.text for other in text.alternatives] for text in translated]
    is_single = isinstance(wanted.q, str)
    answer = schema.TranslateAnswer(translatedText=best[0] if is_single else best)
    if wanted.alternatives:
        answer.alternatives = others[0] if is_single else others
    return answer


@router.post("/languages", include_in_schema=False)
@router.get("/languages", summary="Languages and what each can be turned into")
async def languages(state: State) -> list[schema.Language]:
    """The same answer to GET and to POST, which some clients use."""
    directions = state.batcher.translator.directions
    return [
        schema.Language(code=code, name=name_of(code), targets=targets_of(code, directions))
        for code in known_languages(directions)
    ]


async def _read(request: Request) -> schema.TranslateRequest:
    values = await _values(request)
    for name in ("q", "source", "target"):
        if values.get(name) is None:
            raise InvalidValue(f"Invalid request: missing {name} parameter", field=name)
    try:
        return schema.TranslateRequest.model_validate(values)
    except ValidationError as error:
        raise RequestValidationError(error.errors()) from error


async def _values(request: Request) -> dict[str, Any]:
    """The fields by name. Outside JSON the query string counts too, and q may be given several times."""
    content_type = media_type(request)
    if content_type == "application/json":
        value = await read_json(request)
        if not isinstance(value, dict):
            raise InvalidRequest("Invalid JSON format: the body must be an object.")
        return value
    if content_type in FORMS:
        fields = await read_form(request, content_type)
    elif await request.body():
        raise UnsupportedContentType(
            f"Content-Type must be application/json, {FORMS[0]} or {FORMS[1]}, not {clip(content_type)!r}."
        )
    else:
        fields = {}
    for name in request.query_params:
        fields.setdefault(name, request.query_params.getlist(name))
    return {name: given if name == "q" and len(given) > 1 else given[0] for name, given in fields.items()}
