"""DeepL's way with files: taken in at once, translated in the background, fetched once."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Depends
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field
from starlette.requests import Request
from starlette.responses import Response

from service import uploads
from service.callers import admit, authorize
from service.dialects.deepl import answers, glossaries, languages, requests
from service.dialects.deepl.errors import ERRORS
from service.dialects.downloads import attachment
from service.dialects.fields import present, read_upload
from service.errors import InvalidValue, clip
from service.files import File, FileStatus
from service.sources import AUTO
from service.state import ServiceState, state_of

router = APIRouter(tags=["DeepL"], responses=ERRORS)
State = Annotated[ServiceState, Depends(state_of)]


class DocumentRequest(BaseModel):
    model_config = ConfigDict(extra="ignore")

    target_lang: str = Field(max_length=64)
    source_lang: str | None = Field(None, max_length=64, description="detected where it is left out")
    formality: Annotated[requests.Formality, BeforeValidator(requests.word)] = "default"
    filename: str | None = Field(None, description="instead of the name that the file was sent with")
    output_format: str | None = None
    glossary_id: str | None = None
    glossary_ids: requests.Names = ()

    @property
    def glossaries(self) -> tuple[str, ...]:
        return (self.glossary_id,) if self.glossary_id else self.glossary_ids


_schema = DocumentRequest.model_json_schema()
_schema["properties"]["file"] = {"type": "string", "format": "binary"}


@router.post(
    "/v2/document",
    summary="Send a document to be translated",
    openapi_extra={
        "requestBody": {"content": {"multipart/form-data": {"schema": _schema}}, "required": True}
    },
)
async def upload(request: Request, state: State) -> answers.DocumentHandle:
    """Everything that can be wrong with it is said now; what follows is only waiting."""
    values, sent = await read_upload(request)
    account = admit(request, state, requests.key_of(request, values))
    wanted = _parse(values)
    directions = state.models.directions
    target = languages.resolve_target(wanted.target_lang, directions)
    source = AUTO if wanted.source_lang is None else languages.resolve_source(wanted.source_lang, directions)
    terms = glossaries.terms(state, account, wanted.glossaries, (source, target))
    opened = await uploads.open_upload(state, wanted.filename or sent.name, sent.content, source, target)
    _check_format(wanted.output_format, opened.name)
    state.usage.check(account, opened.characters)
    file = state.files.start(
        account,
        opened.name,
        opened.document.media_type,
        characters=opened.characters,
        size=len(sent.content),
        work=lambda: uploads.translate_patiently(state, account, opened, terms),
    )
    return answers.DocumentHandle(document_id=file.id, document_key=file.key)


@router.post("/v2/document/{identity}", response_model_exclude_none=True, summary="How far it is")
@router.get("/v2/document/{identity}", response_model_exclude_none=True, include_in_schema=False)
async def status(request: Request, identity: str, state: State) -> answers.DocumentStatus:
    file = await _find(request, identity, state)
    return answers.DocumentStatus(
        document_id=file.id,
        status=file.status.value,
        billed_characters=file.characters if file.status is FileStatus.DONE else None,
        error_message=file.message or None,
    )


@router.post("/v2/document/{identity}/result", summary="Fetch the translation, once", response_class=Response)
@router.get("/v2/document/{identity}/result", include_in_schema=False, response_class=Response)
async def result(request: Request, identity: str, state: State) -> Response:
    file = await _find(request, identity, state)
    return attachment(state.files.take(file))


async def _find(request: Request, identity: str, state: ServiceState) -> File:
    values = await requests.read_values(request)
    account = authorize(state, requests.key_of(request, values))
    key = values.get("document_key")
    if not isinstance(key, str) or not key:
        raise InvalidValue("Parameter 'document_key' not specified.", field="document_key")
    return state.files.get(identity, key, account)


def _parse(values: dict[str, Any]) -> DocumentRequest:
    given = present(values)
    if "target_lang" not in given:
        raise InvalidValue("Parameter 'target_lang' not specified.", field="target_lang")
    requests.check_not_served(given)
    wanted = requests.parse(given, DocumentRequest)
    if wanted.glossaries and wanted.source_lang is None:
        raise InvalidValue("glossary_id needs source_lang.", field="source_lang")
    requests.check_formality(wanted.formality)
    return wanted


def _check_format(wanted: str | None, name: str) -> None:
    suffix = name.rpartition(".")[2].lower()
    if wanted and wanted.strip().lower().lstrip(".") != suffix:
        raise InvalidValue(
            f"output_format: {clip(wanted)} is not the format of the file; only {suffix} can be written.",
            field="output_format",
        )
