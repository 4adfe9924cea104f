"""The entries of a glossary as text: TSV, or CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping

from service.errors import InvalidValue, clip

LONGEST_TERM = 1024  # bytes


def parse_entries(text: str, entries_format: str) -> dict[str, str]:
    """Terms and their translations; raises InvalidValue naming the line that is wrong."""
    if entries_format == "tsv":
        rows: Iterable[list[str]] = (line.split("\t") for line in _lines(text))
    elif entries_format == "csv":
        rows = csv.reader(io.StringIO(text))
    else:
        raise InvalidValue(
            f"entries_format must be tsv or csv, not {clip(entries_format)}.", field="entries_format"
        )
    entries: dict[str, str] = {}
    try:
        for number, row in enumerate(rows, 1):
            cells = [cell.strip() for cell in row]
            if not any(cells):
                continue
            # A CSV of DeepL's own has the two languages behind the terms.
            if len(cells) != 2 and not (entries_format == "csv" and len(cells) == 4):
                raise _wrong(number, f"must be a term and its translation, not {len(cells)} columns")
            term, translation = cells[:2]
            for cell in (term, translation):
                _check(cell, number)
            if term in entries:
                raise _wrong(number, f"{clip(term)} is there already")
            entries[term] = translation
    except csv.Error as error:
        raise InvalidValue(f"entries: this is no CSV: {error}.", field="entries") from error
    if not entries:
        raise InvalidValue("entries: at least one term is needed.", field="entries")
    return entries


def to_tsv(entries: Mapping[str, str]) -> str:
    return "\n".join(f"{term}\t{translation}" for term, translation in entries.items())


def _lines(text: str) -> list[str]:
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")


def _check(cell: str, number: int) -> None:
    if not cell:
        raise _wrong(number, "a term or its translation is empty")
    if len(cell.encode("utf-8", "surrogatepass")) > LONGEST_TERM:
        raise _wrong(number, f"a term has more than {LONGEST_TERM} bytes")
    if any(ord(mark) < 32 or 127 <= ord(mark) < 160 or mark in "\u2028\u2029" for mark in cell):
        raise _wrong(number, "a term holds a control character")


def _wrong(number: int, reason: str) -> InvalidValue:
    return InvalidValue(f"entries: line {number}: {reason}.", field="entries")
