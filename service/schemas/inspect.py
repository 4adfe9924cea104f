"""What the glass box asks: one sentence, and what to change about its translation."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from model.heads import Head
from model.what_if import LARGEST_BEAM, MOST_ALTERNATIVES, WIDEST_MARGIN, WhatIf
from service.schemas.v1 import Strict, kind_of


def _text_or_ids(value: object) -> object:
    """One clear complaint, where a union would make one for each of its members."""
    if isinstance(value, str):
        return value
    if not isinstance(value, list) or not all(type(item) is int for item in value):
        raise ValueError(f"must be a string or a list of whole numbers, not {kind_of(value)}")
    return value


class AttentionHead(Strict):
    part: Literal["encoder", "decoder", "cross"] = Field(
        description="self-attention of the encoder or the decoder, or the decoder's attention about the source"
    )
    layer: int = Field(ge=0, description="from 0, in the order of computation")
    head: int = Field(ge=0, description="from 0")

    def named(self) -> Head:
        return Head(self.part, self.layer, self.head)


class InspectRequest(Strict):
    """A text that is translated as ONE sentence. As it stands, nothing is changed: what is shown is what is served."""

    text: str = Field(min_length=1, description="one sentence")
    source: str = Field(description="language of the sentence, or auto", max_length=64)
    target: str = Field(description="language wanted", max_length=64)
    beam_size: int = Field(default=5, ge=1, le=LARGEST_BEAM, description="hypotheses kept at each step")
    length_penalty: float = Field(
        default=1.0, ge=-5, le=5, description="score = log-probability / length ** penalty"
    )
    margin: float = Field(
        default=WhatIf.margin,
        ge=0,
        le=WIDEST_MARGIN,
        description="how far behind the best of its length a hypothesis may be, in nats, and still go on",
    )
    temperature: float = Field(
        default=1.0, ge=0.05, le=20, description="the logits are divided by it: below 1 the model gets surer"
    )
    prefix: Annotated[str | list[int], BeforeValidator(_text_or_ids)] = Field(
        default="", description="what the translation has to begin with: text, or ids of pieces"
    )
    silent_heads: list[AttentionHead] = Field(default=[], max_length=1024, description="heads switched off")
    follow: Literal["beam", "greedy"] = Field(
        default="beam", description="whose best hypothesis the decoder is shown on"
    )
    alternatives: int = Field(
        default=8, ge=1, le=MOST_ALTERNATIVES, description="likeliest next pieces told at each position"
    )


class InspectHeadRequest(InspectRequest):
    """The same, and the head whose vectors are wanted."""

    head: AttentionHead
