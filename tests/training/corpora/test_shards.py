"""Shards: many workers and a merge make the corpus that one process would make."""

import json
import random
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from tests.training.made_corpora import LANGUAGES, sentences
from training import clean_shard, merge_shards
from training.corpora.corpus import open_corpus, open_files
from training.corpora.pairs import CorpusError, Pair
from training.corpora.parts import PARTS, write_parts
from training.corpora.rows import StoredPairs
from training.corpora.shards import Shard, write_shard
from training.preparation import load_run_data, prepare
from training.recipes import Recipe

# Texts that come again with other translations, duplicates in other letters, and pairs that cleaning drops.
PAIRS = [
    *sentences(0, 80),
    *[Pair(pair.source, f"{pair.target[:-1]}, so heißt es.") for pair in sentences(0, 80)[::4]],
    *[Pair(pair.source.upper(), pair.target.upper()) for pair in sentences(0, 80)[::5]],
    *[Pair("", f"Zeile {number}.") for number in range(9)],
]
random.Random(4).shuffle(PAIRS)


def tsv(path: Path, pairs: list[Pair]) -> Path:
    rows = "".join(f"{pair.source}\t{pair.target}\n" for pair in pairs)
    path.write_text(rows, encoding="utf-8", newline="\n")
    return path


def cleaned(folder: Path, pairs: list[Pair], shards: int) -> list[Path]:
    """Each shard cleaned by the command."""
    size = -(-len(pairs) // shards)
    folders = []
    for number in range(shards):
        file = tsv(folder / f"{number}.tsv", pairs[number * size : (number + 1) * size])
        folders.append(folder / f"cleaned-{number}")
        languages = ["--source-language", "en", "--target-language", "de"]
        assert clean_shard.main([str(file), *languages, "--output", str(folders[-1])]) == 0
    return folders


def merged(folders: list[Path], output: Path) -> dict[str, list[Pair]]:
    arguments = [*map(str, folders), "--output", str(output), "--held-out", "6", "--licence", "mine"]
    assert merge_shards.main(arguments) == 0
    corpus = open_corpus(output)
    return {part: list(corpus.read(part)) for part in PARTS}


@pytest.mark.parametrize("shards", [1, 3, 7])
def test_however_a_corpus_is_cut_the_merge_is_what_one_process_makes_of_it(tmp_path, shards):
    parts = merged(cleaned(tmp_path, PAIRS, shards), tmp_path / "corpus")
    (tmp_path / "parts").mkdir()
    corpus = open_files([tsv(tmp_path / "all.tsv", PAIRS)], *LANGUAGES)
    write_parts([corpus], tmp_path / "parts", held_out=6, seed=1)
    for part in PARTS:
        assert parts[part] == list(StoredPairs(tmp_path / "parts" / part, LANGUAGES))


def test_every_pair_of_every_shard_is_accounted_for(tmp_path, capsys):
    folders = cleaned(tmp_path, PAIRS, 4)
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert sum(line["read"] for line in lines) == len(PAIRS)
    assert sum(line["dropped"]["empty side"] for line in lines) == 9
    merged(folders, tmp_path / "corpus")
    counts = json.loads(capsys.readouterr().out)
    assert counts["read"] == sum(line["kept"] for line in lines)
    assert counts["read"] == counts["duplicate"] + sum(counts[part] for part in (*PARTS, "set aside"))
    report = json.loads((tmp_path / "corpus" / "cleaning.json").read_text())
    assert report["counts"] == counts
    assert [shard["cleaning"]["kept"] for shard in report["shards"].values()] == [
        line["kept"] for line in lines
    ]


def test_a_merged_corpus_is_trained_on_without_being_cleaned_again(
    tmp_path: Path, small_recipe: Recipe, quiet: Console
) -> None:
    parts = merged(cleaned(tmp_path, sentences(0, 300), 2), tmp_path / "corpus")
    recipe = replace(small_recipe, corpus="corpus")
    prepare(recipe, open_corpus(tmp_path / "corpus"), tmp_path / "data", quiet)
    data = load_run_data(tmp_path / "data")
    assert list(data.train) == parts["train"]
    assert (data.validation, data.test) == (parts["validation"], parts["test"])
    assert data.facts["licence"] == "mine"
    (facts,) = data.facts["corpora"]
    assert (facts["cleaning"]["read"], facts["overlap"], facts["set_aside"]) == (len(parts["train"]), 0, 0)


def test_a_worker_that_is_started_again_does_nothing_twice(tmp_path):
    (folder,) = cleaned(tmp_path, PAIRS, 1)
    before = {path.name: path.stat().st_mtime_ns for path in folder.iterdir()}
    cleaned(tmp_path, PAIRS, 1)
    assert {path.name: path.stat().st_mtime_ns for path in folder.iterdir()} == before


def test_an_output_that_is_there_is_not_merged_over(tmp_path, capsys):
    folders = cleaned(tmp_path, PAIRS, 2)
    merged(folders, tmp_path / "corpus")
    assert merge_shards.main([*map(str, folders), "--output", str(tmp_path / "corpus")]) == 1
    assert "is there already" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["hashes", "pairs.en", "shard.json"])
