"""Text, HTML and tables of comma-separated values."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

from service.text.blocks import Block
from service.text.documents.document import Document, decode, unreadable
from service.text.markup.outline import outline
from service.text.reading import Reading
from tokenizer.segments import has_letter

_DELIMITERS = ",;\t|"


def read_text(content: bytes) -> Document:
    """Every line stays where it is."""
    source = decode(content, "text")
    return Document(
        "text/plain", [[Block(source.text)]], lambda translations, _: source.encode(translations[0])
    )


def read_html_file(content: bytes) -> Document:
    """As `format=html` reads it."""
    source = decode(content, "HTML")
    parts = outline(source.text, Reading(markup="html"))
    return Document("text/html", [parts], lambda translations, _: source.encode(translations[0]))


def read_csv(content: bytes) -> Document:
    """Every cell with a letter is translated, headings too; delimiter, quotes and line ends stay."""
    source = decode(content, "CSV")
    dialect = _dialect(source.text)
    try:
        rows = list(csv.reader(io.StringIO(source.text, newline=""), dialect))
    except csv.Error as error:
        raise unreadable("CSV", str(error)) from None
    places = [(row, column) for row in range(len(rows)) for column in range(len(rows[row]))]
    places = [(row, column) for row, column in places if has_letter(rows[row][column])]

    def write(translations: Sequence[str], _: str) -> bytes:
        translated = [list(row) for row in rows]
        for (row, column), text in zip(places, translations, strict=True):
            translated[row][column] = text
        out = io.StringIO(newline="")
        csv.writer(out, dialect).writerows(translated)
        return source.encode(out.getvalue())

    return Document("text/csv", [[Block(rows[row][column])] for row, column in places], write)


def _dialect(text: str) -> type[csv.Dialect]:
    try:
        found = csv.Sniffer().sniff(text[:8192], delimiters=_DELIMITERS)
    except csv.Error:
        found = csv.excel

    class Found(csv.excel):
        delimiter = found.delimiter
        lineterminator = "\r\n" if "\r\n" in text else "\n"
        strict = True

    return Found
