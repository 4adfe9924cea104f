"""What the service says of a translated text, beyond what a model says."""

from __future__ import annotations

from dataclasses import dataclass

from model.texts import TranslatedText


@dataclass(frozen=True)
class ServedText(TranslatedText):
    """`lost`: strings that should have come through once and did not. `through`: the language of a detour.

    `model` names what translated it, both models of a detour; none where nothing had to be translated.
    """

    lost: tuple[str, ...] = ()
    through: str | None = None
    model: str | None = None
