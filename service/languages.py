"""Language codes: how clients spell them, which ones a model knows, what they are called."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from service.errors import UnavailablePair, UnsupportedLanguage, clip

Direction = tuple[str, str]

# Codes that ISO 639-1 withdrew; Norwegian, whose written form is nearly always Bokmål; two of LibreTranslate's own.
_OLD_CODES = {
    "in": "id",
    "iw": "he",
    "ji": "yi",
    "jw": "jv",
    "mo": "ro",
    "no": "nb",
    "pb": "pt",
    "zt": "zh",
}

_NAMES_BY_CODE = """
    af:Afrikaans am:Amharic ar:Arabic az:Azerbaijani be:Belarusian bg:Bulgarian bn:Bengali bs:Bosnian ca:Catalan
    cs:Czech cy:Welsh da:Danish de:German el:Greek en:English eo:Esperanto es:Spanish et:Estonian eu:Basque
    fa:Persian fi:Finnish fo:Faroese fr:French fy:Frisian ga:Irish gd:Gaelic gl:Galician gu:Gujarati ha:Hausa
    he:Hebrew hi:Hindi hr:Croatian hu:Hungarian hy:Armenian ia:Interlingua id:Indonesian ig:Igbo is:Icelandic
    it:Italian ja:Japanese jv:Javanese ka:Georgian kk:Kazakh km:Khmer kn:Kannada ko:Korean ku:Kurdish ky:Kyrgyz
    la:Latin lb:Luxembourgish lo:Lao lt:Lithuanian lv:Latvian mg:Malagasy mi:Maori mk:Macedonian ml:Malayalam
    mn:Mongolian mr:Marathi ms:Malay mt:Maltese my:Burmese nb:Norwegian ne:Nepali nl:Dutch nn:Nynorsk oc:Occitan
    pa:Punjabi pl:Polish ps:Pashto pt:Portuguese qu:Quechua ro:Romanian ru:Russian sd:Sindhi si:Sinhala sk:Slovak
    sl:Slovenian so:Somali sq:Albanian sr:Serbian sv:Swedish sw:Swahili ta:Tamil te:Telugu tg:Tajik th:Thai
    tk:Turkmen tl:Tagalog tr:Turkish tt:Tatar ug:Uyghur uk:Ukrainian ur:Urdu uz:Uzbek vi:Vietnamese vo:Volapük
    xh:Xhosa yi:Yiddish yo:Yoruba zh:Chinese zu:Zulu
"""
_NAMES = dict(entry.split(":") for entry in _NAMES_BY_CODE.split())


def name_of(code: str) -> str:
    """English name of a language, or its code when the table has none."""
    return _NAMES.get(code, code)


def known_languages(directions: Iterable[Direction]) -> list[str]:
    """Codes that occur in any direction, in alphabetical order."""
    return sorted({code for direction in directions for code in direction})


def targets_of(source: str, directions: Iterable[Direction]) -> list[str]:
    """Languages that `source` can be turned into; itself is one of them, since such text comes back unchanged."""
    return sorted({target for origin, target in directions if origin == source} | {source})


def resolve_direction(source: str, target: str, directions: Sequence[Direction]) -> Direction:
    """The direction a client means by two codes in its own spelling.

    Case does not matter, `_` is `-`, and a region or script falls back to its base (de_AT → de). Raises
    UnsupportedLanguage or UnavailablePair with what is available; equal languages are always a direction.
    """
    resolved = (
        resolve_language(source, directions, field="source"),
        resolve_language(target, directions, field="target"),
    )
    if resolved[0] != resolved[1] and resolved not in directions:
        pairs = ", ".join(f"{origin}→{goal}" for origin, goal in directions)
        origin, goal = (f"{name_of(code)} ({code})" for code in resolved)
        raise UnavailablePair(
            f"{goal} is not available as a target language from {origin}; available: {pairs}.", field="target"
        )
    return resolved


def resolve_language(spelling: str, directions: Iterable[Direction], *, field: str) -> str:
    """The model's code for a client's spelling; raises UnsupportedLanguage naming the known ones."""
    known = known_languages(directions)
    code = spelling.strip().lower().replace("_", "-")
    while code:
        code = _OLD_CODES.get(code, code)
        if code in known:
            return code
        code = code.rpartition("-")[0]
    raise UnsupportedLanguage(
        f"{field}: {clip(spelling)} is not supported; known: {', '.join(known)}.", field=field
    )
