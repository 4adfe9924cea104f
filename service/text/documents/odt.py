"""OpenDocument text: paragraphs and headings, in tables, notes, headers and frames too."""

from __future__ import annotations

from collections.abc import Sequence

from service.text.blocks import Parts
from service.text.documents.archive import Archive
from service.text.documents.document import Document
from service.text.documents.inlines import Element, Inlines, fill, local_name, markup_of
from tokenizer.segments import has_letter

_TEXT = "urn:oasis:names:tc:opendocument:xmlns:text:1.0"
_WITH_TEXT = frozenset({"a", "span", "meta"})
_ENDS = frozenset({"line-break", "s", "tab"})


def read_odt(content: bytes) -> Document:
    archive = Archive(content, "ODT", lambda name: name in ("content.xml", "styles.xml"))
    units: list[tuple[Element, Inlines]] = []
    texts: list[Parts] = []
    for root in archive.roots.values():
        for paragraph in root.iter(f"{{{_TEXT}}}p", f"{{{_TEXT}}}h"):
            if has_letter("".join(paragraph.itertext())):
                inlines = Inlines()
                texts.append(inlines.parts(markup_of(paragraph, inlines, _tag)))
                units.append((paragraph, inlines))

    def write(translations: Sequence[str], _: str) -> bytes:
        for (paragraph, inlines), text in zip(units, translations, strict=True):
            fill(paragraph, inlines.read(text))
        return archive.write()

    return Document("application/vnd.oasis.opendocument.text", texts, write)


def _tag(inlines: Inlines, element: Element) -> str | None:
    """Notes and frames are points: they have paragraphs of their own."""
    name = local_name(element)
    if name in _WITH_TEXT:
        return None
    return inlines.end_of_sentence(element) if name in _ENDS else inlines.point(element)
