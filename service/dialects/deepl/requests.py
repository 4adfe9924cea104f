"""What DeepL's clients send to be translated. Unknown fields are ignored; null and blank texts mean absent."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, TypeVar

from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError
from starlette.requests import Request

from service.callers import bearer
from service.dialects.fields import present, read_fields
from service.errors import InvalidValue
from service.schemas.v1 import kind_of
from service.text.reading import Reading, Sentences

Model = TypeVar("Model", bound=BaseModel)
Formality = Literal["default", "more", "less", "prefer_more", "prefer_less"]
ModelType = Literal["quality_optimized", "prefer_quality_optimized", "latency_optimized"]

MAX_GLOSSARY_IDS = 5
_TAGS = ("ignore_tags", "splitting_tags", "non_splitting_tags", "glossary_ids")
_LISTS = frozenset({"text", *_TAGS, "custom_instructions"})
# They would change the translation in a way that this service cannot; to ignore them would be a lie.
_NOT_SERVED = ("style_id", "translation_memory_id", "custom_instructions")


def _texts(value: object) -> object:
    if isinstance(value, str):
        return [value]
    if isinstance(value, list):
        for index, item in enumerate(value):
            if not isinstance(item, str):
                raise ValueError(f"item {index} must be a string, not {kind_of(item)}")
        return value
    raise ValueError(f"must be a list of strings, not {kind_of(value)}")


def _names(value: object) -> object:
    """Tags and ids: a list, or a text with commas, or several of them."""
    given = _texts(value)
    assert isinstance(given, list)
    return [name.strip() for item in given for name in item.split(",") if name.strip()]


def word(value: object) -> object:
    """Some clients send numbers for words, others blanks behind them."""
    if isinstance(value, bool):
        return "1" if value else "0"
    return str(value).strip().lower() if isinstance(value, str | int) else value


Names = Annotated[tuple[str, ...], BeforeValidator(_names)]


class TranslateRequest(BaseModel):
    model_config = ConfigDict(extra="ignore")

    text: Annotated[list[str], BeforeValidator(_texts)] = Field(description="texts; a form repeats the field")
    target_lang: str = Field(max_length=64)
    source_lang: str | None = Field(None, max_length=64, description="detected where it is left out")
    split_sentences: Annotated[Literal["0", "1", "nonewlines"], BeforeValidator(word)] | None = Field(
        None,
        description="0: a text is one sentence; nonewlines: line breaks are blanks; 1: neither (default)",
    )
    preserve_formatting: bool = Field(False, description="layout is always preserved")
    formality: Annotated[Formality, BeforeValidator(word)] = "default"
    tag_handling: Annotated[Literal["html", "xml"], BeforeValidator(word)] | None = None
    outline_detection: bool = True
    splitting_tags: Names = ()
    non_splitting_tags: Names = ()
    ignore_tags: Names = ()
    glossary_id: str | None = None
    glossary_ids: Names = ()
    model_type: Annotated[ModelType, BeforeValidator(word)] | None = None
    show_billed_characters: bool = False

    def reading(self, terms: Mapping[str, str]) -> Reading:
        """In HTML line breaks are blanks unless a client says otherwise, and names of tags are small."""
        is_html = self.tag_handling == "html"
        usual: Sentences = "nonewlines" if is_html else "1"
        tags = (
            frozenset(name.lower() if is_html else name for name in names)
            for names in (self.ignore_tags, self.splitting_tags, self.non_splitting_tags)
        )
        ignored, splitting, non_splitting = tags
        return Reading(
            markup=self.tag_handling or "text",
            sentences=self.split_sentences or usual,
            ignore_tags=ignored,
            splitting_tags=splitting,
            non_splitting_tags=non_splitting,
            finds_outline=self.outline_detection,
            terms=terms,
        )

    @property
    def glossaries(self) -> tuple[str, ...]:
        """The ids of the glossaries to use, in this order."""
        return (self.glossary_id,) if self.glossary_id else self.glossary_ids


def key_of(request: Request, values: dict[str, Any]) -> object:
    """The key in the header, or where old clients put it: the field or the query parameter auth_key."""
    in_header = bearer(request, "DeepL-Auth-Key")
    return in_header or values.get("auth_key") or request.query_params.get("auth_key")


async def read_values(request: Request) -> dict[str, Any]:
    return await read_fields(request, lists=_LISTS)


def parse_translation(values: dict[str, Any]) -> TranslateRequest:
    """Raises InvalidValue, or RequestValidationError, naming the field."""
    given = present(values)
    if isinstance(values.get("text"), str):
        given["text"] = values["text"]  # a blank text is a text
    for name in ("text", "target_lang"):
        if name not in given:
            raise InvalidValue(f"Parameter '{name}' not specified.", field=name)
    check_not_served(given)
    wanted = parse(given, TranslateRequest)
    if wanted.glossary_id and wanted.glossary_ids:
        raise InvalidValue("glossary_id and glossary_ids exclude each other.", field="glossary_ids")
    if len(wanted.glossary_ids) > MAX_GLOSSARY_IDS:
        raise InvalidValue(f"glossary_ids: at most {MAX_GLOSSARY_IDS}.", field="glossary_ids")
    if wanted.glossaries and wanted.source_lang is None:
        raise InvalidValue("glossary_id needs source_lang.", field="source_lang")
    check_formality(wanted.formality)
    return wanted


def check_not_served(values: dict[str, Any]) -> None:
    for name in _NOT_SERVED:
        if values.get(name):
            raise InvalidValue(f"'{name}' is not supported by this service.", field=name)


def check_formality(formality: Formality) -> None:
    """`prefer_…` is a wish, the others are a demand that no language here can meet."""
    if formality in ("more", "less"):
        raise InvalidValue("'formality' is not supported for given 'target_lang'.", field="formality")


def parse(values: dict[str, Any], model: type[Model]) -> Model:
    try:
        return model.model_validate(values)
    except ValidationError as error:
        raise RequestValidationError(error.errors()) from error
