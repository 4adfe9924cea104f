"""From a name to a corpus folder, and back to pairs."""

import gzip
import hashlib
import json
import zipfile
from pathlib import Path

import pytest

from training.corpora.catalogue import CATALOGUE, Entry, RemoteFile, entry_named
from training.corpora.corpus import open_corpus, open_files
from training.corpora.pairs import CorpusError, Pair
from training.fetch import copy_local, fetch, main

TEXTS = {
    "train.en": b"One.\nTwo.\n",
    "train.de": b"Eins.\nZwei.\n",
    "test.en": b"Three.\n",
    "test.de": b"Drei.\n",
}


def entry_of() -> Entry:
    files = tuple(
        RemoteFile(f"{name}.gz", f"http://corpus.example/{name}.gz", hashlib.sha256(content).hexdigest())
        for name, content in TEXTS.items()
    )
    return Entry(
        name="small",
        source_language="en",
        target_language="de",
        group="group",
        licence="free",
        attribution="its makers",
        files=files,
        parts={"train": ("train.en.gz", "train.de.gz"), "test": ("test.en.gz", "test.de.gz")},
    )


@pytest.fixture
def local(tmp_path: Path) -> Path:
    folder = tmp_path / "local" / "group"
    folder.mkdir(parents=True)
    for name, content in TEXTS.items():
        (folder / f"{name}.gz").write_bytes(gzip.compress(content))
    return folder.parent


def from_local(entry: Entry, directory: Path, folder: Path) -> None:
    fetch(entry, folder, lambda file, into: copy_local(directory, entry.group, file, into))


def test_a_corpus_from_a_local_folder_gives_the_pairs_of_its_parts(local, tmp_path):
    folder = tmp_path / "corpora" / "small"
    from_local(entry_of(), local, folder)
    corpus = open_corpus(folder)
    assert list(corpus.read("train")) == [Pair("One.", "Eins."), Pair("Two.", "Zwei.")]
    assert list(corpus.read("test")) == [Pair("Three.", "Drei.")]
    assert (corpus.is_split, corpus.licence, corpus.attribution) == (True, "free", "its makers")


@pytest.mark.parametrize("inner", ["", "group", "somewhere/deep"])
def test_a_file_is_found_where_a_person_would_look(tmp_path, inner):
    folder = tmp_path / inner
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "tok.de.gz").write_bytes(b"packed")
    (tmp_path / "out").mkdir()
    path = copy_local(
        tmp_path, "group", RemoteFile("tok.de", "http://corpus.example/tok.de", None), tmp_path / "out"
    )
    assert (path.name, path.read_bytes()) == ("tok.de.gz", b"packed")


def test_a_local_file_that_is_missing_or_not_unique_is_named(tmp_path):
    file = RemoteFile("a.zip", "http://corpus.example/a.zip", None)
    with pytest.raises(CorpusError, match=r"no a\.zip in it"):
        copy_local(tmp_path, "group", file, tmp_path)
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "a.zip").write_bytes(b"")
    with pytest.raises(CorpusError, match=r"several files are called a\.zip: .*one.*two"):
        copy_local(tmp_path, "group", file, tmp_path)


def test_another_text_than_the_catalogue_knows_is_refused_and_no_folder_appears(local, tmp_path):
    (local / "group" / "test.de.gz").write_bytes(gzip.compress(b"Vier.\n"))
    with pytest.raises(CorpusError, match=r"test\.de\.gz: its text has SHA-256 .*, expected"):
        from_local(entry_of(), local, tmp_path / "corpora" / "small")
    assert not (tmp_path / "corpora" / "small").exists()
    with pytest.raises(CorpusError, match="no corpus here"):
        open_corpus(tmp_path / "corpora" / "small")


def test_a_damaged_file_is_removed_so_that_the_next_try_fetches_it_again(local, tmp_path):
    whole = (local / "group" / "test.de.gz").read_bytes()
    (local / "group" / "test.de.gz").write_bytes(whole[:-5])
    folder = tmp_path / "corpora" / "small"
    with pytest.raises(CorpusError, match="ends too early"):
        from_local(entry_of(), local, folder)
    (local / "group" / "test.de.gz").write_bytes(whole)
    from_local(entry_of(), local, folder)
    assert list(open_corpus(folder).read("test")) == [Pair("Three.", "Drei.")]


def test_a_corpus_that_was_changed_is_refused_and_fetched_again(local, tmp_path):
    folder = tmp_path / "corpora" / "small"
    from_local(entry_of(), local, folder)
    (folder / "train.de.gz").write_bytes(gzip.compress(b"Falsch.\nFalsch.\n"))
    with pytest.raises(CorpusError, match=r"train\.de\.gz: missing or changed since it was fetched"):
        open_corpus(folder)
    from_local(entry_of(), local, folder)
    assert next(open_corpus(folder).read("train")) == Pair("One.", "Eins.")


