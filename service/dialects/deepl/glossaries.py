"""DeepL's glossaries: with one dictionary each under /v2, with several under /v3."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from fastapi import APIRouter, Depends
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from service.callers import authorize
from service.dialects.deepl import answers, languages, requests
from service.dialects.deepl.entries import parse_entries, to_tsv
from service.dialects.deepl.errors import ERRORS
from service.errors import InvalidValue, NotFound
from service.glossaries import Entries, Glossary
from service.keys import Account
from service.languages import Direction
from service.schemas.v1 import kind_of
from service.state import ServiceState, state_of

router = APIRouter(tags=["DeepL"], responses=ERRORS)
State = Annotated[ServiceState, Depends(state_of)]

_FORM_DICTIONARY = re.compile(r"dictionaries\[(\d{1,3})\]\.(\w+)")


@router.post("/v2/glossaries", status_code=201, summary="Create a glossary")
async def create(request: Request, state: State) -> answers.Glossary:
    account, values = await _read(request, state)
    direction, entries = _dictionary(values, state)
    return _single(state.glossaries.add(account, _name(values), {direction: entries}))


@router.get("/v2/glossaries", summary="Glossaries of one dictionary")
async def list_single(request: Request, state: State) -> answers.Glossaries:
    account, _ = await _read(request, state)
    glossaries = state.glossaries.of(account)
    return answers.Glossaries(glossaries=[_single(one) for one in glossaries if len(one.dictionaries) == 1])


@router.get("/v2/glossaries/{identity}", summary="One of them")
async def get(request: Request, identity: str, state: State) -> answers.Glossary:
    account, _ = await _read(request, state)
    return _single(_get_single(state, account, identity))


@router.get(
    "/v2/glossaries/{identity}/entries", summary="Its entries as TSV", response_class=PlainTextResponse
)
async def get_entries(request: Request, identity: str, state: State) -> Response:
    account, _ = await _read(request, state)
    [entries] = _get_single(state, account, identity).dictionaries.values()
    return Response(to_tsv(entries), media_type="text/tab-separated-values; charset=utf-8")


@router.delete("/v2/glossaries/{identity}", status_code=204, summary="Delete it")
@router.delete("/v3/glossaries/{identity}", status_code=204, summary="Delete it")
async def delete(request: Request, identity: str, state: State) -> Response:
    account, _ = await _read(request, state)
    state.glossaries.remove(account, identity)
    return Response(status_code=204)


@router.post("/v3/glossaries", status_code=201, summary="Create a glossary of several dictionaries")
async def create_multilingual(request: Request, state: State) -> answers.MultilingualGlossary:
    account, values = await _read(request, state)
    dictionaries = _dictionaries(values, state)
    if not dictionaries:
        raise InvalidValue("Parameter 'dictionaries' not specified.", field="dictionaries")
    return _multilingual(state.glossaries.add(account, _name(values), dictionaries))


@router.get("/v3/glossaries", summary="All glossaries")
async def list_multilingual(request: Request, state: State) -> answers.MultilingualGlossaries:
    account, _ = await _read(request, state)
    return answers.MultilingualGlossaries(
        glossaries=[_multilingual(glossary) for glossary in state.glossaries.of(account)]
    )


@router.get("/v3/glossaries/{identity}", summary="One of them")
async def get_multilingual(request: Request, identity: str, state: State) -> answers.MultilingualGlossary:
    account, _ = await _read(request, state)
    return _multilingual(state.glossaries.get(account, identity))


@router.patch("/v3/glossaries/{identity}", summary="Rename it, or add to its dictionaries")
async def change(request: Request, identity: str, state: State) -> answers.MultilingualGlossary:
    """Terms that are there already get their new translation; the others stay."""
    account, values = await _read(request, state)
    glossary = state.glossaries.get(account, identity)
    for direction, entries in _dictionaries(values, state).items():
        merged = {**glossary.dictionaries.get(direction, {}), **entries}
        glossary = glossary.with_dictionary(direction, merged)
    if "name" in values:
        glossary = glossary.renamed(_name(values))
    return _multilingual(state.glossaries.put(glossary))


@router.get("/v3/glossaries/{identity}/entries", summary="The entries of a dictionary")
async def get_dictionary(request: Request, identity: str, state: State) -> answers.DictionaryEntries:
    account, values = await _read(request, state)
    glossary = state.glossaries.get(account, identity)
    direction = _direction(values, state)
    return answers.DictionaryEntries(
        dictionaries=[
            answers.Dictionary(
                source_lang=source, target_lang=target, entries=to_tsv(entries), entries_format="tsv"
            )
            for (source, target), entries in glossary.dictionaries.items()
            if (source, target) == direction
        ]
    )


@router.put("/v3/glossaries/{identity}/dictionaries", summary="Replace or add a dictionary")
async def replace_dictionary(request: Request, identity: str, state: State) -> answers.DictionaryInfo:
    account, values = await _read(request, state)
    direction, entries = _dictionary(values, state)
    state.glossaries.put(state.glossaries.get(account, identity).with_dictionary(direction, entries))
    return _info(direction, entries)


@router.delete("/v3/glossaries/{identity}/dictionaries", status_code=204, summary="Delete a dictionary")
async def delete_dictionary(request: Request, identity: str, state: State) -> Response:
    account, values = await _read(request, state)
    glossary, direction = state.glossaries.get(account, identity), _direction(values, state)
    if direction not in glossary.dictionaries:
        raise NotFound("The glossary has no such dictionary.", field="source_lang")
    state.glossaries.put(glossary.without_dictionary(direction))
    return Response(status_code=204)


def terms(
    state: ServiceState, account: Account, identities: Sequence[str], direction: Direction
) -> dict[str, str]:
    """The terms of several glossaries for a direction; the first one that has a term decides.

    Raises NotFound for one that is not there or has nothing for this direction.
    """
    found: dict[str, str] = {}
    for identity in identities:
        glossary = state.glossaries.get(account, identity)
        if direction not in glossary.dictionaries:
            source, target = direction
            raise NotFound(f"The glossary has no dictionary from {source} to {target}.", field="glossary_id")
        found = {**glossary.dictionaries[direction], **found}
    return found


async def _read(request: Request, state: ServiceState) -> tuple[Account, dict[str, Any]]:
    values = await requests.read_values(request)
    return authorize(state, requests.key_of(request, values)), values


def _get_single(state: ServiceState, account: Account, identity: str) -> Glossary:
    glossary = state.glossaries.get(account, identity)
    if len(glossary.dictionaries) != 1:
        raise NotFound("This glossary has several dictionaries; ask for it under /v3.", field="glossary_id")
    return glossary


def _name(values: Mapping[str, Any]) -> str:
    name = _text(values, "name").strip()
    if not name:
        raise InvalidValue("name must not be empty.", field="name")
    return name


def _text(values: Mapping[str, Any], field: str) -> str:
    value = values.get(field)
    if value is None:
        raise InvalidValue(f"Parameter '{field}' not specified.", field=field)
    if not isinstance(value, str):
        raise InvalidValue(f"{field} must be a string, not {kind_of(value)}.", field=field)
    return value


def _direction(values: Mapping[str, Any], state: ServiceState) -> Direction:
    return languages.check_glossary_pair(
        _text(values, "source_lang"), _text(values, "target_lang"), state.models.directions
    )


def _dictionary(values: Mapping[str, Any], state: ServiceState) -> tuple[Direction, Entries]:
    entries_format = _text({"entries_format": "tsv", **values}, "entries_format")
    return _direction(values, state), parse_entries(_text(values, "entries"), entries_format)


def _dictionaries(values: Mapping[str, Any], state: ServiceState) -> dict[Direction, Entries]:
    """Those of a JSON list, or of form fields named dictionaries[0].source_lang and so on."""
    given = values.get("dictionaries")
    if given is None:
        by_number: dict[str, dict[str, Any]] = {}
        for name, value in values.items():
            if match := _FORM_DICTIONARY.fullmatch(name):
                by_number.setdefault(match[1], {})[match[2]] = value
        given = list(by_number.values())
    if not isinstance(given, list) or not all(isinstance(one, dict) for one in given):
        raise InvalidValue("dictionaries must be a list of objects.", field="dictionaries")
    dictionaries: dict[Direction, Entries] = {}
    for one in given:
        direction, entries = _dictionary(one, state)
        if direction in dictionaries:
            raise InvalidValue(f"dictionaries: {'→'.join(direction)} is there twice.", field="dictionaries")
        dictionaries[direction] = entries
    return dictionaries


def _single(glossary: Glossary) -> answers.Glossary:
    [((source, target), entries)] = glossary.dictionaries.items()
    return answers.Glossary(
        glossary_id=glossary.id,
        name=glossary.name,
        source_lang=source,
        target_lang=target,
        creation_time=answers.timestamp(glossary.created),
        entry_count=len(entries),
    )


def _multilingual(glossary: Glossary) -> answers.MultilingualGlossary:
    return answers.MultilingualGlossary(
        glossary_id=glossary.id,
        name=glossary.name,
        creation_time=answers.timestamp(glossary.created),
        dictionaries=[_info(direction, entries) for direction, entries in glossary.dictionaries.items()],
    )


def _info(direction: Direction, entries: Entries) -> answers.DictionaryInfo:
    source, target = direction
    return answers.DictionaryInfo(source_lang=source, target_lang=target, entry_count=len(entries))
