"""XLIFF 1.2 and 2: segments that have no target get one."""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy

from lxml import etree

from service.text.blocks import Parts
from service.text.documents.document import Document, unreadable
from service.text.documents.inlines import (
    Element,
    Inlines,
    fill,
    local_name,
    markup_of,
    parse_xml,
    write_xml,
)
from tokenizer.segments import has_letter

# Elements that hold text to translate; all others are codes of another format, whatever they hold.
_WITH_TEXT = frozenset({"g", "mrk", "pc"})


def read_xliff(content: bytes) -> Document:
    """Targets that are there stay; what says translate="no" has none made."""
    root = parse_xml(content, "XLIFF")
    if local_name(root) != "xliff":
        raise unreadable("XLIFF", f"its root is {local_name(root)}")
    units: list[tuple[Element, Inlines]] = []
    texts: list[Parts] = []
    for source in root.iter("{*}source"):
        target = _sibling(source, "target")
        if _is_forbidden(source) or not has_letter("".join(source.itertext())):
            continue
        if target is None or not "".join(target.itertext()).strip():
            inlines = Inlines()
            texts.append(inlines.parts(markup_of(source, inlines, _tag)))
            units.append((source, inlines))

    def write(translations: Sequence[str], language: str) -> bytes:
        for (source, inlines), text in zip(units, translations, strict=True):
            target = _sibling(source, "target")
            if target is None:
                target = etree.Element(source.tag.replace("source", "target"), nsmap=source.nsmap)
                target.tail = source.tail
                source.addnext(target)
            # The codes stay in the source; the target has copies.
            fill(target, inlines.read(text))
        _name_language(root, language)
        return write_xml(root)

    return Document("application/xliff+xml", texts, write)


def _tag(inlines: Inlines, element: Element) -> str | None:
    if local_name(element) in _WITH_TEXT:
        return None
    copy = deepcopy(element)
    return inlines.word(copy) if isinstance(element.tag, str) else inlines.point(copy)


def _sibling(source: Element, name: str) -> Element | None:
    return next((one for one in source.getparent() if local_name(one) == name), None)


def _is_forbidden(element: Element) -> bool:
    return any(one.get("translate") == "no" for one in (element, *element.iterancestors()))


def _name_language(root: Element, language: str) -> None:
    if root.get("version", "").startswith("1"):
        for file in root.iter("{*}file"):
            file.set("target-language", language)
    else:
        root.set("trgLang", language)