def test_a_whole_corpus_is_not_fetched_twice(local, tmp_path):
    folder = tmp_path / "corpora" / "small"
    from_local(entry_of(), local, folder)

    def never(file: RemoteFile, into: Path) -> Path:
        raise AssertionError(f"{file.name} was asked for again")

    fetch(entry_of(), folder, never)


def test_source_json_tells_origin_terms_and_checksums(local, tmp_path):
    folder = tmp_path / "corpora" / "small"
    from_local(entry_of(), local, folder)
    source = json.loads((folder / "source.json").read_text())
    assert source["licence"] == "free"
    for file in source["files"]:
        content = (folder / file["name"]).read_bytes()
        assert file["address"].startswith("http://corpus.example/")
        assert (file["bytes"], file["sha256"]) == (len(content), hashlib.sha256(content).hexdigest())


def test_a_part_that_is_not_there_is_answered_with_those_that_are(local, tmp_path):
    from_local(entry_of(), local, tmp_path / "small")
    with pytest.raises(CorpusError, match="no part 'dev'; its parts: train, test"):
        open_corpus(tmp_path / "small").read("dev")


def test_the_command_fetches_a_corpus_into_the_folder_named(monkeypatch, tmp_path, local):
    monkeypatch.setitem(CATALOGUE, "small", entry_of())
    assert main(["small", "--from", str(local), "--to", str(tmp_path / "corpora")]) == 0
    assert open_corpus(tmp_path / "corpora" / "small").is_split


def test_an_unknown_name_ends_with_an_error_that_lists_the_known_ones(tmp_path, capsys):
    assert main(["europarl", "--to", str(tmp_path)]) == 1
    shown = capsys.readouterr().err
    assert "'europarl'" in shown
    assert all(name in shown for name in [*CATALOGUE, "primer"])


def test_the_list_names_every_corpus_with_address_and_licence(capsys):
    assert main(["--list"]) == 0
    shown = "".join(capsys.readouterr().out.split())
    for entry in CATALOGUE.values():
        assert entry.name[:8] in shown
    assert "CCBY2.0FR" in shown


def test_every_entry_of_the_catalogue_is_complete():
    for name, entry in CATALOGUE.items():
        assert entry_named(name) is entry
        known = {file.name for file in entry.files}
        assert {file for files in entry.parts.values() for file in files} | set(entry.texts) == known
        assert all(file.address.startswith("https://") for file in entry.files)
        assert all(file.sha256 or entry.group == "tatoeba" for file in entry.files)


@pytest.mark.parametrize("name", CATALOGUE)
def test_the_real_corpora_can_be_fetched_from_a_local_folder(corpora, tmp_path, name):
    assert main([name, "--from", str(corpora), "--to", str(tmp_path)]) == 0
    corpus = open_corpus(tmp_path / name)
    for part in corpus.parts:
        assert sum(1 for _ in corpus.read(part)) > 400


# The user's own files


def test_two_text_files_are_read_side_by_side(tmp_path):
    (tmp_path / "a.txt").write_text("One.\n")
    (tmp_path / "b.gz").write_bytes(gzip.compress(b"Eins.\n"))
    corpus = open_files([tmp_path / "a.txt", tmp_path / "b.gz"], "en", "de")
    assert list(corpus.read()) == [Pair("One.", "Eins.")]
    assert not corpus.is_split


def test_two_texts_in_a_zip_are_told_apart_by_their_ending(tmp_path):
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("corpus.de-en.de", "Eins.\n")
        archive.writestr("corpus.de-en.en.gz", gzip.compress(b"One.\n"))
        archive.writestr("README", "about")
    assert list(open_files([tmp_path / "a.zip"], "en", "de").read()) == [Pair("One.", "Eins.")]
    assert list(open_files([tmp_path / "a.zip"], "de", "en").read()) == [Pair("Eins.", "One.")]


def test_a_table_in_a_zip_beside_a_notice_is_read(tmp_path):
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("deu.txt", "One.\tEins.\tattribution\n")
        archive.writestr("_about.txt", "about")
    assert list(open_files([tmp_path / "a.zip"], "en", "de").read()) == [Pair("One.", "Eins.")]


@pytest.mark.parametrize("count", [0, 3])
def test_other_numbers_of_files_are_refused(tmp_path, count):
    with pytest.raises(CorpusError, match=f"{count} files; a corpus is one file"):
        open_files([tmp_path / "a"] * count, "en", "de")
