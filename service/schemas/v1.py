"""Our own dialect. Requests are strict: an unknown or contradicting field is an error, never ignored."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from model.search.options import DecodingOptions
from service.errors import InvalidValue, clip

Strategy = Literal["greedy", "beam", "sample"]

# Fields that mean something to one strategy only; min_length and max_length serve all.
_FIELDS_OF: dict[str, frozenset[str]] = {
    "greedy": frozenset(),
    "beam": frozenset({"beam_size", "length_penalty", "n_best"}),
    "sample": frozenset({"n_best", "temperature", "top_k", "top_p", "seed"}),
}
_ANY_STRATEGY = frozenset({"strategy", "min_length", "max_length"})


def _text_or_texts(value: object) -> object:
    """One clear complaint, where a union would make one for each of its members."""
    if isinstance(value, str):
        return value
    if not isinstance(value, list):
        raise ValueError(f"must be a string or a list of strings, not {kind_of(value)}")
    for index, item in enumerate(value):
        if not isinstance(item, str):
            raise ValueError(f"item {index} must be a string, not {kind_of(item)}")
    return value


def kind_of(value: object) -> str:
    """The JSON name of a value's type."""
    names = {dict: "an object", list: "a list", str: "a string", bool: "a boolean", type(None): "null"}
    return names.get(type(value), "a number")


TextOrTexts = Annotated[str | list[str], BeforeValidator(_text_or_texts)]


class Strict(BaseModel):
    # Frozen ones have a hash, and pydantic copies defaults without one for every request.
    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False, frozen=True)


class Decoding(Strict):
    """How to search for the translation. A field that the strategy does not know is refused."""

    strategy: Strategy | None = Field(
        default=None,
        description="greedy: the likeliest piece each time; beam (default): several hypotheses; sample: by chance",
    )
    beam_size: int | None = Field(
        default=None, ge=1, le=64, description="beam only: hypotheses kept; default 5"
    )
    length_penalty: float | None = Field(
        default=None,
        ge=-5,
        le=5,
        description="beam only: score = log-probability / length ** penalty; default 1",
    )
    n_best: int | None = Field(
        default=None, ge=1, le=64, description="beam and sample: candidates wanted; default 1"
    )
    temperature: float | None = Field(
        default=None, gt=0, le=100, description="sample only: below 1 is bolder; default 1"
    )
    top_k: int | None = Field(
        default=None, ge=0, le=1_000_000, description="sample only: the likeliest k pieces; 0: all"
    )
    top_p: float | None = Field(
        default=None, gt=0, le=1, description="sample only: the likeliest pieces that sum to p"
    )
    seed: int | None = Field(
        default=None, ge=0, lt=2**63, description="sample only: equal seeds, equal samples; default 0"
    )
    min_length: int | None = Field(
        default=None, ge=0, le=4096, description="pieces of each sentence's translation, at least"
    )
    max_length: int | None = Field(
        default=None, ge=1, le=4096, description="pieces of each sentence's translation, at most"
    )

    def options(self, fixed_strategy: Strategy | None) -> DecodingOptions:
        """Options for the model. Raises InvalidValue where a field contradicts the path, the strategy or another."""
        if fixed_strategy is not None and self.strategy not in (None, fixed_strategy):
            raise InvalidValue(
                f"decoding.strategy: {self.strategy} contradicts the path, which says {fixed_strategy}.",
                field="decoding.strategy",
            )
        given = self.model_dump(exclude_none=True)
        strategy = fixed_strategy or self.strategy or "beam"
        allowed = _FIELDS_OF[strategy] | _ANY_STRATEGY
        for name in given:
            if name not in allowed:
                known = ", ".join(sorted(allowed - {"strategy"}))
                raise InvalidValue(
                    f"decoding.{name}: strategy {strategy} has no such option; it has {known}.",
                    field=f"decoding.{name}",
                )
        try:
            return DecodingOptions(**{**given, "strategy": strategy})
        except ValueError as error:
            raise InvalidValue(f"decoding: {clip(str(error), characters=200)}", field="decoding") from error


class TranslateRequest(Strict):
    text: TextOrTexts = Field(
        description="a text, or a list of texts; each may have any number of lines and sentences"
    )
    source: str = Field(
        description="language of the text: de, DE, de-AT and de_AT are the same; auto: told from each text",
        max_length=64,
    )
    target: str = Field(description="language wanted", max_length=64)
    format: Literal["text", "html", "xml"] = Field(
        default="text", description="markup comes out as it went in, around the words that it was around"
    )
    terms: dict[str, str] = Field(
        default_factory=dict,
        description="words of the source, and how they are to be translated",
        max_length=1000,
    )
    decoding: Decoding = Decoding()


class Alternative(BaseModel):
    text: str
    score: float


class Detected(BaseModel):
    language: str
    confidence: float = Field(description="0 … 1; 0 where there was no telling, and the text stays as it is")


class Translation(BaseModel):
    text: str = Field(description="the translation, in the layout of the original")
    score: float = Field(
        description="sum over the sentences of log-probability / length ** penalty; larger is better"
    )
    truncated: bool = Field(description="a sentence reached max_length before its end")
    alternatives: list[Alternative] | None = Field(
        default=None,
        description="other distinct candidates, best first; only when n_best is above 1, and maybe fewer",
    )
    through: str | None = Field(
        default=None, description="the language of a detour, where no model translates directly"
    )
    lost: list[str] | None = Field(
        default=None,
        description="placeholders, addresses, terms and the like that are in the text and not in its translation",
    )
    detected: Detected | None = Field(default=None, description="only when source is auto")


class Answer(BaseModel):
    model: str = Field(description="name of the model; of all that were used, with commas between")
    source: str = Field(description="source language as the model calls it, or auto")
    target: str = Field(description="target language as the model calls it")
    milliseconds: float = Field(description="time from request to answer inside the service")


class TranslationAnswer(Answer):
    """The answer to one text."""

    translation: Translation


class TranslationsAnswer(Answer):
    """The answer to a list of texts: as many translations, in the same order."""

    translations: list[Translation]


class Error(BaseModel):
    code: str = Field(description="for programs")
    message: str = Field(description="for people; names what is wrong and what is allowed")
    field: str | None = Field(default=None, description="the part of the request that is to blame")


class ErrorAnswer(BaseModel):
    error: Error


class ModelDirection(BaseModel):
    source: str
    target: str


class ModelDescription(BaseModel):
    name: str
    directions: list[ModelDirection]
    languages: list[str]
    parameters: int | None = None
    device: str | None = None
    dtype: str | None = None  # of the weights
    engine: str | None = None  # what decodes, and in which numbers


class Limits(BaseModel):
    """What one request may hold; more is answered with 413."""

    max_text_characters: int
    max_texts: int
    max_body_bytes: int
    max_request_tokens: int


class Detour(BaseModel):
    source: str
    target: str
    through: str


class ModelsAnswer(BaseModel):
    models: list[ModelDescription]
    detours: list[Detour] | None = Field(
        default=None, description="directions that take two models, with a language between"
    )
    limits: Limits
    key_required: bool = Field(description="whatever is translated or kept needs an API key")
