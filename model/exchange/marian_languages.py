"""Which languages a MarianMT checkpoint translates between: it tells by its tags, a file, or its name."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from model.exchange.language_codes import language_code

_TAG = re.compile(r">>(\S+)<<")
_NAME = re.compile(r"opus-mt-(?:tc-\w+?-)?(?P<source>[A-Za-z_]+)-(?P<target>[A-Za-z_]+)")


class UnknownLanguages(ValueError):
    """The checkpoint does not say what its languages are, or has not those that were asked for."""


def tags_of(pieces: Iterable[str]) -> dict[str, str]:
    """For each target language the piece that asks for it, such as >>deu<<; none where there is one target.

    A tag that is no language, or one more spelling of a language, is there under the piece itself: it is a control
    piece too.
    """
    tags: dict[str, str] = {}
    for piece in pieces:
        if tag := _TAG.fullmatch(piece):
            code = _code(tag[1])
            tags[code if code and code not in tags else piece] = piece
    return tags


def directions_of(
    *,
    names: Sequence[str],
    described: Mapping[str, Any],
    tags: Mapping[str, str],
    sources: Sequence[str],
    targets: Sequence[str],
) -> list[tuple[str, str]]:
    """Every given source with every given target that is another language.

    A side that is not given is what `described` (a tokenizer_config.json) or one of the checkpoint's `names` says, and
    for targets all that have a tag. Raises UnknownLanguages.
    """
    from_languages = [_given(code, "source") for code in sources] or [_told("source", names, described)]
    to_languages = [_given(code, "target") for code in targets]
    if tags:
        to_languages = to_languages or [code for code in tags if _code(code) == code]
        if unknown := [code for code in to_languages if code not in tags]:
            raise UnknownLanguages(f"no tag for {unknown[0]!r}; this model has {', '.join(tags)}")
    else:
        to_languages = to_languages or [_told("target", names, described)]
        if len(to_languages) > 1:
            raise UnknownLanguages(
                f"{', '.join(to_languages)}: this model has one target language, for it has no >>xxx<< pieces"
            )
    directions = [(one, other) for one in from_languages for other in to_languages if one != other]
    if not directions:
        raise UnknownLanguages(f"source and target are the same: {', '.join(from_languages)}")
    return directions


def _code(spelling: str) -> str | None:
    try:
        return language_code(spelling)
    except ValueError:
        return None


def _given(spelling: str, side: str) -> str:
    try:
        return language_code(spelling)
    except ValueError as error:
        raise UnknownLanguages(f"--{side}-language: {error}") from None


def _told(side: str, names: Sequence[str], described: Mapping[str, Any]) -> str:
    matches = [match for name in names if (match := _NAME.search(name))]
    spellings = [described.get(f"{side}_lang"), *(match[side] for match in matches)]
    spelling = next((one for one in spellings if isinstance(one, str)), None)
    hint = f"name it with --{side}-language"
    if spelling is None:
        raise UnknownLanguages(f"the checkpoint does not say what its {side} language is; {hint}")
    code = _code(spelling)
    if code is None:
        raise UnknownLanguages(
            f"the checkpoint's {side} language is {spelling!r}, which is not one language; {hint}"
        )
    return code
