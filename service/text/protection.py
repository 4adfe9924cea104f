"""Finds what must not change in a sentence: placeholders, addresses, code, names that programs gave, symbols.

The forms are those that training/corpora/copies.py shows a model, and some that only stand in format strings.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from service.text.blocks import AS_IT_IS, Kept

_IDENTIFIER = r"[A-Za-z_][\w.\-]{0,80}"
_TLD = r"[A-Za-z]{2,24}"

# The first form that fits at a place is taken, so longer ones come first. What may repeat is bounded where it could
# be begun at many places and fail at the end: a text of 20,000 characters must not cost their square.
_FORMS = (
    r"`[^`\n]+`",
    r"<x\b[^<>]*></x>",
    r"</?[A-Za-z][^<>\n]*>",
    r"&(?:#\d+|#x[0-9A-Fa-f]+|[A-Za-z]\w*);",
    r"\{\{[^{}\n]{1,60}\}\}",
    r"[$#]\{[^{}\n]{1,60}\}",
    r"\{%[^%\n]{1,60}%\}",
    r"\{[^{}\n]{0,60}\}",
    r"\[\[[^\[\]\n]{1,60}\]\]",
    r"\[[A-Z]*\d+[A-Z]*\]",
    r"⟦\d+⟧",
    r"@@\w+@@",
    r"__\w+?__",
    r"(?:https?|ftp|file|mailto|tel)://[^\s<>\"“”„»«]*[^\s<>\"“”„»«.,;:!?')\]}]",
    r"\bmailto:[^\s<>\"]*\w",
    rf"\bwww\.[\w.-]+\.{_TLD}(?:/[^\s<>\"]*[\w/])?",
    rf"\b[\w.+%-]{{1,64}}@[\w-]{{1,63}}(?:\.[\w-]{{1,63}}){{0,8}}\.{_TLD}\b",
    r"%\(\w+\)[#0\- +]?\d*(?:\.\d+)?[diouxXeEfFgGcrsa]",
    r"%\d+\$[#0\- +]?\d*(?:\.\d+)?[a-zA-Z@]",
    r"%(?:[#0\-+]|\d+)*(?:\.\d+)?(?:hh|h|ll|l|L|z|j|t|q)?[diouxXeEfFgGcs@](?!\w)",
    r"(?<![\w%])%\w\w+%(?![\w%])",
    r"(?<!\d)%%",
    r"\$[A-Za-z_]\w*",
    r"(?<![\w:]):[A-Za-z_]\w*:?(?!\w)",
    r"(?<![\w@.])@\w[\w.\-]*\w",
    r"(?<![\w#&])#\w+",
    r"(?<!\S)&(?!\S)",
    r"\\[nrt\"'\\]",
    rf"(?<![\w-])--?{_IDENTIFIER}(?:=\S*\w)?",
    rf"\b{_IDENTIFIER}\(\)",
    r"(?<![\w/])(?:~|\.{1,2})?(?:/[\w.\-]{1,100}){1,30}/?(?<![.\-])",
    r"\b[A-Za-z]:\\[\w\\.\-]*[\w\\]",
    r"\b\w+(?:_\w+)+\b",
    r"\b[a-z][a-z\d]{0,40}(?:[A-Z][a-z\d]{1,40}){1,12}\b",
    r"\b[\w\-]{1,80}\.(?:txt|md|json|ya?ml|toml|ini|cfg|py|js|ts|css|html?|xml|csv|pdf|docx?|xlsx?|odt|zip|gz|png|jpe?g|svg|gif|mp[34])\b",
    r"\+\d[\d ()/\-]{4,30}\d",
    r"\b(?:[A-Z]{1,}[\d\-/]*\d[\w\-/]*|\d+[A-Z]+[\d\-]\w*)\b",
    r"\b(?!\d{1,2}\.\d{1,2}\.\d{4}\b)v?\d+(?:\.\d+){2,}\b",
    r"\bv\d+(?:\.\d+)*\b",
    r"\b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,40}\b",
    r"\b\d{5,}\b",
)
# Pictures and symbols, with what joins and colours them.
_PICTURE = (
    "[\u2190-\u21ff\u2300-\u23ff\u2460-\u27bf\u2900-\u2bff\u00a9\u00ae\u2122\ufffc\ufffd"
    "\U0001d100-\U0001d1ff\U0001f000-\U0001faff]"
)
_JOINED = f"{_PICTURE}[\ufe0e\ufe0f\u20e3\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f]*"
_PICTURES = rf"{_JOINED}(?:\u200d?{_JOINED})*"

_ANY_FORM = re.compile("|".join(_FORMS))
_PROTECTED = re.compile("|".join((*_FORMS, _PICTURES)))
# What has none of this holds no form and no picture. Most sentences do, and so cost no search for each of them.
_SIGN = re.compile(r"[^\w\s.,;!?'\"’“”„()…–—-]|[\d_]|[a-z][A-Z]|\.\w|\(\)|(?<!\w)-")
_AT_EDGES = re.compile(
    rf"(?P<before>(?:{_PICTURES}\s*)*)(?P<core>.*?)(?P<after>(?:\s*{_PICTURES})*)", re.DOTALL
)
NUMBER = re.compile(r"\d+(?:[.,:/\u00a0'’]\d+)*")


def protected(
    text: str, kept: tuple[Kept, ...] = (), spelling: Mapping[int, str] = AS_IT_IS
) -> tuple[Kept, ...]:
    """What must not change in `text`, in order, together with what is `kept` already.

    Neighbours that touch each other are one: "%d%%" stays together. What is found comes out as `spelling` writes it:
    a "<b>" that a page shows to its readers does not become live.
    """
    if not kept and not _SIGN.search(text):
        return ()
    found = [
        Kept(match.start(), match.end(), match[0].translate(spelling))
        for match in _PROTECTED.finditer(text)
        if not any(match.start() < one.end and one.start < match.end() for one in kept)
    ]
    together: list[Kept] = []
    for one in sorted([*found, *kept], key=lambda one: (one.start, one.end)):
        if together and together[-1].end == one.start:
            together[-1] = Kept(together[-1].start, one.end, together[-1].source + one.source)
        else:
            together.append(one)
    return tuple(together)


def without_forms(text: str, cover: str) -> str:
    """The text with every character of what must not change, but for symbols, replaced by the character `cover`."""
    return _ANY_FORM.sub(lambda match: cover * len(match[0]), text) if _SIGN.search(text) else text


def core_of(text: str, kept: tuple[Kept, ...] = ()) -> tuple[int, int]:
    """Start and end of a text without the symbols at its ends, which need no model to stay where they are.

    What is `kept` has a part in the sentence, also at its ends.
    """
    match = _AT_EDGES.fullmatch(text)
    if match is None:
        return 0, len(text)
    start, end = match.span("core")
    return min([start, *(one.start for one in kept)]), max([end, *(one.end for one in kept)])
