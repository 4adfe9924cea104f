"""What LibreTranslate's clients get back. Fields that were not asked for are left out, never null."""

from __future__ import annotations

from pydantic import BaseModel


class DetectedLanguage(BaseModel):
    """`confidence` is a whole number from 0 to 100: some clients cannot read 96.0."""

    confidence: int
    language: str


class TranslateAnswer(BaseModel):
    """A text for a text, lists for a list; `detectedLanguage` for source auto only, `truncated` only where it is so."""

    translatedText: str | list[str]
    detectedLanguage: DetectedLanguage | list[DetectedLanguage] | None = None
    alternatives: list[str] | list[list[str]] | None = None
    truncated: bool | list[bool] | None = None  # this project's addition


class ErrorAnswer(BaseModel):
    error: str


class Language(BaseModel):
    code: str
    name: str
    targets: list[str]


class NamedCode(BaseModel):
    code: str
    name: str


class DefaultLanguages(BaseModel):
    source: NamedCode
    target: NamedCode


class SettingsAnswer(BaseModel):
    apiKeys: bool
    charLimit: int  # -1: none
    filesTranslation: bool
    frontendTimeout: int  # milliseconds that a page should wait for more typing
    keyRequired: bool
    language: DefaultLanguages
    suggestions: bool
    supportedFilesFormat: list[str]


class FileAnswer(BaseModel):
    translatedFileUrl: str


class SuggestAnswer(BaseModel):
    success: bool = True
