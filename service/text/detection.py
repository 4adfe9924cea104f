"""Which of the served languages a text is in.

py3langid tells languages apart (docs/decisions/0008-py3langid-tells-languages.md); the script decides first, since no
classifier should ever take Latin letters for Bengali.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import cache
from typing import NamedTuple

from py3langid.langid import MODEL_FILE, LanguageIdentifier

from service.text.scripts import fits, shares

ENOUGH = 5_000  # characters of a text that are looked at
_FOREIGN = 0.01
"""Where all served languages together get less than this, the text is likely in none of them."""
_LIBRARY_CODES = {"nb": "no"}


class Detection(NamedTuple):
    """A language and how sure of it: 0 … 1, right about as often as it says."""

    language: str
    confidence: float


class Detector:
    """Detects among `languages`, and no others. Making one reads the library's model, once a process."""

    def __init__(self, languages: Iterable[str]) -> None:
        self.languages = tuple(sorted(set(languages)))
        self._identifier = _identifier()
        known = set(self._identifier.labels)
        self._detectable = {
            language: code
            for language in self.languages
            if (code := _LIBRARY_CODES.get(language, language)) in known
        }

    def __repr__(self) -> str:
        return f"Detector({', '.join(self.languages)})"

    def detect(self, text: str) -> list[Detection]:
        """The served languages that can have written the text, likeliest first.

        Empty where there is no letter, or none of a script that a served language uses.
        """
        text = text[:ENOUGH]
        share_of = shares(text)
        fitting = {language: fits(language, share_of) for language in self._detectable}
        best_fit = max(fitting.values(), default=0.0)
        if best_fit == 0.0:
            return []
        # Words in another script ("Das heißt 你好") do not change the language; a language of fewer letters is out.
        candidates = [language for language, fit in fitting.items() if fit == best_fit]
        # The library's features know where words begin and end, so a single word needs blanks around it.
        scores = dict(self._identifier.rank(f" {text.strip()} "))
        likely = {language: scores[self._detectable[language]] for language in candidates}
        together = sum(likely.values())
        if together == 0.0:
            likely, together = dict.fromkeys(candidates, 1.0), float(len(candidates))
            sure = 0.0
        else:
            sure = min(1.0, math.sqrt(together / _FOREIGN)) * best_fit
        ranked = sorted(likely.items(), key=lambda item: (-item[1], item[0]))
        return [Detection(language, sure * score / together) for language, score in ranked]


@cache
def _identifier() -> LanguageIdentifier:
    """All 139 languages; it is never restricted, so it can be shared."""
    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
