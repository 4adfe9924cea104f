"""Text into sentences, and a sentence that is too long into parts that fit. Nothing is ever lost or moved.

Boundaries come from sentencex (Wikimedia's rules and abbreviations for some 240 languages). Only their
offsets are used, so that the text survives whatever the library returns, and a few of them are corrected.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence

import sentencex


def split_sentences(text: str, language: str) -> list[str]:
    """The sentences of `text`, each with the blanks and the line end after it: `"".join(result) == text`.

    A line end (any that `str.splitlines` knows) always ends a sentence. Quoted sentences stay together with
    their quotation marks. `language` is a code such as "de" or "de-AT"; one the library does not know is
    split by its general rules.
    """
    language = re.split("[-_]", language.lower())[0]
    sentences: list[str] = []
    for line in text.splitlines(keepends=True):
        start = 0
        for end in _sentence_ends(line, language):
            sentences.append(line[start:end])
            start = end
    return sentences


def split_to_fit(sentence: str, fits: Callable[[str], bool]) -> list[str]:
    """`sentence` in parts that all fit, each as long as it can be: `"".join(result) == sentence`.

    A part ends after a clause, or else after a word, or else inside a word but not inside a character as
    people see it (an emoji of several code points, a letter and its accents), or else anywhere. A part of n
    characters costs about 2 log2(n) calls of `fits`; but for the first, on 2n or FIRST_GUESS characters.
    ValueError if not even one character fits.
    """
    if not sentence or fits(sentence):
        return [sentence] if sentence else []
    boundaries = [[match.end() for match in level.finditer(sentence)] for level in (_CLAUSE, _WORD)]
    parts: list[str] = []
    start = 0
    while start < len(sentence):
        limit = _longest_fit(sentence, start, fits)
        end = limit if limit == len(sentence) else _best_cut(sentence, start, limit, boundaries, fits)
        parts.append(sentence[start:end])
        start = end
    return parts


def _sentence_ends(line: str, language: str) -> Iterator[int]:
    """Where the sentences of a line end, the last at the end of the line, white space included."""
    start = 0
    for end in _candidates(line, language):
        if start < end < len(line) and not _goes_on(line, start, end, language):
            yield end
            start = end
    yield len(line)


def _candidates(line: str, language: str) -> list[int]:
    """Offsets where a sentence may end, in order."""
    ends: list[int] = []
    start = 0
    while start < len(line):
        found = _library_ends(line[start : start + WINDOW], language)
        if start + WINDOW < len(line):
            del found[-1:]  # torn by the window; looked at again, with what follows it
        ends += [_after_closers(line, start + end) for end in found]
        start += found[-1] if found else WINDOW
    return ends


def _library_ends(text: str, language: str) -> list[int]:
    """Offsets behind the library's sentences, found in the text rather than by adding up lengths."""
    text = _SURROGATE.sub("\ufffd", text)  # which the library cannot read
    ends: list[int] = []
    end = 0
    for sentence in sentencex.segment(language, text):
        found = text.find(sentence, end)
        if found < 0:
            break
        if sentence:
            end = found + len(sentence)
            ends.append(end)
    return ends


def _after_closers(line: str, end: int) -> int:
    """Moves an end behind the closing marks and blanks that the library left to the next sentence."""
    closers = None if line[end - 1].isspace() else _CLOSERS.match(line, end)
    return closers.end() if closers else end


def _goes_on(line: str, start: int, end: int, language: str) -> bool:
    """Whether the sentence line[start:end] goes on after `end`, where the library ends it."""
    tail = line[max(start, end - 60) : end]  # enough for every pattern, and short whatever the line
    if _MARK_WITHOUT_BLANK.search(tail):
        return line[end] < FIRST_CJK  # .NET, Dipl.-Ing., https://host/?Q=1
    if _ITEM_NUMBER.fullmatch(tail):
        return True
    if language in _ABBREVIATION and _ABBREVIATION[language].search(tail):
        return True
    return language == "de" and bool(_GERMAN_ORDINAL.search(tail)) and not _GERMAN_START.match(line, end)


