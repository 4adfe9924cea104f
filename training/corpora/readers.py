"""Pairs out of text files: two aligned ones, or one of tab-separated rows.

A line ends at LF and nowhere else. `str.splitlines` and text mode also break at CR, VT, FF, U+0085, U+2028
and others, which shifts every pair after such a character; here those stay inside their line. CRLF counts as
LF, a byte order mark is dropped, UTF-16 with its mark is decoded.

Everything is an iterator: memory does not grow with the corpus. A file is read twice, first to prove that it
is whole and to count its lines, so that no pair is used of a corpus that turns out to be broken.
"""

from __future__ import annotations

import codecs
import csv
import io
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from training.corpora.archives import Stream
from training.corpora.pairs import CorpusError, Pair

Faulty = Literal["refuse", "drop"]


@dataclass
class ReadingReport:
    """What a reader met; filled while its iterator runs."""

    pairs: int = 0
    dropped: int = 0  # pairs left out because a line was no text or no row (only with faulty="drop")
    lone_carriage_returns: int = 0  # CR inside a line, read as a space


def read_aligned(
    source: Stream, target: Stream, *, faulty: Faulty = "refuse", report: ReadingReport | None = None
) -> Iterator[Pair]:
    """Line n of one file with line n of the other.

    Unequal numbers of lines raise CorpusError before the first pair. So does a line that is not UTF-8, when
    it is reached, unless faulty="drop": then the pair, both sides of it, is left out and counted.
    """
    report = report if report is not None else ReadingReport()
    source_lines, target_lines = count_lines(source), count_lines(target)
    if source_lines != target_lines:
        raise CorpusError(
            f"{source} has {source_lines:,} lines, {target} has {target_lines:,}: line n of the one "
            "must be the translation of line n of the other"
        )
    both = zip(_lines(source, faulty, report), _lines(target, faulty, report), strict=True)
    for source_line, target_line in both:
        if source_line is None or target_line is None:
            report.dropped += 1
        else:
            report.pairs += 1
            yield Pair(source_line, target_line)


def read_tsv(
    stream: Stream, *, faulty: Faulty = "refuse", report: ReadingReport | None = None
) -> Iterator[Pair]:
    """The first two columns of each row; quotes are plain characters.

    Every row must have as many columns as the first one has. A tab or a line break inside a sentence shows as
    a row of another width, and reading on would pair half a sentence: that raises CorpusError with the number
    of the line, or with faulty="drop" leaves the row out and counts it.
    """
    report = report if report is not None else ReadingReport()
    count_lines(stream)
    columns = 0
    for number, line in enumerate(_lines(stream, faulty, report), start=1):
        fields = [] if line is None else line.split("\t")
        if not columns and line is not None:
            columns = len(fields)
            if columns < 2:
                raise CorpusError(f"{stream}, line {number}: no tab; a row is source, tab, target")
        if len(fields) == columns and fields:
            report.pairs += 1
            yield Pair(fields[0], fields[1])
        elif faulty == "drop":
            report.dropped += 1
        else:
            raise CorpusError(
                f"{stream}, line {number}: {len(fields)} columns where the first row has {columns}; a tab "
                "or a line break inside a sentence must be a space"
            )


def read_csv(
    stream: Stream,
    source_language: str,
    target_language: str,
    *,
    faulty: Faulty = "refuse",
    report: ReadingReport | None = None,
) -> Iterator[Pair]:
    """Two columns of a table as spreadsheets write it: quoted where needed, with commas, semicolons or tabs.

    Where the first row names both languages, it says which columns are meant; otherwise they are the first two. A
    line break inside a sentence is a space. Rows of another width are treated as those of `read_tsv` are.
    """
    report = report if report is not None else ReadingReport()
    count_lines(stream)
    head = next((line for line in _lines(stream, "drop", ReadingReport()) if line), "")
    rows = csv.reader(
        ("\n" if line is None else f"{line}\n" for line in _lines(stream, faulty, report)),
        delimiter=max(",;\t", key=head.count),
    )
    width, columns, before = 0, (0, 1), 0
    try:
        for row in rows:
            number, before = before + 1, rows.line_num
            if not width and row:
                width, names = len(row), [name.strip().lower() for name in row]
                if width < 2:
                    raise CorpusError(f"{stream}, line {number}: one column; a row is source, target")
                if source_language in names and target_language in names:
                    columns = names.index(source_language), names.index(target_language)
                    continue
            if len(row) == width and row:
                report.pairs += 1
                yield Pair(*(" ".join(row[column].split("\n")) for column in columns))
            elif faulty == "drop":
                report.dropped += 1
            else:
                raise CorpusError(
                    f"{stream}, line {number}: {len(row)} columns where the first row has {width}; a cell with a "
                    "separator in it must be quoted"
                )
    except csv.Error as error:
        raise CorpusError(f"{stream}, line {rows.line_num}: no table can be read on: {error}") from error


def read_lines(
    stream: Stream, *, faulty: Faulty = "refuse", report: ReadingReport | None = None
) -> Iterator[str]:
    """The lines of one text, without their ends; for text of one language, and for references."""
    report = report if report is not None else ReadingReport()
    count_lines(stream)
    for line in _lines(stream, faulty, report):
        if line is None:
            report.dropped += 1
        else:
            yield line


def count_lines(stream: Stream) -> int:
    """Reads the file to its end, which also proves the checksum of a compressed one.

    Raises CorpusError for a file that ends all its lines with CR alone: it would be one endless line.
    """
    lines = carriage_returns = 0
    for line in _raw_lines(stream):
        lines += 1
        if lines == 1:
            carriage_returns = line.removesuffix(b"\r\n").count(b"\r")
    if lines == 1 and carriage_returns > 1:
        raise CorpusError(
            f"{stream}: {carriage_returns:,} lines end with CR alone and none with LF; convert them to LF"
        )
    return lines


def _lines(stream: Stream, faulty: Faulty, report: ReadingReport) -> Iterator[str | None]:
    """Decoded lines; None stands for one that is not UTF-8."""
    start = 0
    for number, raw in enumerate(_raw_lines(stream), start=1):
        body = raw.removesuffix(b"\n").removesuffix(b"\r")
        try:
            line = body.decode("utf-8")
        except UnicodeDecodeError as error:
            if faulty == "refuse":
                offset = start + error.start
                raise CorpusError(
                    f"{stream}, line {number}: byte 0x{body[error.start]:02X} at offset {offset} "
                    f"is not UTF-8 ({error.reason}); convert the file to UTF-8, or drop such lines"
                ) from error
            yield None
        else:
            if number == 1:
                line = line.removeprefix("\ufeff")
            if "\r" in line:
                report.lone_carriage_returns += line.count("\r")
                line = line.replace("\r", " ")
            yield line
        start += len(raw)


def _raw_lines(stream: Stream) -> Iterator[bytes]:
    """Lines of UTF-8 bytes with their LF, whatever the file's own encoding."""
    head = stream.head(4)
    if head in (codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE):
        raise CorpusError(f"{stream}: UTF-32 text; convert it to UTF-8")
    with stream.open() as file:
        if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            try:
                with io.TextIOWrapper(file, encoding="utf-16", newline="\n") as text:
                    for line in text:
                        yield line.encode("utf-8")
            except UnicodeError as error:
                raise CorpusError(f"{stream}: starts as UTF-16 text, but is not valid: {error}") from error
            return
        yield from file
