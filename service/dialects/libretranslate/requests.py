"""What LibreTranslate's clients send. Unknown fields are ignored, since clients send many; null and "" mean absent."""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeVar

from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError
from starlette.requests import Request

from service.dialects.fields import Upload, present, read_fields, read_upload
from service.errors import InvalidValue
from service.schemas.v1 import TextOrTexts

MAX_ALTERNATIVES = 16
Model = TypeVar("Model", bound=BaseModel)

_LISTS = frozenset({"q"})  # LibreTranslate itself takes the first of several; libretranslate-aio means all


def _alternatives(value: object) -> object:
    """In the words that clients know."""
    try:
        number = int(value) if isinstance(value, str | int) and not isinstance(value, bool) else None
    except ValueError:
        number = None
    if number is None:
        raise ValueError("Invalid request: alternatives parameter is not a number")
    if not 0 <= number <= MAX_ALTERNATIVES:
        bound = f"must be <= {MAX_ALTERNATIVES}" if number > 0 else "must be >= 0"
        raise ValueError(f"Invalid request: alternatives parameter {bound}")
    return number


class TranslateRequest(BaseModel):
    model_config = ConfigDict(extra="ignore")

    q: TextOrTexts = Field(description="a text, or a list of texts; in a form the field may be repeated")
    source: str = Field(max_length=64, description="language code, or auto")
    target: str = Field(max_length=64, description="language code")
    format: Literal["text", "html"] = Field("text", description="what the texts are")
    alternatives: Annotated[int, BeforeValidator(_alternatives)] = Field(
        0, description="other translations wanted besides the best"
    )
    glossary: dict[str, str] = Field(
        {}, description="terms and their translations (in JSON only; no part of LibreTranslate's own dialect)"
    )
    api_key: Any = Field(None, description="a key, where one is required")

    @property
    def texts(self) -> list[str]:
        return [self.q] if isinstance(self.q, str) else self.q


class DetectRequest(BaseModel):
    model_config = ConfigDict(extra="ignore")

    q: TextOrTexts = Field(description="a text")
    api_key: Any = None


class SuggestRequest(BaseModel):
    model_config = ConfigDict(extra="ignore")

    q: str = Field(description="a text")
    s: str = Field(description="a better translation of it")
    source: str = Field(max_length=64)
    target: str = Field(max_length=64)
    api_key: Any = None


class FileRequest(BaseModel):
    model_config = ConfigDict(extra="ignore")

    source: str = Field(max_length=64, description="language code, or auto")
    target: str = Field(max_length=64, description="language code")
    api_key: Any = None


def file_schema() -> dict[str, Any]:
    """For the OpenAPI description."""
    schema = FileRequest.model_json_schema()
    schema["properties"]["file"] = {"type": "string", "format": "binary"}
    return schema


async def read(request: Request, model: type[Model]) -> Model:
    """The request as a value; raises InvalidValue in LibreTranslate's words for a field that is missing."""
    return _validate(await read_fields(request, lists=_LISTS), model)


async def read_file(request: Request) -> tuple[FileRequest, Upload]:
    values, upload = await read_upload(request)
    return _validate(values, FileRequest), upload


def _validate(values: dict[str, Any], model: type[Model]) -> Model:
    given = present(values)
    if isinstance(values.get("q"), str):
        given["q"] = values["q"]  # a blank text is a text
    given.setdefault("api_key", given.get("apiKey"))  # npm's libretranslate spells it so
    for name, field in model.model_fields.items():
        if field.is_required() and name not in given:
            raise InvalidValue(f"Invalid request: missing {name} parameter", field=name)
    try:
        return model.model_validate(given)
    except ValidationError as error:
        raise RequestValidationError(error.errors()) from error
