"""A translation ends and begins as its source does: no mark is invented or lost at the end, a capital stays one.

One that was cut does not end: it gets no stop that would make it look whole.
"""

from __future__ import annotations

_PAUSES = frozenset(",;:")  # what announces that something follows
_WIDE = {"，": ",", "、": ",", "；": ";", "：": ":", "。": ".", "！": "!", "？": "?"}
_NARROW = {".": "。", ",": "，", ";": "；", ":": "："}
_WIDE_LANGUAGES = frozenset({"ja", "zh"})
_MARKS = frozenset(".!?,;:")
_INVENTED = frozenset(".!,")  # at the end of what has no mark there; a question may well be one without it
_CLOSERS = "\"'”’»«）)]】」』"


def finished(translation: str, source: str, language: str) -> str:
    """The translation with the source's final mark, or without one, and with a capital where the source has one.

    Where the source ends with a stop, another final mark is the model's affair: an order may well be shouted. So are
    capitals inside.
    """
    return begun(_ended(translation, source, language), source)


def begun(translation: str, source: str) -> str:
    """The translation with a capital where the source has one, and its end as it is."""
    first_word = translation.split(maxsplit=1)[:1]
    is_lower = translation[:1].islower() and first_word[0][1:].islower()
    if is_lower and source[:1].isupper() and first_word[0] not in source:
        return translation[0].upper() + translation[1:]
    return translation


def _ended(translation: str, source: str, language: str) -> str:
    body, source_closers = _without_closers(source)
    said, closers = _without_closers(translation)
    if not said:
        return translation
    wanted, mark = _mark(body), _mark(said)
    if wanted == "":
        is_ordinal = mark == "." and said[-2:-1].isdigit() and not body[-1:].isdigit()  # 1st → 1.
        return said[:-1] + closers if mark in _INVENTED and not is_ordinal else translation
    if bool(closers) != bool(source_closers):
        return translation
    if wanted == "…" and mark in ("", "."):
        return said.rstrip(".。") + ("……" if language in _WIDE_LANGUAGES else "...") + closers
    if wanted in _PAUSES and mark != wanted and mark in {"", *_INVENTED, *_PAUSES}:
        return said.rstrip("".join((*_MARKS, *_WIDE))) + _written(wanted, language) + closers
    if wanted == "." and mark == "":
        return said + _written(".", language) + closers
    return translation


def _mark(text: str) -> str:
    """The final mark, narrow: one of . ! ? , ; : or … for several points; empty if there is none."""
    if text.endswith(("…", "..")):
        return "…"
    end = _WIDE.get(text[-1:], text[-1:])
    return end if end in _MARKS else ""


def _written(mark: str, language: str) -> str:
    return _NARROW[mark] if language in _WIDE_LANGUAGES else mark


def _without_closers(text: str) -> tuple[str, str]:
    body = text.rstrip(_CLOSERS)
    return body, text[len(body) :]
