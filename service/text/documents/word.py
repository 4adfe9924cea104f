"""Word documents: paragraphs with their formatting, in tables, notes, headers and text boxes too."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from copy import deepcopy
from xml.sax.saxutils import escape

from lxml import etree

from service.text.blocks import Parts
from service.text.documents.archive import Archive
from service.text.documents.document import Document
from service.text.documents.inlines import Element, Inlines, Node, local_name
from tokenizer.segments import has_letter

_WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_SPACE = "{http://www.w3.org/XML/1998/namespace}space"
_PARTS = re.compile(r"word/(?:document|header\d*|footer\d*|footnotes|endnotes|comments)\.xml")
_CONTAINERS = frozenset({"hyperlink", "ins", "smartTag"})
_ENDS = frozenset({"br", "cr", "tab"})
_LEFT_OUT = frozenset({"lastRenderedPageBreak", "proofErr"})  # what Word notes for itself


def read_docx(content: bytes) -> Document:
    archive = Archive(content, "DOCX", lambda name: _PARTS.fullmatch(name) is not None)
    paragraphs = [
        _Paragraph(element)
        for root in archive.roots.values()
        for element in root.iter(f"{{{_WORD}}}p")
        if has_letter("".join(text.text or "" for text in element.iter(f"{{{_WORD}}}t")))
    ]

    def write(translations: Sequence[str], _: str) -> bytes:
        for paragraph, text in zip(paragraphs, translations, strict=True):
            paragraph.fill(text)
        return archive.write()

    media_type = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
    return Document(media_type, [paragraph.parts for paragraph in paragraphs], write)


class _Paragraph:
    """Runs of the formatting that most of the text has are bare text; other runs are paired tags."""

    def __init__(self, element: Element) -> None:
        self._element = element
        self._inlines = Inlines()
        self._usual = _usual_formatting(element)
        self._properties = element.find(f"{{{_WORD}}}pPr")
        self.parts: Parts = self._inlines.parts(self._markup(element))

    def fill(self, translation: str) -> None:
        nodes = self._inlines.read(translation)
        self._element[:] = [] if self._properties is None else [self._properties]
        self._append(self._element, nodes, self._usual)

    def _markup(self, element: Element) -> str:
        parts: list[str] = []
        for child in element:
            name = local_name(child)
            if name == "r":
                parts.append(self._markup_of_run(child))
            elif name in _CONTAINERS:
                parts.append(self._inlines.paired(child, self._markup(child)))
            elif child is not self._properties and name not in _LEFT_OUT:
                parts.append(self._inlines.point(child))
        return "".join(parts)

    def _markup_of_run(self, run: Element) -> str:
        """What a run holds besides text becomes a run of its own, of the same formatting."""
        parts: list[str] = []
        for child in list(run):
            name = local_name(child)
            if name == "t":
                parts.append(escape(child.text or ""))
            elif name in ("noBreakHyphen", "softHyphen"):
                parts.append("\u2011" if name == "noBreakHyphen" else "\u00ad")
            elif name != "rPr" and name not in _LEFT_OUT:
                alone = _run(run)
                alone.append(child)
                parts.append(
                    self._inlines.end_of_sentence(alone) if name in _ENDS else self._inlines.point(alone)
                )
        inside = "".join(parts)
        if not inside or _formatting(run) == _formatting(self._usual):
            return inside
        return self._inlines.paired(run, inside)

    def _append(self, target: Element, nodes: Sequence[Node], formatting: Element | None) -> None:
        for node in nodes:
            if isinstance(node, str):
                run = _run(formatting)
                text = etree.SubElement(run, f"{{{_WORD}}}t")
                text.text = node
                text.set(_SPACE, "preserve")
                target.append(run)
            elif node.has_text and local_name(node.element) == "r":
                self._append(target, node.inner, node.element)
            elif node.has_text:
                container = etree.SubElement(target, node.element.tag, node.element.attrib)
                self._append(container, node.inner, formatting)
            else:
                target.append(node.element)


def _usual_formatting(paragraph: Element) -> Element | None:
    """A run formatted as most of the paragraph's text is."""
    runs = list(paragraph.iter(f"{{{_WORD}}}r"))
    letters: Counter[bytes] = Counter()
    for run in runs:
        letters[_formatting(run)] += sum(len(text.text or "") for text in run.iter(f"{{{_WORD}}}t"))
    if not letters:
        return None
    usual = letters.most_common(1)[0][0]
    return next(run for run in runs if _formatting(run) == usual)


def _formatting(run: Element | None) -> bytes:
    properties = None if run is None else run.find(f"{{{_WORD}}}rPr")
    return b"" if properties is None else etree.tostring(properties, method="c14n")


def _run(like: Element | None) -> Element:
    """An empty run of the same formatting."""
    run = etree.Element(f"{{{_WORD}}}r")
    properties = None if like is None else like.find(f"{{{_WORD}}}rPr")
    if properties is not None:
        run.append(deepcopy(properties))
    return run
