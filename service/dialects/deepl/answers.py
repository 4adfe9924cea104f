"""What DeepL's clients get back."""

from __future__ import annotations

from datetime import datetime

from pydantic import BaseModel

UNLIMITED = 1_000_000_000_000  # what DeepL says where there is no limit


class Translation(BaseModel):
    detected_source_language: str
    text: str
    billed_characters: int | None = None  # only when asked for
    model_type_used: str | None = None  # only when model_type was sent
    truncated: bool | None = None  # this project's addition, where the model reached its longest length


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


class Glossary(BaseModel):
    """One of a single dictionary."""

    glossary_id: str
    name: str
    ready: bool = True
    source_lang: str
    target_lang: str
    creation_time: str
    entry_count: int


class Glossaries(BaseModel):
    glossaries: list[Glossary]


class DictionaryInfo(BaseModel):
    source_lang: str
    target_lang: str
    entry_count: int


class MultilingualGlossary(BaseModel):
    glossary_id: str
    name: str
    creation_time: str
    dictionaries: list[DictionaryInfo]


class MultilingualGlossaries(BaseModel):
    glossaries: list[MultilingualGlossary]


class Dictionary(BaseModel):
    source_lang: str
    target_lang: str
    entries: str
    entries_format: str


class DictionaryEntries(BaseModel):
    dictionaries: list[Dictionary]


class DocumentHandle(BaseModel):
    """Who has both may ask for the document's status, and once for the result."""

    document_id: str
    document_key: str


class DocumentStatus(BaseModel):
    document_id: str
    status: str  # queued, translating, done, error
    seconds_remaining: int | None = None
    billed_characters: int | None = None  # when done
    error_message: str | None = None


def timestamp(moment: datetime) -> str:
    """ISO 8601 with a fraction, which their library insists on."""
    return moment.isoformat(timespec="microseconds").replace("+00:00", "Z")
