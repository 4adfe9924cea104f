"""LibreTranslate's paths, but for files: JSON, both kinds of form, or only a query string."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Depends
from pydantic import BaseModel
from starlette.requests import Request

from model.search.options import DecodingOptions
from service import requested
from service.callers import admit
from service.dialects.fields import FORMS
from service.dialects.libretranslate import answers, requests
from service.errors import Disabled, InvalidValue
from service.languages import known_languages, name_of, resolve_direction, targets_of
from service.limits import check_texts
from service.sources import is_auto, nothing, percent
from service.state import ServiceState, state_of
from service.text.detection import Detection
from service.text.documents import SUFFIXES
from service.text.reading import Reading

TAG = "LibreTranslate"
ERRORS: dict[int | str, dict[str, Any]] = {
    status: {"model": answers.ErrorAnswer, "description": description}
    for status, description in {
        400: "The request is wrong, over a text limit, or without the key that is required",
        403: "The key is not known, its quota used up, or the feature switched off",
        413: "The body is too large",
        415: "Neither JSON nor a form",
        429: "Too many requests; see Retry-After",
        500: "The model failed on this request",
        503: "Busy, loading or broken; see Retry-After",
    }.items()
}
FRONTEND_TIMEOUT_MILLISECONDS = 500

router = APIRouter(tags=[TAG], responses=ERRORS)
State = Annotated[ServiceState, Depends(state_of)]


def _body_of(model: type[BaseModel], example: dict[str, object]) -> dict[str, Any]:
    """What OpenAPI says of a body that is read here and not by FastAPI."""
    schema = {"schema": model.model_json_schema()}
    return {
        "requestBody": {
            "content": {"application/json": schema | {"example": example}, **dict.fromkeys(FORMS, schema)}
        }
    }


@router.post(
    "/translate",
    summary="Translate a text or a list of texts",
    response_model_exclude_none=True,
    openapi_extra=_body_of(
        requests.TranslateRequest, {"q": "Good morning!", "source": "en", "target": "de", "alternatives": 2}
    ),
)
async def translate(request: Request, state: State) -> answers.TranslateAnswer:
    """`alternatives` are given only when asked for; lists for a list."""
    wanted = await requests.read(request, requests.TranslateRequest)
    account = admit(request, state, wanted.api_key)
    candidates = 1 + wanted.alternatives
    options = DecodingOptions(strategy="beam", beam_size=max(5, candidates), n_best=candidates)
    reading = Reading(markup=wanted.format, terms=wanted.glossary)
    texts = requested.Wanted(wanted.texts, wanted.source, wanted.target, field="q", reading=reading)
    translated = await requested.translate(request, state, account, texts, options)
    best = [one.text.text for one in translated]
    others = [[other.text for other in one.text.alternatives] for one in translated]
    is_single = isinstance(wanted.q, str)
    answer = answers.TranslateAnswer(translatedText=best[0] if is_single else best)
    detected = [_detected(one.source.detected) for one in translated if one.source.detected]
    if detected:
        answer.detectedLanguage = detected[0] if is_single else detected
    elif is_auto(wanted.source):
        answer.detectedLanguage = []
    if wanted.alternatives:
        answer.alternatives = others[0] if is_single else others
    if any(one.text.truncated for one in translated):
        answer.truncated = True if is_single else [one.text.truncated for one in translated]
    return answer


@router.post(
    "/detect",
    summary="Tell the language of a text",
    openapi_extra=_body_of(requests.DetectRequest, {"q": "Wo ist der Bahnhof?"}),
)
async def detect(request: Request, state: State) -> list[answers.DetectedLanguage]:
    """The served languages that it can be in, likeliest first. Of a list, it is told as of one text."""
    wanted = await requests.read(request, requests.DetectRequest)
    admit(request, state, wanted.api_key)
    texts = [wanted.q] if isinstance(wanted.q, str) else wanted.q
    check_texts(texts, state.settings, field="q")
    directions = state.models.directions
    [ranked] = await state.sources.detect(["\n".join(texts)], directions)
    return [_detected(one) for one in ranked or [nothing(directions)]]


def _detected(detection: Detection) -> answers.DetectedLanguage:
    return answers.DetectedLanguage(confidence=percent(detection.confidence), language=detection.language)


@router.post("/languages", include_in_schema=False)
@router.get("/languages", summary="Languages and what each can be turned into")
async def languages(state: State) -> list[answers.Language]:
    """The same answer to GET and to POST, which some clients use."""
    directions = state.models.directions
    return [
        answers.Language(code=code, name=name_of(code), targets=targets_of(code, directions))
        for code in known_languages(directions)
    ]


@router.get("/frontend/settings", summary="What a page needs to know")
async def frontend_settings(state: State) -> answers.SettingsAnswer:
    source, target = state.models.directions[0]
    return answers.SettingsAnswer(
        apiKeys=state.accounts.require_keys,
        charLimit=state.settings.max_text_characters,
        filesTranslation=True,
        frontendTimeout=FRONTEND_TIMEOUT_MILLISECONDS,
        keyRequired=state.accounts.require_keys,
        language=answers.DefaultLanguages(
            source=answers.NamedCode(code=source, name=name_of(source)),
            target=answers.NamedCode(code=target, name=name_of(target)),
        ),
        suggestions=state.settings.suggestions == "on",
        supportedFilesFormat=list(SUFFIXES),
    )


@router.post(
    "/suggest",
    summary="Suggest a better translation",
    openapi_extra=_body_of(
        requests.SuggestRequest, {"q": "Good morning!", "s": "Guten Morgen!", "source": "en", "target": "de"}
    ),
)
async def suggest(request: Request, state: State) -> answers.SuggestAnswer:
    """Kept in the state folder for the operator to read, where that is switched on."""
    if state.settings.suggestions != "on":
        raise Disabled("Suggestions are disabled on this server.")
    wanted = await requests.read(request, requests.SuggestRequest)
    account = admit(request, state, wanted.api_key)
    check_texts([wanted.q], state.settings, field="q")
    check_texts([wanted.s], state.settings, field="s")
    direction = resolve_direction(wanted.source, wanted.target, state.models.directions)
    if direction[0] == direction[1]:
        raise InvalidValue("target: must be another language than the source.", field="target")
    state.suggestions.add(account, wanted.q, wanted.s, direction)
    return answers.SuggestAnswer()


@router.get("/spec", include_in_schema=False)
async def spec(request: Request, state: State) -> dict[str, Any]:
    """This dialect's part of the OpenAPI description; some clients look at its title to know what they talk to."""
    document = request.app.openapi()
    paths = {
        path: operations
        for path, operations in document["paths"].items()
        if any(TAG in operation.get("tags", ()) for operation in operations.values())
    }
    return {
        **document,
        "info": {**document["info"], "title": state.settings.spec_title},
        "paths": paths,
    }
