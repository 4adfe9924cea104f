"""mtdata's catalogue: every ID is looked up in it, and a dataset becomes a corpus folder.

The slow tests run mtdata itself: its whole index, one entry added to it, and its download, from a server of the test.
What its own entries point at is in no reach of a test.
"""

import os
import shutil
import sys
import textwrap
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from training.corpora.corpus import open_corpus
from training.corpora.iso639 import two_letters
from training.corpora.mtdata import fetch_mtdata
from training.corpora.pairs import CorpusError, Pair
from training.fetch import main

IDENTIFIER = "Dragoman-boats-1-deu-eng"
PAIRS = [
    Pair("Das Boot ist grün.", "The boat is green."),
    Pair("Zwei Boote \u2028 da.", "Two boats \x85 there."),
]

needs_mtdata = pytest.mark.skipif(
    not (Path(sys.prefix) / "mtdata" / "bin" / "mtdata").is_file() and not shutil.which("mtdata"),
    reason="needs mtdata: `make install-mtdata`",
)


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("deu", "de"),
        ("eng_US", "en"),
        ("zho_Hant", "zh"),
        ("cmn", "zh"),
        ("fr", "fr"),
        ("PT-BR", "pt"),
        ("gsw", "gsw"),
    ],
)
def test_languages_get_their_two_letters_where_they_have_them(code, expected):
    assert two_letters(code) == expected


@pytest.mark.parametrize(
    "identifier", ["europarl", "Statmt-europarl-10-deu", "a-b-c-d-e-f", "Statmt--10-deu-eng"]
)
def test_what_is_no_id_of_a_parallel_dataset_is_refused_with_the_form_of_one(
    identifier, tmp_path, capsys, installed
):
    assert main([f"mtdata:{identifier}", "--to", str(tmp_path)]) == 1
    assert "GROUP-NAME-VERSION-LANGUAGE-LANGUAGE" in capsys.readouterr().err


def test_without_mtdata_the_error_says_how_to_install_it(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    assert main([f"mtdata:{IDENTIFIER}", "--to", str(tmp_path)]) == 1
    assert "mtdata is not installed: `make install-mtdata` installs it" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """A program called mtdata that must not be reached."""
    (tmp_path / "bin").mkdir()
    program = tmp_path / "bin" / "mtdata"
    program.write_text("#!/bin/sh\necho reached >&2; exit 9\n")
    program.chmod(0o755)
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")


def test_a_program_that_fails_is_an_error_with_its_command_and_status(tmp_path, installed):
    with pytest.raises(CorpusError, match=r"mtdata list --langs deu-eng` ended with status 9"):
        fetch_mtdata(IDENTIFIER, tmp_path / "corpus")
    assert not (tmp_path / "corpus").exists()


@pytest.fixture(scope="module")
def served(tmp_path_factory) -> Iterator[str]:
    """The address of a TSV with two pairs, and one of them lacking a side."""
    folder = tmp_path_factory.mktemp("served")
    rows = [*(f"{pair.source}\t{pair.target}\n" for pair in PAIRS), "\tNothing.\n"]
    (folder / "boats.tsv").write_text("".join(rows), encoding="utf-8", newline="\n")
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(SimpleHTTPRequestHandler, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()


@pytest.fixture(scope="module")
def catalogue(served, tmp_path_factory) -> Path:
    """A folder in which mtdata finds two more datasets, and where it keeps its index."""
    folder = tmp_path_factory.mktemp("mtdata")
    (folder / "mtdata_boats.py").write_text(
        textwrap.dedent(f"""
            from mtdata.index import DatasetId, Entry

            def load_all(index):
                for name, version in (("boats", "1"), ("gone", "1")):
                    did = DatasetId(group="Dragoman", name=name, version=version, langs=("deu", "eng"))
                    index += Entry(did=did, url=f"{served}/{{name}}.tsv", cite=("koehn2005europarl",))
        """)
    )
    return folder


@pytest.fixture
def beside_it(catalogue, monkeypatch):
    monkeypatch.chdir(catalogue)
    monkeypatch.setenv("PYTHONPATH", str(catalogue))
    monkeypatch.setenv("MTDATA", str(catalogue / "cache"))


@needs_mtdata
@pytest.mark.slow
def test_a_dataset_becomes_a_corpus_folder_with_origin_citation_and_checksums(beside_it, served, tmp_path):
    assert main([f"mtdata:{IDENTIFIER}", "--to", str(tmp_path)]) == 0
    corpus = open_corpus(tmp_path / IDENTIFIER)
    assert list(corpus.read()) == PAIRS
    assert (corpus.source_language, corpus.target_language) == ("de", "en")
    assert "not recorded by mtdata" in corpus.licence
    assert f"{served}/boats.tsv" in (tmp_path / IDENTIFIER / "source.json").read_text()
    assert "Europarl" in (tmp_path / IDENTIFIER / "references.bib").read_text()
    assert not corpus.is_split


@needs_mtdata
@pytest.mark.slow
def test_an_unknown_name_is_answered_with_near_ones_of_the_whole_catalogue(beside_it, tmp_path, capsys):
    assert main(["mtdata:Statmt-europarl-99-deu-eng", "--to", str(tmp_path)]) == 1
    shown = capsys.readouterr().err
    assert "none of this name; near ones: Statmt-europarl-" in " ".join(shown.split())
    assert list(tmp_path.iterdir()) == []


@needs_mtdata
@pytest.mark.slow
def test_a_download_that_fails_leaves_no_corpus(beside_it, tmp_path, capsys):
    assert main(["mtdata:Dragoman-gone-1-deu-eng", "--to", str(tmp_path)]) == 1
    assert "ended with status 1" in " ".join(capsys.readouterr().err.split())
    assert not (tmp_path / "Dragoman-gone-1-deu-eng").exists()
