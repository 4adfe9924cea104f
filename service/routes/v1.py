"""Our own dialect: every option of the decoder in, scores and alternatives out."""

from __future__ import annotations

import time
from typing import Annotated, Any

from fastapi import APIRouter, Body, Depends
from starlette.requests import Request
from starlette.responses import Response

from model.translator import Translator
from service import events, requested
from service.body import StrictJSONRoute
from service.callers import admit, bearer
from service.languages import known_languages, resolve_language
from service.models import BRIDGE
from service.routes import examples
from service.schemas import v1 as schema
from service.sources import AUTO, is_auto
from service.state import ServiceState, state_of
from service.text.reading import Reading

router = APIRouter(prefix="/v1", tags=["v1"], route_class=StrictJSONRoute, responses=examples.ERRORS)

State = Annotated[ServiceState, Depends(state_of)]
TranslateBody = Annotated[schema.TranslateRequest, Body(openapi_examples=examples.REQUESTS)]
GreedyBody = Annotated[schema.TranslateRequest, Body(openapi_examples=examples.GREEDY_REQUESTS)]
AnyAnswer = schema.TranslationAnswer | schema.TranslationsAnswer
_translation_of: dict[str, Any] = {
    "response_model": AnyAnswer,
    "response_model_exclude_none": True,
    "responses": {200: {"content": {"application/json": {"examples": examples.ANSWERS}}}},
}


@router.post("/translate", summary="Translate a text or a list of texts", **_translation_of)
async def translate(request: Request, body: TranslateBody, state: State) -> AnyAnswer | Response:
    """One `translation` for a text, a list of `translations` for a list. Beam search unless told otherwise.

    With `Accept: text/event-stream` one text comes back as events: a `part` with some `text` whenever sentences are
    done, at last `done` with the whole answer, or `error`.
    """
    return await _translate(request, body, state, strategy=None)


@router.post("/translate/greedy", summary="Translate with greedy decoding", **_translation_of)
async def translate_greedy(request: Request, body: GreedyBody, state: State) -> AnyAnswer | Response:
    """The fastest way: the likeliest piece at each step."""
    return await _translate(request, body, state, strategy="greedy")


@router.post("/translate/beam", summary="Translate with beam search", **_translation_of)
async def translate_beam(request: Request, body: TranslateBody, state: State) -> AnyAnswer | Response:
    """The best way: several hypotheses are kept at each step."""
    return await _translate(request, body, state, strategy="beam")


@router.get(
    "/models", summary="What is served, and the limits of a request", response_model_exclude_none=True
)
async def models(state: State) -> schema.ModelsAnswer:
    """The model's directions and languages, its size and place as far as known, and what one request may hold."""
    settings = state.settings
    limits = schema.Limits(
        max_text_characters=settings.max_text_characters,
        max_texts=settings.max_texts,
        max_body_bytes=settings.max_body_bytes,
        max_request_tokens=settings.queue_tokens,
    )
    return schema.ModelsAnswer(
        models=[_described(translator) for translator in state.models.translators],
        detours=[
            schema.Detour(source=source, target=target, through=BRIDGE)
            for source, target in state.models.directions[len(state.models.direct_directions) :]
        ]
        or None,
        limits=limits,
        key_required=state.accounts.require_keys,
    )


async def _translate(
    request: Request, body: schema.TranslateRequest, state: ServiceState, *, strategy: schema.Strategy | None
) -> AnyAnswer | Response:
    started = time.perf_counter()
    account = admit(request, state, bearer(request))
    texts = [body.text] if isinstance(body.text, str) else body.text
    options = body.decoding.options(strategy)
    directions = state.models.directions
    source = AUTO if is_auto(body.source) else resolve_language(body.source, directions, field="source")
    target = resolve_language(body.target, directions, field="target")
    reading = Reading(markup=body.format, terms=body.terms)
    wanted = requested.Wanted(texts, source, target, field="text", reading=reading)
    wants_alternatives = options.n_best > 1

    def about(*texts: requested.Translated) -> dict[str, Any]:
        milliseconds = round(1000 * (time.perf_counter() - started), 1)
        used = dict.fromkeys(one.text.model for one in texts if one.text.model) or state.models.names
        return dict(model=", ".join(used), source=source, target=target, milliseconds=milliseconds)

    def whole(one: requested.Translated) -> schema.TranslationAnswer:
        translation = _render(one, wants_alternatives=wants_alternatives)
        return schema.TranslationAnswer(translation=translation, **about(one))

    if events.are_wanted(request):
        return await events.respond(
            state, account, wanted, options, lambda one: whole(one).model_dump(exclude_none=True)
        )
    translated = await requested.translate(request, state, account, wanted, options)
    if isinstance(body.text, str):
        return whole(translated[0])
    translations = [_render(one, wants_alternatives=wants_alternatives) for one in translated]
    return schema.TranslationsAnswer(translations=translations, **about(*translated))


def _render(translated: requested.Translated, *, wants_alternatives: bool) -> schema.Translation:
    text, detected = translated.text, translated.source.detected
    alternatives = [schema.Alternative(text=other.text, score=other.score) for other in text.alternatives]
    return schema.Translation(
        text=text.text,
        score=text.score,
        truncated=text.truncated,
        alternatives=alternatives if wants_alternatives else None,
        lost=list(text.lost) or None,
        through=text.through,
        detected=detected and schema.Detected(language=detected.language, confidence=detected.confidence),
    )


def _described(translator: Translator) -> schema.ModelDescription:
    parameters, device, dtype, engine = (
        getattr(translator, name, None) for name in ("parameters", "device", "dtype", "engine")
    )
    return schema.ModelDescription(
        name=translator.name,
        directions=[
            schema.ModelDirection(source=source, target=target) for source, target in translator.directions
        ],
        languages=known_languages(translator.directions),
        parameters=parameters if isinstance(parameters, int) else None,
        device=None if device is None else str(device),
        dtype=None if dtype is None else str(dtype).removeprefix("torch."),
        engine=engine,
    )
