"""A user's own corpus in one command: every form of file, any amount, nothing left behind by a dry run."""

import gzip
from pathlib import Path

import pytest

from model.directory import load_translator
from training.corpora.pairs import Pair
from training.preparation import load_run_data
from training.primer.write import primer
from training.run_folder import read_recipe
from training.train import main

EN_DE = ["--source-language", "en", "--target-language", "de"]
SHORT = [
    *("--set", "updates=4", "--set", "model.width=32", "--set", "model.feed_forward_width=64"),
    *("--set", "validation_sentences=2", "--set", "precision=float32"),
]


@pytest.fixture(scope="module")
def pairs() -> list[Pair]:
    return primer(seed=3, pairs=400, held_out=10)[0]


def aligned(folder: Path, pairs: list[Pair]) -> list[str]:
    for side, language in enumerate(("en", "de")):
        (folder / f"mine.{language}").write_text(
            "".join(f"{pair[side]}\n" for pair in pairs), encoding="utf-8"
        )
    return [str(folder / "mine.en"), str(folder / "mine.de")]


def tsv(folder: Path, pairs: list[Pair]) -> list[str]:
    (folder / "mine.tsv").write_text("".join(f"{a}\t{b}\n" for a, b in pairs), encoding="utf-8")
    return [str(folder / "mine.tsv")]


def packed(folder: Path, pairs: list[Pair]) -> list[str]:
    (path,) = tsv(folder, pairs)
    Path(f"{path}.gz").write_bytes(gzip.compress(Path(path).read_bytes()))
    return [f"{path}.gz"]


def tmx(folder: Path, pairs: list[Pair]) -> list[str]:
    units = "".join(
        f'<tu><tuv xml:lang="de-DE"><seg>{b}</seg></tuv><tuv xml:lang="en-US"><seg>{a}</seg></tuv></tu>'
        for a, b in pairs
    )
    (folder / "mine.tmx").write_text(
        f'<tmx version="1.4"><header/><body>{units}</body></tmx>', encoding="utf-8"
    )
    return [str(folder / "mine.tmx")]


