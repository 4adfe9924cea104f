"""The data report of a corpus of one's own."""

from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from tests.training.small_corpora import sentences
from training.corpora.corpus import open_files
from training.corpora.pairs import CorpusError
from training.survey import Survey, survey


def surveyed(folder: Path, *rows: str) -> Survey:
    path = folder / "mine.tsv"
    path.write_text("".join(f"{row}\n" for row in rows), encoding="utf-8")
    return survey(open_files([path], "en", "de"))


def test_pairs_are_counted_as_read_kept_and_dropped_for_a_reason(tmp_path: Path) -> None:
    found = surveyed(
        tmp_path, "A boat.\tEin Boot.", "A boat.\tEin Boot.", "\tEin Tisch.", "Two boats.\tZwei Boote."
    )
    assert (found.reading.pairs, found.pairs) == (4, 2)
    assert found.cleaning.dropped_for == {"duplicate": 1, "empty side": 1}


def test_lengths_are_those_of_the_pairs_that_stay(tmp_path: Path) -> None:
    pairs = sentences(100)
    found = surveyed(tmp_path, *(f"{a}\t{b}" for a, b in pairs), f"\t{'nothing ' * 50}")
    for side in (0, 1):
        lengths = sorted(len(pair[side]) for pair in pairs)
        assert [found.percentile(side, percent) for percent in (50, 99, 100)] == [
            lengths[49],
            lengths[98],
            lengths[99],
        ]
        assert found.extent_of(side) == sum(lengths)


def test_a_han_character_counts_as_three_letters(tmp_path: Path) -> None:
    path = tmp_path / "mine.tsv"
    path.write_text("I see a boat.\t我看见一条船。\n", encoding="utf-8")
    assert survey(open_files([path], "en", "zh")).percentile(1, 100) == 6 * 3 + 1


def test_characters_are_counted_from_the_commonest(tmp_path: Path) -> None:
    found = surveyed(tmp_path, "aaaaaaaa\taaaab")
    assert found.characters_for(1.0) == 2
    assert found.characters_for(0.9) == 1


def test_the_report_names_the_files_and_the_carriage_returns_in_them(tmp_path: Path) -> None:
    console = Console(record=True, width=200, file=StringIO())
    surveyed(tmp_path, "A\rboat.\tEin Boot.", "Two boats.\tZwei Boote.").show(console)
    text = console.export_text()
    assert "mine.tsv: 2 pairs; 1 carriage returns" in text
    assert "99 % up to" in text


def test_a_corpus_of_which_nothing_stays_stops_with_the_counts(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match=r"no pair is left: 1 read.*empty side: 1"):
        surveyed(tmp_path, "\tEin Boot.")
