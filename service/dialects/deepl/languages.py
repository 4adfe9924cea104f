"""Languages as DeepL's clients spell them: capitals, and targets with a region where there is more than one."""

from __future__ import annotations

from collections.abc import Sequence

from service.errors import InvalidValue, UnavailablePair, UnsupportedLanguage, clip
from service.languages import Direction, name_of, resolve_language

# Their libraries refuse EN and PT as targets before they ask. The models know no regions, so all mean the same.
_TARGETS = {
    "en": {"EN-GB": "English (British)", "EN-US": "English (American)"},
    "pt": {"PT-BR": "Portuguese (Brazilian)", "PT-PT": "Portuguese (European)"},
    "zh": {"ZH": "Chinese (simplified)", "ZH-HANS": "Chinese (simplified)"},
}


def code_of(language: str) -> str:
    """A language of a text: never with a region."""
    return language.upper()


def sources(directions: Sequence[Direction]) -> dict[str, str]:
    """Codes and names of what can be translated."""
    return {code_of(code): name_of(code) for code in sorted({source for source, _ in directions})}


def targets(directions: Sequence[Direction]) -> dict[str, str]:
    """Codes and names of what texts can be turned into."""
    listed: dict[str, str] = {}
    for code in sorted({target for _, target in directions}):
        listed |= _TARGETS.get(code, {code_of(code): name_of(code)})
    return listed


def resolve_target(spelling: str, directions: Sequence[Direction]) -> str:
    """The model's code of a target; raises InvalidValue in the words that clients know."""
    try:
        return resolve_language(spelling, directions, field="target_lang")
    except UnsupportedLanguage:
        allowed = ", ".join(targets(directions))
        raise InvalidValue(
            f"Value for 'target_lang' not supported: {clip(spelling)}; supported: {allowed}.",
            field="target_lang",
        ) from None


def resolve_source(spelling: str, directions: Sequence[Direction]) -> str:
    """The model's code of a source; raises InvalidValue in the words that clients know."""
    try:
        return resolve_language(spelling, directions, field="source_lang")
    except UnsupportedLanguage:
        allowed = ", ".join(sources(directions))
        raise InvalidValue(
            f"Value for 'source_lang' not supported: {clip(spelling)}; supported: {allowed}.",
            field="source_lang",
        ) from None


def glossary_pairs(directions: Sequence[Direction]) -> list[Direction]:
    return sorted(set(directions))


def check_glossary_pair(source: str, target: str, directions: Sequence[Direction]) -> Direction:
    """The direction of a dictionary; raises InvalidValue or UnavailablePair."""
    direction = (resolve_source(source, directions), resolve_target(target, directions))
    if direction not in directions:
        pairs = ", ".join(f"{origin}→{goal}" for origin, goal in directions)
        raise UnavailablePair(
            f"There is no translating from {clip(source)} to {clip(target)}; available: {pairs}.",
            field="target_lang",
        )
    return direction