@pytest.mark.parametrize("write", [aligned, tsv, packed, tmx])
def test_every_form_of_file_becomes_a_model_in_one_command(
    write, tmp_path: Path, pairs: list[Pair], capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "boats"
    corpus = write(tmp_path, pairs[:60])
    assert (
        main(["custom", "--corpus", *corpus, *EN_DE, "--output", str(output), "--licence", "mine", *SHORT])
        == 0
    )
    printed = capsys.readouterr().out
    for fact in ("60 pairs", "overlap 0", "vocabulary:", "4 updates will take about", "dropped: duplicate"):
        assert fact in " ".join(printed.split()), fact
    assert load_translator(output).directions == (("en", "de"), ("de", "en"))
    assert read_recipe(output).name == "boats"
    card = (output / "model" / "MODEL_CARD.md").read_text()
    assert "Licence: mine" in card
    assert f"python -m training.train custom --corpus {' '.join(corpus)}" in card


def test_one_way_trains_one_direction(tmp_path: Path, pairs: list[Pair]) -> None:
    output = tmp_path / "run"
    arguments = [
        "custom",
        "--corpus",
        *tsv(tmp_path, pairs[:40]),
        *EN_DE,
        "--output",
        str(output),
        "--one-way",
    ]
    assert main([*arguments, *SHORT]) == 0
    assert load_translator(output).directions == (("en", "de"),)


@pytest.mark.parametrize("amount", [20, 200])
def test_a_dry_run_prints_report_recipe_and_time_and_leaves_nothing(
    tmp_path: Path, pairs: list[Pair], capsys: pytest.CaptureFixture[str], amount: int
) -> None:
    corpus = tsv(tmp_path, pairs[:amount])
    before = sorted(tmp_path.iterdir())
    assert main(["custom", "--corpus", *corpus, *EN_DE, "--output", str(tmp_path / "run"), "--dry-run"]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert f"{amount} pairs are few" in printed
    assert "updates will take about" in printed
    assert "model.dropout" in printed
    assert sorted(tmp_path.iterdir()) == before


def test_data_may_be_prepared_at_one_time_and_trained_on_at_another(
    tmp_path: Path, pairs: list[Pair]
) -> None:
    output = tmp_path / "run"
    arguments = ["custom", "--corpus", *tsv(tmp_path, pairs[:40]), *EN_DE, "--output", str(output), *SHORT]
    assert main([*arguments, "--prepare"]) == 0
    assert load_run_data(output / "data").test
    assert not (output / "model").exists()
    assert main(["custom", "--output", str(output), "--resume"]) == 0
    assert (output / "model").exists()


def test_the_table_says_what_was_set_and_what_it_would_have_been(
    tmp_path: Path, pairs: list[Pair], capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["custom", "--corpus", *tsv(tmp_path, pairs[:40]), *EN_DE, "--output", str(tmp_path / "run")]
    assert main([*arguments, "--dry-run", "--set", "model.dropout=0.25", "--set", "seed=7"]) == 0
    rows = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["│", "model.dropout", "│", "0.25", "│", "--set;", "else", "0.3", "│"] in rows
    assert ["│", "seed", "│", "7", "│", "--set", "│"] in rows


def test_a_handful_of_pairs_is_an_error_with_the_cure(
    tmp_path: Path, pairs: list[Pair], capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "run"
    assert main(["custom", "--corpus", *tsv(tmp_path, pairs[:7]), *EN_DE, "--output", str(output)]) == 1
    assert "7 of 7 pairs are left" in capsys.readouterr().err
    assert not output.exists()


def test_the_corpus_and_its_languages_are_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["custom", "--output", "nowhere", "--source-language", "en"])
    assert "--corpus is missing" in capsys.readouterr().err


def test_unequal_files_stop_before_anything_is_made(
    tmp_path: Path, pairs: list[Pair], capsys: pytest.CaptureFixture[str]
) -> None:
    source, target = aligned(tmp_path, pairs[:50])
    Path(target).write_text("".join(f"{pair.target}\n" for pair in pairs[:49]), encoding="utf-8")
    output = tmp_path / "run"
    assert main(["custom", "--corpus", source, target, *EN_DE, "--output", str(output)]) == 1
    error = capsys.readouterr().err
    assert "mine.en has 50 lines" in error
    assert "mine.de has 49" in error
    assert not output.exists()


def test_a_corpus_of_which_all_is_too_long_stops_before_training(
    tmp_path: Path, pairs: list[Pair], capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "run"
    arguments = ["custom", "--corpus", *tsv(tmp_path, pairs[:40]), *EN_DE, "--output", str(output)]
    assert main([*arguments, "--set", "max_length=5"]) == 1
    assert "all 36 pairs of the train part are longer than 5 pieces" in capsys.readouterr().err
    assert main([*arguments, *SHORT]) == 0  # nothing is in its way


def test_a_line_that_is_no_text_stops_the_command_or_costs_its_pair(
    tmp_path: Path, pairs: list[Pair], capsys: pytest.CaptureFixture[str]
) -> None:
    source, target = aligned(tmp_path, pairs[:50])
    lines = Path(source).read_bytes().split(b"\n")
    lines[29] = b"caf\xe9"
    Path(source).write_bytes(b"\n".join(lines))
    output = tmp_path / "run"
    arguments = ["custom", "--corpus", source, target, *EN_DE, "--output", str(output), *SHORT]
    assert main(arguments) == 1
    assert "mine.en, line 30: byte 0xE9" in capsys.readouterr().err
    assert not output.exists()
    assert main([*arguments, "--drop-faulty"]) == 0
    assert "49 pairs; 1 entries without both sides, or no text" in " ".join(capsys.readouterr().out.split())
    assert load_run_data(output / "data").facts["corpora"][0]["cleaning"]["read"] == 49


def test_a_stopped_run_goes_on_without_the_corpus_being_named(tmp_path: Path, pairs: list[Pair]) -> None:
    output = tmp_path / "run"
    corpus = tsv(tmp_path, pairs[:40])
    arguments = ["custom", "--corpus", *corpus, *EN_DE, "--output", str(output), *SHORT]
    assert main([*arguments, "--minutes", "1e-9"]) == 0
    Path(corpus[0]).unlink()
    assert main(["custom", "--output", str(output), "--resume"]) == 0
    card = (output / "model" / "MODEL_CARD.md").read_text()
    assert "--minutes 1e-09" in card or "--minutes 1e-9" in card
    assert f"python -m training.train custom --output {output} --resume" in card
