"""DeepL's paths for texts, languages and usage."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends
from starlette.requests import Request

from model.search.options import DecodingOptions
from service import requested
from service.callers import admit, authorize
from service.dialects.deepl import answers, glossaries, languages, requests
from service.dialects.deepl.errors import ERRORS
from service.dialects.fields import FORMS
from service.errors import InvalidValue, clip
from service.sources import AUTO
from service.state import ServiceState, state_of

router = APIRouter(tags=["DeepL"], responses=ERRORS)
State = Annotated[ServiceState, Depends(state_of)]

_schema = {"schema": requests.TranslateRequest.model_json_schema()}
_example = {"example": {"text": ["Good morning!"], "source_lang": "EN", "target_lang": "DE"}}


@router.get("/v2/translate", include_in_schema=False, response_model_exclude_none=True)
@router.post(
    "/v2/translate",
    summary="Translate texts",
    response_model_exclude_none=True,
    openapi_extra={
        "requestBody": {"content": {"application/json": _schema | _example, **dict.fromkeys(FORMS, _schema)}}
    },
)
async def translate(request: Request, state: State) -> answers.TranslateAnswer:
    """One translation for each text, in the same order. Old clients send a GET with everything in the query."""
    values = await requests.read_values(request)
    account = admit(request, state, requests.key_of(request, values))
    wanted = requests.parse_translation(values)
    directions = state.models.directions
    target = languages.resolve_target(wanted.target_lang, directions)
    source = AUTO if wanted.source_lang is None else languages.resolve_source(wanted.source_lang, directions)
    is_fast = wanted.model_type == "latency_optimized"
    options = DecodingOptions(strategy="greedy" if is_fast else "beam")
    terms = glossaries.terms(state, account, wanted.glossaries, (source, target))
    texts = requested.Wanted(wanted.text, source, target, field="text", reading=wanted.reading(terms))
    translated = await requested.translate(request, state, account, texts, options)
    used = "latency_optimized" if is_fast else "quality_optimized"
    return answers.TranslateAnswer(
        translations=[
            answers.Translation(
                detected_source_language=languages.code_of(one.source.language),
                text=one.text.text,
                billed_characters=len(text) if wanted.show_billed_characters else None,
                model_type_used=used if wanted.model_type else None,
                truncated=one.text.truncated or None,
            )
            for text, one in zip(wanted.text, translated, strict=True)
        ]
    )


@router.post("/v2/usage", include_in_schema=False)
@router.get("/v2/usage", summary="Characters used this month")
async def usage(request: Request, state: State) -> answers.UsageAnswer:
    account = authorize(state, requests.key_of(request, await requests.read_values(request)))
    return answers.UsageAnswer(
        character_count=state.usage.of(account),
        character_limit=account.characters_per_month or answers.UNLIMITED,
    )


@router.post("/v2/languages", include_in_schema=False, response_model_exclude_none=True)
@router.get("/v2/languages", summary="Languages", response_model_exclude_none=True)
async def list_languages(request: Request, state: State) -> list[answers.Language]:
    """Sources, or targets with `type=target`, which one of the libraries sends in the body of a GET."""
    values = await requests.read_values(request)
    authorize(state, requests.key_of(request, values))
    directions = state.models.directions
    kind = values.get("type") or "source"
    if kind == "source":
        return [
            answers.Language(language=code, name=name) for code, name in languages.sources(directions).items()
        ]
    if kind == "target":
        return [
            answers.Language(language=code, name=name, supports_formality=False)
            for code, name in languages.targets(directions).items()
        ]
    raise InvalidValue(f"type must be source or target, not {clip(kind)}.", field="type")


@router.get("/v2/glossary-language-pairs", summary="Directions that a glossary can be for")
async def glossary_pairs(request: Request, state: State) -> answers.GlossaryPairs:
    authorize(state, requests.key_of(request, {}))
    return answers.GlossaryPairs(
        supported_languages=[
            answers.GlossaryPair(source_lang=source, target_lang=target)
            for source, target in languages.glossary_pairs(state.models.directions)
        ]
    )
