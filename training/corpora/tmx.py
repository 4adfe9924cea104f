"""Pairs out of a translation memory (TMX 1.1 to 1.4)."""

from __future__ import annotations

from collections.abc import Iterator
from xml.etree.ElementTree import Element, ParseError

from defusedxml.common import DefusedXmlException
from defusedxml.ElementTree import iterparse

from training.corpora.archives import Stream
from training.corpora.pairs import CorpusError, Pair
from training.corpora.readers import ReadingReport

_LANGUAGE = "{http://www.w3.org/XML/1998/namespace}lang"
_CODES = {"bpt", "ept", "it", "ph", "ut"}  # elements whose text is mark-up of some editor, not language


def is_tmx(stream: Stream) -> bool:
    head = stream.head().removeprefix(b"\xef\xbb\xbf").lstrip()
    return head.startswith((b"<?xml", b"<tmx", b"<!DOCTYPE tmx")) or b"<\0?\0x\0m\0l\0" in head


def read_tmx(
    stream: Stream, source_language: str, target_language: str, *, report: ReadingReport | None = None
) -> Iterator[Pair]:
    """One pair for each unit that has both languages; units without are counted as dropped.

    Languages agree by their base code: a memory in `en-US` and `DE` gives en and de. The text of inline codes
    is left out, and line breaks inside a segment are spaces. Raises CorpusError for broken XML (with line and
    column), for entity tricks, and for a file in which no unit has both languages.
    """
    report = report if report is not None else ReadingReport()
    found: set[str] = set()
    for unit in _units(stream):
        texts: dict[str, str] = {}
        for variant in unit.iter("tuv"):
            language = (variant.get(_LANGUAGE) or variant.get("lang") or "").lower().replace("_", "-")
            segment = variant.find("seg")
            if segment is not None:
                texts.setdefault(language.partition("-")[0], " ".join(_text(segment).split()))
        found |= texts.keys()
        if source_language in texts and target_language in texts:
            report.pairs += 1
            yield Pair(texts[source_language], texts[target_language])
        else:
            report.dropped += 1
    if not report.pairs:
        raise CorpusError(
            f"{stream}: no unit has both {source_language!r} and {target_language!r}; languages in the file: "
            f"{', '.join(sorted(found)) or 'none'}"
        )


def _units(stream: Stream) -> Iterator[Element]:
    """Units one at a time; each is emptied after use, so memory does not grow with the file."""
    try:
        with stream.open() as file:
            parents: list[Element] = []
            for event, element in iterparse(file, events=("start", "end")):
                if event == "start":
                    parents.append(element)
                    continue
                parents.pop()
                if element.tag == "tu":
                    yield element
                    parents[-1].clear()
    except ParseError as error:
        raise CorpusError(f"{stream}: the XML is broken: {error}") from error
    except DefusedXmlException as error:
        raise CorpusError(f"{stream}: refused, since it declares entities of its own: {error}") from error


def _text(element: Element) -> str:
    parts = [element.text or ""] if element.tag not in _CODES else []
    for child in element:
        # A sub-flow inside a code (a tool tip, a footnote) is a text of its own, so codes are left out whole.
        parts.append(_text(child) if child.tag not in _CODES else "")
        parts.append(child.tail or "")
    return "".join(parts)
