"""LibreTranslate's shapes. Unknown fields are ignored, since clients send many; null and "" mean absent."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from service.schemas.v1 import TextOrTexts

MAX_ALTERNATIVES = 16


def _absent_as(default: object) -> BeforeValidator:
    return BeforeValidator(lambda value: default if value is None or value == "" else value)


class TranslateRequest(BaseModel):
    model_config = ConfigDict(extra="ignore", allow_inf_nan=False)

    q: TextOrTexts = Field(description="a text or, in JSON, a list of texts")
    source: str = Field(max_length=64, description="language code")
    target: str = Field(max_length=64, description="language code")
    format: Annotated[Literal["text"], _absent_as("text")] = Field("text", description="only text for now")
    alternatives: Annotated[int, _absent_as(0)] = Field(
        0, ge=0, le=MAX_ALTERNATIVES, description="other translations wanted besides the best"
    )


class TranslateAnswer(BaseModel):
    translatedText: str | list[str]
    alternatives: list[str] | list[list[str]] | None = None


class ErrorAnswer(BaseModel):
    error: str


class Language(BaseModel):
    code: str
    name: str
    targets: list[str]
