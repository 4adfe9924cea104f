"""The content of an XML element as a text with numbered tags, and back: for formats that are XML inside.

Numbers stand for elements, so that neither attributes nor namespaces go through translation: <g1>…</g1> has text of
its own, <k2/> stands for a word, <?p3?> is a point, and at <b4/> a sentence ends.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple
from xml.sax.saxutils import escape

from lxml import etree

from service.text.blocks import Parts
from service.text.documents.document import unreadable
from service.text.markup.outline import outline
from service.text.reading import Reading

Element = Any  # lxml has no types


def parse_xml(content: bytes, kind: str) -> Element:
    """The root; raises InvalidValue. Nothing is fetched, and entities are only XML's own."""
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False)
    try:
        root = etree.fromstring(content, parser)
    except etree.XMLSyntaxError as error:
        line, column = error.position
        raise unreadable(kind, f"its XML has a fault in line {line}, column {column}") from None
    except ValueError:
        raise unreadable(kind, "its XML cannot be decoded") from None
    declared = root.getroottree().docinfo.internalDTD
    if declared is not None and list(declared.iterentities()):
        raise unreadable(kind, "it declares entities of its own")
    return root


def write_xml(root: Element) -> bytes:
    """With its declaration, doctype and everything outside the root."""
    tree = root.getroottree()
    return etree.tostring(
        tree, encoding="UTF-8", xml_declaration=True, standalone=tree.docinfo.standalone or None
    )


def local_name(element: Element) -> str:
    """ "p" of "{urn:…}p"; "" of comments and instructions."""
    return etree.QName(element).localname if isinstance(element.tag, str) else ""


class Inlines:
    """Gives numbers to elements, and finds them again."""

    def __init__(self) -> None:
        self._elements: list[Element] = []
        self._breaks: list[str] = []

    def paired(self, element: Element, inside: str) -> str:
        number = self._number(element)
        return f"<g{number}>{inside}</g{number}>"

    def word(self, element: Element) -> str:
        return f"<k{self._number(element)}/>"

    def point(self, element: Element) -> str:
        return f"<?p{self._number(element)}?>"

    def end_of_sentence(self, element: Element) -> str:
        self._breaks.append(f"b{self._number(element)}")
        return f"<{self._breaks[-1]}/>"

    def parts(self, markup: str) -> Parts:
        reading = Reading(markup="xml", finds_outline=False, splitting_tags=frozenset(self._breaks))
        return outline(markup, reading)

    def read(self, markup: str) -> list[Node]:
        """What a translated markup says."""
        return self._nodes(etree.fromstring(f"<r>{markup}</r>"))

    def _nodes(self, element: Element) -> list[Node]:
        nodes: list[Node] = [element.text or ""]
        for child in element:
            name = child.target if child.tag is etree.ProcessingInstruction else child.tag
            nodes += [
                Tagged(name[0] == "g", self._elements[int(name[1:])], self._nodes(child)),
                child.tail or "",
            ]
        return [node for node in nodes if node != ""]

    def _number(self, element: Element) -> int:
        self._elements.append(element)
        return len(self._elements) - 1


class Tagged(NamedTuple):
    """An element in a translated text: one with text of its own, or one that is only put there."""

    has_text: bool
    element: Element
    inner: list[Node]


Node = str | Tagged


def markup_of(element: Element, inlines: Inlines, tag: Callable[[Inlines, Element], str | None]) -> str:
    """The content of an element. `tag` says what stands for a child; None: it has text of its own, so look inside."""
    parts = [escape(element.text or "")]
    for child in element:
        tagged = tag(inlines, child)
        if tagged is None:
            tagged = inlines.paired(child, markup_of(child, inlines, tag))
        parts += [tagged, escape(child.tail or "")]
    return "".join(parts)


def fill(target: Element, nodes: list[Node]) -> None:
    """Give an element this content in place of its own."""
    target.text = None
    target[:] = []
    for node in nodes:
        if isinstance(node, str):
            if len(target):
                target[-1].tail = (target[-1].tail or "") + node
            else:
                target.text = (target.text or "") + node
        elif node.has_text:
            copy = etree.SubElement(target, node.element.tag, node.element.attrib, node.element.nsmap)
            fill(copy, node.inner)
        else:
            node.element.tail = None
            target.append(node.element)
