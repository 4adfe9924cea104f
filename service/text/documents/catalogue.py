"""gettext catalogues: messages that have no translation get one."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

import polib

from service.text.blocks import Block
from service.text.documents.document import Document, decode, unreadable


class Message(NamedTuple):
    """What a translation is for: an entry, or one of its plural forms."""

    entry: polib.POEntry
    source: str
    plural: int | None


def read_po(content: bytes) -> Document:
    """Translations that are there stay; fuzzy ones are made anew. Obsolete entries are left alone."""
    source = decode(content, "PO")
    if "msgid" not in source.text:
        raise unreadable("PO", "it has no msgid")
    try:
        # The library opens what is the name of a file; no file is called "\n…".
        catalogue = polib.pofile("\n" + source.text.removeprefix("\ufeff"), wrapwidth=78)
    except (OSError, ValueError) as error:
        line = re.search(r"\(line (\d+)\)", str(error))
        raise unreadable(
            "PO", f"a syntax error in line {int(line[1]) - 1}" if line else "a syntax error"
        ) from None
    messages = [
        message
        for entry in catalogue
        if not entry.obsolete and (not entry.translated() or entry.fuzzy)
        for message in _messages(entry)
    ]

    def write(translations: Sequence[str], language: str) -> bytes:
        for (entry, _, plural), text in zip(messages, translations, strict=True):
            if plural is None:
                entry.msgstr = text
            else:
                entry.msgstr_plural[plural] = text
            if "fuzzy" in entry.flags:
                entry.flags.remove("fuzzy")
        catalogue.metadata["Language"] = language
        written = str(catalogue)
        return source.encode(written if catalogue.header else written.removeprefix("#\n"))

    return Document("text/x-gettext-translation", [[Block(message.source)] for message in messages], write)


def _messages(entry: polib.POEntry) -> list[Message]:
    if not entry.msgid_plural:
        return [Message(entry, entry.msgid, None)]
    forms = sorted(entry.msgstr_plural) or [0, 1]
    return [Message(entry, entry.msgid if form == 0 else entry.msgid_plural, form) for form in forms]