def _longest_fit(sentence: str, start: int, fits: Callable[[str], bool]) -> int:
    """The end of the longest part from `start` that fits, by doubling a first guess and then by bisection."""
    low, high = start, min(start + FIRST_GUESS, len(sentence))
    while fits(sentence[start:high]):
        if high == len(sentence):
            return high
        low, high = high, min(2 * high - start, len(sentence))
    while high - low > 1:
        middle = (low + high) // 2
        if fits(sentence[start:middle]):
            low = middle
        else:
            high = middle
    if low == start:
        raise ValueError(f"not even the single character {sentence[start]!r} fits")
    return low


def _best_cut(
    sentence: str, start: int, limit: int, levels: Sequence[Sequence[int]], fits: Callable[[str], bool]
) -> int:
    """The last end of a clause, else of a word, else of a visible character, up to `limit`, that fits."""
    visible = limit
    while visible > start and _tears_character(sentence, start, visible):
        visible -= 1
    for ends in (*levels, [visible]):
        end = ends[bisect_right(ends, limit) - 1] if ends else start
        # It is asked again, for a shorter text can have more pieces.
        if start < end < limit and fits(sentence[start:end]):
            return end
        if end == limit:
            return end
    return limit


def _tears_character(text: str, start: int, at: int) -> bool:
    """Whether a cut of text[start:] before text[at] is inside one visible character (UAX 29, simplified)."""
    before, after = text[at - 1], text[at]
    if before == "\u200d" or unicodedata.combining(before) == VIRAMA or before + after == "\r\n":
        return True
    if _FLAG_LETTER.match(after):  # they pair up to flags, from the first of the run
        run = at
        while run > start and _FLAG_LETTER.match(text[run - 1]):
            run -= 1
        return (at - run) % 2 == 1
    return unicodedata.category(after).startswith("M") or bool(_EXTENDER.match(after))


# Characters of a line that go to the library at once: unclosed quotes cost it quadratic time.
WINDOW = 5_000
FIRST_GUESS = 128  # characters of a part
# Characters from here on are East Asian, where no blank follows a sentence.
FIRST_CJK = "\u2e80"
VIRAMA = 9  # the combining class of the signs that tie Indic consonants together

_SURROGATE = re.compile("[\ud800-\udfff]")
_FLAG_LETTER = re.compile("[\U0001f1e6-\U0001f1ff]")
# Joiners, skin tones, and the tags that spell the flags of Scotland and Wales.
_EXTENDER = re.compile("[\u200c\u200d\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f]")
_CLOSERS = re.compile(r"[)\]}」』）］】》〉”’\"]*\s*")
_MARK_WITHOUT_BLANK = re.compile(r"[.!?][)\]}”’»\"]*$")
_ITEM_NUMBER = re.compile(r"\s*\(?(?:\d{1,3}(?:\.\d{1,3})*|[A-Za-z]|[IVXivx]{1,5})[.)]\s+")

# What the library's lists lack, spelled exactly: "Me" is a French lawyer, "me" ends many an English sentence.
_ABBREVIATION = {
    language: re.compile(rf"(?<![\w.])(?:{'|'.join(words.split())})\.\s+$")
    for language, words in {
        "en": "approx ch ed eds Vol vol",
        "de": "bspw exkl Fa Frl geb gem gest Hl Hrn Hrsg Ing inkl Mrs zzgl",
        "fr": "Dr M Me Mlle Mme Pr St Ste env",
    }.items()
}
# "am 3. Oktober" is known to the library, "der 2. Weltkrieg" and "in der 1. und 2. Klasse" are not.
_GERMAN_ORDINAL = re.compile(
    r"\b(?:d(?:er|ie|as|e[nms])|[ai]m|beim|vom|zu[mr]|(?:[dkms]?ein|ihr|unser|euer|eur|dies|jed)(?:e[mnrs]?)?)"
    r"\s+(?:\d{1,3}\.\s+(?:und|oder|bis)\s+)?\d{1,3}\.\s+$",
    re.IGNORECASE,
)
_GERMAN_START = re.compile(
    r"(?:Aber|Dann|Das|Der|Die|Doch|Du|Er|Es|Ich|Ihr|Man|Sie|Und|Wann|Warum|Was|Wer|Wie|Wir|Wo)\b"
)

# After the mark, its closing quote and the blanks; "3,5" and "10:30" have no blank and no end.
_CLAUSE = re.compile(
    r"(?:[;:,!?…]|(?<=\w{3})\.)[)\]}”’»\"]*\s+|(?<=\s)[-–—]\s+|—|[，、；：。！？][」』）］】》〉”’]*\s*"
)
_WORD = re.compile(r"\s+")
