"""Limits on the texts of one request, checked on characters before anything is tokenized."""

from __future__ import annotations

from collections.abc import Sequence

from service.errors import OverTextLimit
from service.settings import Settings


def check_texts(texts: Sequence[str], settings: Settings, *, field: str) -> None:
    """Raise OverTextLimit naming the number of texts, or the text that is too long, and the limit."""
    if len(texts) > settings.max_texts:
        raise OverTextLimit(
            f"{field}: request ({len(texts)} texts) exceeds text limit ({settings.max_texts}).",
            field=field,
            size=len(texts),
            limit=settings.max_texts,
        )
    for index, text in enumerate(texts):
        if len(text) > settings.max_text_characters:
            name = field if len(texts) == 1 else f"{field}[{index}]"
            raise OverTextLimit(
                f"{name}: request ({len(text)}) exceeds text limit ({settings.max_text_characters}).",
                field=name,
                size=len(text),
                limit=settings.max_text_characters,
            )
