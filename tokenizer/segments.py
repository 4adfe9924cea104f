"""A text cut into what the model translates and what is kept as it stands.

Line breaks, tabs, indentation, columns of blanks and pieces without a letter are kept; the rest becomes sentences
without white space around them. The segments of a text, joined, are the text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from tokenizer.sentences import split_sentences, split_to_fit

# Every line break that Unicode knows; a tab and three blanks in a row separate columns, not words.
_BREAK = re.compile(r"((?:[\n\r\v\f\x1c-\x1e\x85\u2028\u2029\t]|[ \u00a0\u3000]{3,})+)")
_BLANK_LINE = re.compile(r"((?:\r\n?|\n)(?:[ \t]*(?:\r\n?|\n))+[ \t]*)")
_NOTHING = re.compile(r"((?!))")
_SPACE = re.compile(r"\s")
LANGUAGES_WITHOUT_BLANKS = frozenset({"zh", "ja", "th", "lo", "km", "my"})  # between sentences


class Segment(NamedTuple):
    """A stretch of a text; `is_sentence` says that the model is to translate it."""

    text: str
    is_sentence: bool


class Cuts(NamedTuple):
    """Where a text is cut: at these breaks, and what is between two of them as `split` says."""

    breaks: re.Pattern[str]
    split: Callable[[str, str], list[str]]


def cut(text: str, language: str, fits: Callable[[str], bool], cuts: Cuts | None = None) -> list[Segment]:
    """Segments of a text; those that are sentences hold a letter, have no white space around them, and fit.

    It is cut AT_STOPS unless told otherwise.
    """
    breaks, split = cuts or AT_STOPS
    segments: list[Segment] = []
    for line in breaks.split(text):
        if not has_letter(line):
            segments += [Segment(line, False)] if line else []
            continue
        for sentence in split(line, language):
            for part in split_to_fit(sentence, fits):
                segments.extend(cut_sentence(part))
    return segments


def split_wrapped(text: str, language: str) -> list[str]:
    """The sentences of a text whose line breaks mean no more than blanks."""
    sentences: list[str] = []
    start = 0
    for sentence in split_sentences(_SPACE.sub(" ", text), language):
        sentences.append(text[start : start + len(sentence)])
        start += len(sentence)
    return sentences


def leave_whole(text: str, language: str) -> list[str]:
    """One sentence, whatever stops it holds."""
    return [text]


AT_STOPS = Cuts(_BREAK, split_sentences)
AT_BREAKS = Cuts(_BREAK, leave_whole)
AT_STOPS_AND_BLANK_LINES = Cuts(_BLANK_LINE, split_wrapped)
AT_STOPS_ALONE = Cuts(_NOTHING, split_wrapped)
NOWHERE = Cuts(_NOTHING, leave_whole)


def cut_sentence(sentence: str) -> list[Segment]:
    """One sentence and the white space around it; without a letter it is no sentence."""
    core = sentence.strip()
    if not has_letter(core):
        return [Segment(sentence, False)] if sentence else []
    start = sentence.index(core)
    around = (
        Segment(sentence[:start], False),
        Segment(core, True),
        Segment(sentence[start + len(core) :], False),
    )
    return [segment for segment in around if segment.text]


def put_back(
    segments: Sequence[Segment], translations: Iterator[str], *, source_language: str, target_language: str
) -> str:
    """The text with each sentence replaced by the next translation and everything else as it was.

    Chinese sentences stand side by side without a blank; English ones may not, so one is put between them.
    """
    glue = (
        " "
        if source_language in LANGUAGES_WITHOUT_BLANKS and target_language not in LANGUAGES_WITHOUT_BLANKS
        else ""
    )
    parts: list[str] = []
    follows_sentence = False
    for segment in segments:
        if segment.is_sentence:
            if follows_sentence:
                parts.append(glue)
            parts.append(tidy(next(translations)))
        else:
            parts.append(segment.text)
        follows_sentence = segment.is_sentence
    return "".join(parts)


def has_letter(text: str) -> bool:
    """Whether any character is a letter of any script (\\p{L})."""
    return any(map(str.isalpha, text))


def tidy(translation: str) -> str:
    """A translation that cannot disturb the layout: no line break or tab inside, no white space around."""
    return _BREAK.sub(" ", translation).strip()
