"""Tables as spreadsheets write them."""

import csv
import gzip
import io
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from training.corpora.corpus import open_files
from training.corpora.pairs import CorpusError, Pair
from training.corpora.readers import ReadingReport

TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\r\n\ufeff"), min_size=1)


def read(folder: Path, content: str, **how) -> list[Pair]:
    path = folder / "mine.csv"
    path.write_bytes(content.encode())
    return list(open_files([path], "en", "de").read(**how))


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_the_separator_is_found_and_quotes_protect_it(tmp_path: Path, separator: str) -> None:
    content = f'A boat.{separator}Ein Boot.\n"Yes{separator} a ""boat"".{separator}"{separator}Ja.\n'
    assert read(tmp_path, content) == [
        Pair("A boat.", "Ein Boot."),
        Pair(f'Yes{separator} a "boat".{separator}', "Ja."),
    ]


def test_a_first_row_that_names_the_languages_says_which_columns_are_meant(tmp_path: Path) -> None:
    content = "id,DE,note, en \n7,Ein Boot.,x,A boat.\n8,Ein Baum.,,A tree.\n"
    assert read(tmp_path, content) == [Pair("A boat.", "Ein Boot."), Pair("A tree.", "Ein Baum.")]


def test_without_such_a_row_the_first_two_columns_are_meant(tmp_path: Path) -> None:
    assert read(tmp_path, "A boat.,Ein Boot.,x\n") == [Pair("A boat.", "Ein Boot.")]


def test_a_line_break_inside_of_a_sentence_is_a_space(tmp_path: Path) -> None:
    assert read(tmp_path, 'en,de\r\n"A\r\nboat.",Ein Boot.\r\n') == [Pair("A boat.", "Ein Boot.")]


def test_a_row_of_another_width_is_named_by_its_line_or_dropped(tmp_path: Path) -> None:
    content = 'en,de\n"A\nboat.",Ein Boot.\nYes, a tree.,Ja.\nA tree.,Ein Baum.\n'
    with pytest.raises(CorpusError, match=r"mine\.csv, line 4: 3 columns where the first row has 2.*quoted"):
        read(tmp_path, content)
    report = ReadingReport()
    assert read(tmp_path, content, faulty="drop", report=report)[1:] == [Pair("A tree.", "Ein Baum.")]
    assert (report.pairs, report.dropped) == (2, 1)


def test_one_column_is_no_table(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match="line 1: one column"):
        read(tmp_path, "A boat.\nA tree.\n")


def test_a_quote_that_never_ends_is_an_error_and_no_endless_cell(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match="no table can be read on"):
        read(tmp_path, 'A boat.,"Ein Boot.\n' + "A tree.,Ein Baum.\n" * 10_000)


def test_a_gzipped_table_is_a_table(tmp_path: Path) -> None:
    path = tmp_path / "mine.csv.gz"
    path.write_bytes(gzip.compress(b"A boat.;Ein Boot.\n"))
    assert list(open_files([path], "en", "de").read()) == [Pair("A boat.", "Ein Boot.")]


@given(rows=st.lists(st.tuples(TEXT, TEXT), min_size=1, max_size=8))
def test_what_a_spreadsheet_writes_comes_back(tmp_path_factory: pytest.TempPathFactory, rows) -> None:
    table = io.StringIO()
    csv.writer(table).writerows([("en", "de"), *rows])
    assert read(tmp_path_factory.mktemp("csv"), table.getvalue()) == [Pair(*row) for row in rows]
