"""Packed corpora: the type comes from the bytes, and damage is found before the first pair."""

import gzip
import logging
import zipfile

import pytest

from training.corpora.archives import Stream, streams_in
from training.corpora.corpus import open_files
from training.corpora.pairs import CorpusError, Pair

ROWS = "".join(f"line {number}\tZeile {number}\n" for number in range(2000)).encode()


def zipped(path, members):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return path


def first_pair(path):
    """Fails on a damaged file without giving any pair away."""
    return next(open_files([path], "en", "de").read())


def test_a_gzip_that_was_cut_gives_no_pair(tmp_path):
    path = tmp_path / "cut.tsv.gz"
    packed = gzip.compress(ROWS)
    path.write_bytes(packed[: len(packed) * 6 // 10])
    with pytest.raises(CorpusError, match=r"cut\.tsv\.gz: the compressed file ends too early"):
        first_pair(path)


def test_a_gzip_with_a_wrong_checksum_gives_no_pair(tmp_path):
    path = tmp_path / "wrong.tsv.gz"
    packed = bytearray(gzip.compress(ROWS))
    packed[-8] ^= 1
    path.write_bytes(packed)
    with pytest.raises(CorpusError, match=r"wrong\.tsv\.gz: the compressed file is damaged \(CRC"):
        first_pair(path)


def test_plain_text_named_gz_is_read_with_a_warning(tmp_path, caplog):
    path = tmp_path / "plain.tsv.gz"
    path.write_bytes(ROWS)
    with caplog.at_level(logging.WARNING):
        assert first_pair(path) == Pair("line 0", "Zeile 0")
    assert "not compressed" in caplog.text


def test_a_gzip_by_any_name_is_unpacked(tmp_path):
    path = tmp_path / "corpus.txt"
    path.write_bytes(gzip.compress(ROWS))
    assert first_pair(path) == Pair("line 0", "Zeile 0")


@pytest.mark.parametrize("name", ["corpus.zip", "corpus.gz", "corpus.tsv"])
def test_an_error_page_is_refused_by_any_name(tmp_path, name):
    path = tmp_path / name
    path.write_bytes(b"\n<!DOCTYPE html>\n<html><body>404</body></html>")
    with pytest.raises(CorpusError, match=rf"{name}: an HTML page"):
        first_pair(path)


def test_a_zip_with_one_language_is_refused_and_the_other_is_named(tmp_path):
    path = zipped(tmp_path / "half.zip", {"corpus.en": "one\n", "README": "about"})
    with pytest.raises(CorpusError, match=r"half\.zip: no files in 'de'.*corpus\.en"):
        first_pair(path)


def test_a_zip_whose_member_is_damaged_gives_no_pair(tmp_path):
    path = zipped(tmp_path / "bad.zip", {"corpus.tsv": ROWS})
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 0xFF
    path.write_bytes(content)
    with pytest.raises(CorpusError, match=r"bad\.zip:corpus\.tsv: the compressed file"):
        first_pair(path)


def test_a_zip_that_was_cut_is_refused(tmp_path):
    path = zipped(tmp_path / "cut.zip", {"corpus.tsv": ROWS})
    path.write_bytes(path.read_bytes()[:-30])
    with pytest.raises(CorpusError, match=r"cut\.zip: the zip is damaged"):
        first_pair(path)


def test_notices_in_a_zip_are_no_corpus(tmp_path):
    path = zipped(tmp_path / "a.zip", {"_about.txt": "terms", "LICENSE": "terms", "deu.txt": ROWS})
    assert streams_in(path) == [Stream(path, "deu.txt")]
    only_notices = zipped(tmp_path / "b.zip", {"README": "terms"})
    with pytest.raises(CorpusError, match=r"holds no corpus file \(it holds: README\)"):
        streams_in(only_notices)


@pytest.mark.parametrize(
    ("content", "cause"),
    [(b"", "is empty"), (b"BZh91AY", "bzip2"), (b"\xfd7zXZ\x00\x00", "xz"), (b"7z\xbc\xaf\x27\x1c", "7-zip")],
)
def test_what_cannot_be_read_is_called_by_its_name(tmp_path, content, cause):
    path = tmp_path / "corpus"
    path.write_bytes(content)
    with pytest.raises(CorpusError, match=cause):
        streams_in(path)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(CorpusError, match=r"nowhere\.tsv: no such file"):
        streams_in(tmp_path / "nowhere.tsv")
