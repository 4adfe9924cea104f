"""Rows on disk: what was written is what is read, in any order, and damage is seen."""

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from training.corpora.pairs import CorpusError, Pair
from training.corpora.rows import PairWriter, Rows, RowWriter, StoredIds, StoredPairs, write_ids

LANGUAGES = ("en", "de")
one_line = st.text(st.characters(exclude_characters="\n", exclude_categories=["Cs"]), max_size=30)


def stored(folder, pairs, *, goes_on=False):
    with PairWriter(folder / "part", LANGUAGES, goes_on=goes_on) as writer:
        for pair in pairs:
            writer.append(pair)
    return StoredPairs(folder / "part", LANGUAGES)


@given(st.lists(st.builds(Pair, one_line, one_line), max_size=20))
def test_pairs_are_read_as_they_were_written_one_by_one_and_all_in_a_row(tmp_path_factory, pairs):
    """Also those with U+2028, VT, CR and all else that some readers take for the end of a line."""
    found = stored(tmp_path_factory.mktemp("rows"), pairs)
    assert len(found) == len(pairs)
    assert [found[index] for index in range(len(pairs))] == pairs == list(found)
    assert found[1:3] == pairs[1:3]


def test_a_part_is_a_text_that_people_can_read(tmp_path):
    stored(tmp_path, [Pair("One.", "Eins."), Pair("Two.", "Zwei.")])
    assert (tmp_path / "part.en").read_bytes() == b"One.\nTwo.\n"
    assert (tmp_path / "part.de").read_bytes() == b"Eins.\nZwei.\n"


def test_writing_can_go_on(tmp_path):
    stored(tmp_path, [Pair("One.", "Eins.")])
    assert list(stored(tmp_path, [Pair("Two.", "Zwei.")], goes_on=True)) == [
        Pair("One.", "Eins."),
        Pair("Two.", "Zwei."),
    ]


def test_a_sequence_of_no_rows_is_empty(tmp_path):
    found = stored(tmp_path, [])
    assert (len(found), list(found)) == (0, [])
    with pytest.raises(IndexError, match="row 0 of 0"):
        found[0]


@pytest.mark.parametrize("vocabulary_size", [8_000, 1 << 16, (1 << 16) + 1])
def test_ids_keep_their_value_up_to_the_largest_of_the_vocabulary(tmp_path, vocabulary_size):
    rows = [[0, vocabulary_size - 1], [], [5, 6, 7]]
    write_ids(tmp_path / "ids", rows, vocabulary_size)
    found = StoredIds(tmp_path / "ids", vocabulary_size)
    assert list(found) == rows
    assert np.concatenate(list(found.lengths())).tolist() == [2, 0, 3]


def test_lengths_of_many_rows_come_in_blocks_and_in_order(tmp_path):
    sizes = [random.Random(1).randrange(4) for _ in range(150_000)]
    with RowWriter(tmp_path / "rows") as writer:
        for size in sizes:
            writer.append(b"x" * size)
    blocks = list(Rows(tmp_path / "rows").lengths())
    assert len(blocks) > 1
    assert np.concatenate(blocks).tolist() == sizes


@pytest.mark.parametrize("damage", [lambda text: text[:-1], lambda text: text + b"x\n", lambda text: b""])
def test_a_file_that_was_cut_or_grew_is_refused_by_name(tmp_path, damage):
    stored(tmp_path, [Pair("One.", "Eins."), Pair("Two.", "Zwei.")])
    (tmp_path / "part.de").write_bytes(damage((tmp_path / "part.de").read_bytes()))
    with pytest.raises(CorpusError, match=r"part\.de: not as long as part\.de\.starts says"):
        StoredPairs(tmp_path / "part", LANGUAGES)


def test_sides_of_unequal_length_are_refused(tmp_path):
    for language, count in (("en", 2), ("de", 1)):
        with RowWriter(tmp_path / f"part.{language}") as writer:
            for _ in range(count):
                writer.append(b"text\n")
    with pytest.raises(CorpusError, match="2 and 1 lines"):
        StoredPairs(tmp_path / "part", LANGUAGES)
