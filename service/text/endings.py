"""A translation ends and begins as its source does: no stop is invented or lost, a capital stays one.

One that was cut does not end: it gets no stop that would make it look whole.
"""

from __future__ import annotations

_STOPS = frozenset(".。")
_FULL_WIDTH = frozenset({"ja", "zh"})
_ENDS = frozenset(".。!！?？…:：;；,，、")
_CLOSERS = "\"'”’»«）)]】」』"


def finished(translation: str, source: str, language: str) -> str:
    """The translation with the source's final stop, or without one, and with a capital where the source has one.

    Other final marks, and capitals inside, are the model's affair: a question may well become a request.
    """
    return begun(_stopped(translation, source, language), source)


def begun(translation: str, source: str) -> str:
    """The translation with a capital where the source has one, and its end as it is."""
    first_word = translation.split(maxsplit=1)[:1]
    is_lower = translation[:1].islower() and first_word[0][1:].islower()
    if is_lower and source[:1].isupper() and first_word[0] not in source:
        return translation[0].upper() + translation[1:]
    return translation


def _stopped(translation: str, source: str, language: str) -> str:
    body, source_closers = _without_closers(source)
    said, closers = _without_closers(translation)
    if not said:
        return translation
    if _ends_with_stop(body):
        if said[-1] in _ENDS or bool(closers) != bool(source_closers):
            return translation
        return said + ("。" if language in _FULL_WIDTH else ".") + closers
    is_ordinal = said[-2:-1].isdigit() and not body[-1:].isdigit()  # 1st → 1.
    if body[-1:] not in _ENDS and _ends_with_stop(said) and not is_ordinal:
        return said[:-1] + closers
    return translation


def _ends_with_stop(text: str) -> bool:
    return text[-1:] in _STOPS and text[-2:-1] not in _ENDS


def _without_closers(text: str) -> tuple[str, str]:
    body = text.rstrip(_CLOSERS)
    return body, text[len(body) :]
