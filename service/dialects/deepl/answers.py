"""What DeepL's clients get back."""

from __future__ import annotations

from pydantic import BaseModel

UNLIMITED = 1_000_000_000_000  # what DeepL says where there is no limit


class Translation(BaseModel):
    detected_source_language: str
    text: str
    billed_characters: int | None = None  # only when asked for
    model_type_used: str | None = None  # only when model_type was sent


class TranslateAnswer(BaseModel):
    translations: list[Translation]


class UsageAnswer(BaseModel):
    character_count: int
    character_limit: int


class Language(BaseModel):
    language: str
    name: str
    supports_formality: bool | None = None  # of targets only


class GlossaryPair(BaseModel):
    source_lang: str
    target_lang: str


class GlossaryPairs(BaseModel):
    supported_languages: list[GlossaryPair]


class ErrorAnswer(BaseModel):
    message: str
