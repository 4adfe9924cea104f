"""Which script a text is written in, and which scripts a language is written in."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterable
from functools import lru_cache

_LANGUAGES_BY_SCRIPT = {
    "ARABIC": "ar fa ku ps sd ug ur",
    "ARMENIAN": "hy",
    "BENGALI": "bn",
    "CJK": "ja wuu yue zh",
    "CYRILLIC": "ba be bg kk ky mk mn ru sr tg tt uk",
    "DEVANAGARI": "hi mr ne sa",
    "ETHIOPIC": "am",
    "GEORGIAN": "ka",
    "GREEK": "el",
    "GUJARATI": "gu",
    "GURMUKHI": "pa",
    "HANGUL": "ko",
    "HEBREW": "he yi",
    "HIRAGANA": "ja",
    "KANNADA": "kn",
    "KATAKANA": "ja",
    "KHMER": "km",
    "LAO": "lo",
    "MALAYALAM": "ml",
    "MYANMAR": "my",
    "ORIYA": "or",
    "SINHALA": "si",
    "TAMIL": "ta",
    "TELUGU": "te",
    "THAI": "th",
    "TIBETAN": "bo dz",
}
_BOTH = frozenset({"ku", "sr", "tt", "ug"})  # also written in Latin letters
_SCRIPTS_OF: dict[str, frozenset[str]] = {
    language: frozenset(
        script for script, languages in _LANGUAGES_BY_SCRIPT.items() if language in languages.split()
    )
    for line in _LANGUAGES_BY_SCRIPT.values()
    for language in line.split()
}
_LETTERS_A_SIGN = {"CJK": 3, "HANGUL": 2, "HIRAGANA": 2, "KATAKANA": 2}
"""A sign of these says as much as that many letters of an alphabet."""


def scripts_of(language: str) -> frozenset[str]:
    """The scripts that a language is written in; Latin unless the table says otherwise."""
    scripts = _SCRIPTS_OF.get(language, frozenset({"LATIN"}))
    return scripts | {"LATIN"} if language in _BOTH else scripts


def shares(text: str) -> dict[str, float]:
    """How much of a text is in which script, largest share first; empty where there is no letter."""
    counts = Counter(filter(None, map(script, text)))
    weights = {name: count * _LETTERS_A_SIGN.get(name, 1) for name, count in counts.items()}
    total = sum(weights.values())
    return {name: weight / total for name, weight in sorted(weights.items(), key=lambda item: -item[1])}


def fits(language: str, share_of: dict[str, float]) -> float:
    """How much of a text, by its `shares`, a language can have written."""
    return sum(share_of.get(name, 0.0) for name in scripts_of(language))


@lru_cache(maxsize=1 << 14)
def script(character: str) -> str | None:
    """LATIN, CYRILLIC, CJK, …: the first word of the character's name in Unicode; None for what is no letter."""
    if not character.isalpha():
        return None
    name = unicodedata.name(character, "").split("-")[0].partition(" ")[0]
    if name in ("FULLWIDTH", "HALFWIDTH"):
        return script(unicodedata.normalize("NFKC", character)[0])
    return name or None


def written_in(text: str, scripts: Iterable[str]) -> bool:
    """Whether any letter of the text is of one of these scripts."""
    wanted = set(scripts)
    return any(script(character) in wanted for character in text)