def test_a_damaged_shard_is_refused_by_name(tmp_path, name, capsys):
    folders = cleaned(tmp_path, PAIRS, 2)
    content = (folders[1] / name).read_bytes()
    (folders[1] / name).write_bytes(content[: len(content) // 2])
    assert merge_shards.main([*map(str, folders), "--output", str(tmp_path / "corpus")]) == 1
    assert "cleaned-1: " in capsys.readouterr().err
    assert not (tmp_path / "corpus").exists()


def test_a_line_too_many_in_one_shard_stops_its_worker_and_names_both_counts(tmp_path, capsys):
    """And the merge cannot take what is not there."""
    cleaned(tmp_path, PAIRS, 1)
    (tmp_path / "1.en").write_text("One.\nTwo.\n")
    (tmp_path / "1.de").write_text("Eins.\nZwei.\nDrei.\n")
    arguments = [str(tmp_path / "1.en"), str(tmp_path / "1.de"), "--output", str(tmp_path / "cleaned-1")]
    assert clean_shard.main([*arguments, "--source-language", "en", "--target-language", "de"]) == 1
    shown = capsys.readouterr().err
    assert "1.en has 2 lines" in shown
    assert "1.de has 3" in shown
    folders = [str(tmp_path / "cleaned-0"), str(tmp_path / "cleaned-1")]
    assert merge_shards.main([*folders, "--output", str(tmp_path / "corpus")]) == 1
    assert "cleaned-1: no cleaned shard" in capsys.readouterr().err
    assert not (tmp_path / "corpus").exists()


def test_a_faulty_line_stops_a_worker_or_costs_its_pair_alone(tmp_path, capsys):
    (tmp_path / "a.en").write_bytes(b"One boat.\nTwo caf\xe9s.\nThree trees.\n")
    (tmp_path / "a.de").write_bytes(b"Ein Boot.\nZwei Lokale.\nDrei B\xc3\xa4ume.\n")
    arguments = [str(tmp_path / "a.en"), str(tmp_path / "a.de"), "--output", str(tmp_path / "out")]
    arguments += ["--source-language", "en", "--target-language", "de"]
    assert clean_shard.main(arguments) == 1
    assert "a.en, line 2: byte 0xE9 at offset 17" in capsys.readouterr().err
    assert clean_shard.main([*arguments, "--drop-faulty"]) == 0
    assert json.loads(capsys.readouterr().out)["reading"]["dropped"] == 1
    assert list(Shard(tmp_path / "out").pairs()) == [
        Pair("One boat.", "Ein Boot."),
        Pair("Three trees.", "Drei Bäume."),
    ]


def test_shards_of_other_languages_are_not_merged(tmp_path):
    english = write_shard(open_files([tsv(tmp_path / "a.tsv", sentences(0, 9))], "en", "de"), tmp_path / "a")
    french = write_shard(
        open_files([tsv(tmp_path / "b.tsv", [Pair("One.", "Un.")])], "en", "fr"), tmp_path / "b"
    )
    assert merge_shards.main([str(english.folder), str(french.folder), "--output", str(tmp_path / "c")]) == 1


def test_a_folder_that_is_no_shard_is_named(tmp_path):
    with pytest.raises(CorpusError, match="no cleaned shard"):
        Shard(tmp_path)


@pytest.mark.slow
def test_a_killed_worker_leaves_no_shard_and_the_next_try_makes_it_whole(tmp_path: Path) -> None:
    file = tsv(tmp_path / "a.tsv", sentences(0, 100_000))
    command = [sys.executable, "-m", "training.clean_shard", str(file), "--output", str(tmp_path / "out")]
    command += ["--source-language", "en", "--target-language", "de"]
    process = subprocess.Popen(command)
    while not (tmp_path / ".out.unfinished" / "hashes").exists():
        assert process.poll() is None
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert not (tmp_path / "out").exists()
    subprocess.run(command, check=True)
    assert len(Shard(tmp_path / "out").pairs()) == 100_000
