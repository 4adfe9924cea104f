"""SubRip subtitles: times and tags stay, each cue keeps its number of lines."""

from __future__ import annotations

import re
from collections.abc import Sequence

import srt

from service.text.documents.document import Document, decode, unreadable
from service.text.markup.outline import outline
from service.text.reading import Reading

_HTML = Reading(markup="html")
_SPEAKER = re.compile(r"\s*(?:<[^>]*>)*\s*[-–—]")
_BLANK_OUTSIDE_TAGS = re.compile(r" (?![^<]*>)")


def read_srt(content: bytes) -> Document:
    """A cue's lines are one text that was wrapped, unless a dash says that several people speak."""
    source = decode(content, "SRT")
    try:
        cues = list(srt.parse(source.text.removeprefix("\ufeff")))
    except srt.SRTParseError as error:
        raise unreadable("SRT", f"what begins at character {error.actual_start} is no cue") from None
    except ValueError:
        raise unreadable("SRT", "a cue has no times") from None
    if not cues and source.text.strip():
        raise unreadable("SRT", "it has no cue")
    texts: list[list[str]] = [
        cue.content.split("\n") if _are_speeches(cue.content) else [cue.content] for cue in cues
    ]
    line_end = "\r\n" if "\r\n" in source.text else "\n"

    def write(translations: Sequence[str], _: str) -> bytes:
        left = iter(translations)
        translated = [
            srt.Subtitle(
                cue.index,
                cue.start,
                cue.end,
                "\n".join(wrapped(next(left), text.count("\n") + 1) for text in parts),
                cue.proprietary,
            )
            for cue, parts in zip(cues, texts, strict=True)
        ]
        composed = srt.compose(translated, reindex=False, strict=False, eol=line_end)
        return source.encode(composed)

    return Document("application/x-subrip", [outline(text, _HTML) for cue in texts for text in cue], write)


def wrapped(text: str, lines: int) -> str:
    """The text in that many lines of like length, where it has blanks enough; none inside a tag."""
    text = " ".join(text.split("\n"))
    blanks = [match.start() for match in _BLANK_OUTSIDE_TAGS.finditer(text)]
    for line in range(1, lines):
        wanted = len(text) * line / lines
        if not blanks:
            break
        best = min(blanks, key=lambda blank: abs(blank - wanted))
        text = f"{text[:best]}\n{text[best + 1 :]}"
        blanks = [blank for blank in blanks if blank > best]
    return text


def _are_speeches(content: str) -> bool:
    lines = content.split("\n")
    return len(lines) > 1 and all(_SPEAKER.match(line) for line in lines)
