import gzip
import hashlib
from pathlib import Path

import pytest

from training.corpora.pairs import CorpusError
from training.scoring.evaluation_set import read_evaluation_set

HUNDRED = [f"sentence {number}" for number in range(1, 101)]


@pytest.fixture
def write(tmp_path):
    def write(name: str, lines: list[str], end: str = "\n") -> Path:
        path = tmp_path / name
        path.write_bytes(("\n".join(lines) + end).encode())
        return path

    return write


def test_unequal_numbers_of_lines_are_refused_with_the_count_of_each_file(write):
    source, reference = write("a.en", ["a"] * 3004), write("a.de", ["b"] * 3004)
    hypothesis = write("out.de", ["c"] * 2134)
    with pytest.raises(CorpusError, match=r"a.de has 3,004, .*out.de has 2,134"):
        read_evaluation_set(source, reference, hypothesis)
    with pytest.raises(CorpusError, match=r"out.de has 2,134, .*a.de has 3,004"):
        read_evaluation_set(hypothesis, reference)


@pytest.mark.parametrize("odd", ["\u2028", "\u2029", "\x85", "\x0b", "\x0c", "\x1c", "\x1d", "\x1e"])
def test_only_lf_ends_a_line(write, odd):
    lines = [*HUNDRED[:9], f"sentence{odd}10", *HUNDRED[10:]]
    texts = read_evaluation_set(write("a.en", HUNDRED), write("a.de", HUNDRED), write("out.de", lines))
    assert texts.hypotheses == lines
    assert len(texts.references) == 100


@pytest.mark.parametrize("end", ["", "\n", "\n\n", "\n\n\n"], ids=["none", "one", "two", "three"])
@pytest.mark.parametrize("which", ["a.en", "a.de", "out.de", "all"])
def test_the_end_of_a_file_adds_and_takes_no_line(write, which, end):
    source, reference, hypothesis = (
        write(name, HUNDRED, end if which in (name, "all") else "\n") for name in ("a.en", "a.de", "out.de")
    )
    texts = read_evaluation_set(source, reference, hypothesis)
    assert texts.sources == texts.references == texts.hypotheses == HUNDRED


def test_an_empty_last_hypothesis_is_kept(write):
    lines = [*HUNDRED[:99], ""]
    texts = read_evaluation_set(write("a.en", HUNDRED), write("a.de", HUNDRED), write("out.de", lines))
    assert texts.hypotheses == lines


def test_a_hypothesis_too_many_is_refused(write):
    with pytest.raises(CorpusError, match=r"out.de has 101"):
        read_evaluation_set(
            write("a.en", HUNDRED), write("a.de", HUNDRED), write("out.de", [*HUNDRED, "one more"])
        )


@pytest.mark.parametrize("place", [0, 41, 99])
@pytest.mark.parametrize("blank", ["", "  "])
def test_an_empty_reference_is_refused_with_its_line(write, place, blank):
    lines = [*HUNDRED[:place], blank, *HUNDRED[place + 1 :]]
    with pytest.raises(CorpusError, match=rf"a.de, line {place + 1}: the reference is empty"):
        read_evaluation_set(write("a.en", HUNDRED), write("a.de", lines))


def test_a_gzipped_file_reads_and_hashes_as_the_plain_one(write, tmp_path):
    source, reference = write("a.en", HUNDRED), write("a.de", HUNDRED)
    packed = tmp_path / "a.de.gz"
    packed.write_bytes(gzip.compress(reference.read_bytes()))
    assert read_evaluation_set(source, packed) == read_evaluation_set(source, reference)
    expected = hashlib.sha256(reference.read_bytes()).hexdigest()
    assert read_evaluation_set(source, packed).reference_sha256 == expected


def test_bytes_that_are_no_utf8_are_refused_with_their_line(write, tmp_path):
    broken = tmp_path / "broken.de"
    broken.write_bytes(b"gut\nsch\xf6n\n")
    with pytest.raises(CorpusError, match=r"broken.de, line 2: byte 0xF6"):
        read_evaluation_set(write("a.en", ["good", "nice"]), broken)


def test_a_missing_and_an_empty_file_are_named(write, tmp_path):
    with pytest.raises(CorpusError, match="nowhere: no such file"):
        read_evaluation_set(write("a.en", HUNDRED), tmp_path / "nowhere")
    with pytest.raises(CorpusError, match=r"a.de: the file is empty"):
        read_evaluation_set(write("a.en", HUNDRED), write("a.de", [], end=""))
