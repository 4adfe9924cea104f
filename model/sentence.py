"""A source that is known to fit the model."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Sentence:
    """Made by `Translator.prepare` only."""

    text: str
    target_language: str
    ids: tuple[int, ...]  # <2xx> pieces </s>, or what another tokenizer asks for a language with
    phrases: tuple[tuple[int, ...], ...] = ()  # ids that its translation has to hold
