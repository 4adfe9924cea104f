"""A run as a user meets it: begun, stopped, resumed, finished, and its folder served."""

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from io import StringIO
from operator import attrgetter
from pathlib import Path

import pytest
import torch
from rich.console import Console

from model.directory import load_translator
from training.checkpoint import CheckpointFolder
from training.corpora.corpus import Corpus, open_corpus
from training.primer.write import write_primer
from training.recipes import Recipe, recipe_named
from training.run import Run
from training.run_folder import MAY_CHANGE, RunError, begin, change_settings, read_recipe, write_recipe
from training.train import main
from training.trainer import TrainingDiverged
from training.validation import Validation

CPU = torch.device("cpu")


@pytest.fixture
def folder(tmp_path: Path, small_recipe: Recipe, primer: Corpus, quiet: Console) -> Path:
    begin(tmp_path / "run", small_recipe, primer, quiet, device=CPU)
    return tmp_path / "run"


def test_a_finished_run_is_a_model_with_its_scores_on_the_card(
    tmp_path: Path, small_recipe: Recipe, quiet: Console
) -> None:
    write_primer(tmp_path / "primer", pairs=400, held_out=10)
    folder = tmp_path / "run"
    begin(folder, small_recipe, open_corpus(tmp_path / "primer"), quiet, device=CPU)
    run = Run(folder, quiet, device=CPU)
    assert run.train()
    results = run.finish("python -m training.train small")
    assert [one.files.direction for one in results.after] == [("de", "en"), ("en", "de")]

    translator = load_translator(folder)  # the run's own folder is enough
    assert translator.directions == (("de", "en"), ("en", "de"))
    card = (folder / "model" / "MODEL_CARD.md").read_text()
    for row in results.rows():
        assert " | ".join(row) in card
    assert "python -m training.train small" in card


def test_weights_that_are_not_finite_never_become_the_model(folder: Path, quiet: Console) -> None:
    run = Run(folder, quiet, device=CPU)
    assert run.train()
    before = (folder / "model" / "checksums.json").read_bytes()
    checkpoints = run.checkpoints.updates()
    with torch.no_grad():
        next(run.trainer.averaged.parameters()).fill_(float("nan"))
    run.trainer.recipe = run.recipe = replace(run.recipe, updates=13, validate_every=1)
    with pytest.raises(TrainingDiverged, match=r"validation loss at update 13 is nan.*learning rate"):
        run.train()
    assert (folder / "model" / "checksums.json").read_bytes() == before
    assert run.checkpoints.updates() == checkpoints


def test_the_log_holds_updates_and_validations(folder: Path, quiet: Console) -> None:
    Run(folder, quiet, device=CPU).train()
    entries = [json.loads(line) for line in (folder / "log.jsonl").read_text().splitlines()]
    validated = [entry["update"] for entry in entries if "validation_loss" in entry]
    assert validated == [6, 12]
    assert all({"bleu_de-en", "bleu_en-de"} <= set(entry) for entry in entries if "validation_loss" in entry)
    assert list((folder / "tensorboard").glob("events.*"))


def test_a_stopped_run_goes_on_to_the_same_weights(
    folder: Path, tmp_path: Path, small_recipe: Recipe, primer: Corpus, quiet: Console
) -> None:
    assert Run(folder, quiet, device=CPU).train()

    stopped = tmp_path / "stopped"
    begin(stopped, small_recipe, primer, quiet, device=CPU)
    assert not Run(stopped, quiet, device=CPU).train(minutes=1e-9)  # one update, then it is late
    assert CheckpointFolder(stopped / "checkpoints").updates() == [1]
    assert Run(stopped, quiet, device=CPU).train()

    whole, resumed = (CheckpointFolder(one / "checkpoints").load(12)[0] for one in (folder, stopped))
    assert all(torch.equal(value, resumed[name]) for name, value in whole.items())


def test_a_folder_with_a_run_is_not_begun_again(
    folder: Path, small_recipe: Recipe, primer: Corpus, quiet: Console
) -> None:
    with pytest.raises(RunError, match="--resume"):
        begin(folder, small_recipe, primer, quiet, device=CPU)


def test_data_changed_under_a_run_is_refused(folder: Path, quiet: Console) -> None:
    with (folder / "data" / "train.en").open("a") as file:
        file.write("One line more.\n")
    with pytest.raises(ValueError, match=r"train\.en: changed"):
        Run(folder, quiet, device=CPU)


def test_a_killed_preparation_is_made_again(
    tmp_path: Path, small_recipe: Recipe, primer: Corpus, quiet: Console
) -> None:
    leftover = tmp_path / "run" / "data"
    leftover.mkdir(parents=True)
    (leftover / "train.en").write_text("half\n")
    begin(tmp_path / "run", small_recipe, primer, quiet, device=CPU)
    assert (leftover / "corpus.json").exists()


def test_patience_ends_a_run_that_gets_no_better(folder: Path, quiet: Console) -> None:
    write_recipe(folder, replace(read_recipe(folder), validate_every=1, patience=2, updates=1000))
    run = Run(folder, quiet, device=CPU)
    run.trainer.progress.best = [(100.1, 0)]  # nothing will be better
    assert run.train()
    assert run.trainer.progress.update == 2


def with_scores(
    folder: Path, scores: list[float], monkeypatch: pytest.MonkeyPatch, *, keep_best: int, patience: int = 2
) -> Run:
    """A run that is validated after each update, with these BLEU for answers."""
    write_recipe(
        folder,
        replace(
            read_recipe(folder), updates=len(scores), validate_every=1, keep_best=keep_best, patience=patience
        ),
    )
    answers = iter(scores)
    monkeypatch.setattr(
        "training.run.validate", lambda *_: Validation(1.0, {"en-de": next(answers)}, samples=[], skipped=0)
    )
    run = Run(folder, Console(record=True, width=200, file=StringIO()), device=CPU)
    run.train()
    return run


def test_of_scores_2_6_4_the_checkpoints_of_6_and_4_are_kept(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = with_scores(folder, [2, 6, 4, 1, 1], monkeypatch, keep_best=2, patience=9)
    assert [update for _, update in run.trainer.progress.best] == [2, 3]
    assert {2, 3} <= set(run.checkpoints.updates())
    assert 1 not in run.checkpoints.updates()


def test_the_best_checkpoint_outlives_all_newer_ones_and_is_the_model(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = with_scores(folder, [9, 1, 2, 1, 3], monkeypatch, keep_best=1, patience=9)
    assert 1 in run.checkpoints.updates()
    averaged, _ = run.trainer.models_at(run.checkpoints, 1)
    exported = load_translator(folder, device="cpu", dtype="float32").model
    for one, kept in zip(exported.parameters(), averaged.parameters(), strict=True):
        assert torch.equal(one, kept.half().float())


def test_a_score_that_stays_zero_is_told_and_costs_no_patience(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = with_scores(folder, [0, 0, 0, 0], monkeypatch, keep_best=1)
    assert run.trainer.progress.update == 4
    assert "BLEU is 0.0: it has not moved yet" in run.console.export_text()


def test_settings_reach_the_fields_of_a_recipe() -> None:
    recipe = recipe_named("tiny").with_settings({"updates": "7", "model.width": "64", "model.norm": "rms"})
    assert (recipe.updates, recipe.model.width, recipe.model.norm) == (7, 64, "rms")
    assert Recipe.from_json(json.loads(json.dumps(recipe.to_json()))) == recipe


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"speed": "9"}, "unknown field 'speed'; known are .*updates"),
        ({"model.heads": "3"}, "heads is 3, must be a divisor of the width 128"),
        ({"updates": "many"}, "updates=many"),
        ({"updates": "0"}, "updates is 0, must be at least 1"),
        ({"max_length": "513"}, "max_length is 513, must be at most the model's max_positions 512"),
        ({"batch_tokens": "100"}, "batch_tokens is 100, must be at least 2 × max_length = 240"),
    ],
)
def test_a_wrong_setting_is_refused_by_name(setting: dict[str, str], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        recipe_named("tiny").with_settings(setting)


def test_an_unknown_corpus_is_an_error_with_the_cure(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["tatoeba-en-de", "--corpora", str(tmp_path), "--output", str(tmp_path / "run")]
    assert main(arguments) == 1
    assert "python -m training.fetch" in capsys.readouterr().err
    assert not (tmp_path / "run" / "recipe.json").exists()


@pytest.mark.parametrize(
    "setting", ["seed=2", "model.width=64", "held_out=9", "batch_tokens=900", "optimiser=adam"]
)
def test_what_decided_data_shape_or_order_is_not_changed_on_resume(
    folder: Path, capsys: pytest.CaptureFixture[str], setting: str
) -> None:
    before = (folder / "recipe.json").read_bytes()
    assert main(["custom", "--output", str(folder), "--resume", "--set", setting]) == 1
    error = capsys.readouterr().err
    assert f"--set {setting}: a run keeps the {setting.partition('=')[0]} it began with" in error
    assert "may change: updates, accumulate, learning_rate" in error
    assert (folder / "recipe.json").read_bytes() == before


def test_every_field_that_may_change_is_one_of_the_recipe(small_recipe: Recipe) -> None:
    for path in MAY_CHANGE:
        assert isinstance(attrgetter(path)(small_recipe), int | float | str)


def test_updates_rates_and_dropout_may_change_on_resume(folder: Path, small_recipe: Recipe) -> None:
    vocabulary_size = read_recipe(folder).model.vocabulary_size
    settings = {
        "updates": "20",
        "learning_rate": "0.001",
        "model.dropout": "0.3",
        "seed": str(small_recipe.seed),
    }
    change_settings(folder, settings)  # the seed is named, but the same
    recipe = read_recipe(folder)
    assert (recipe.updates, recipe.learning_rate, recipe.model.dropout) == (20, 0.001, 0.3)
    assert recipe.model.vocabulary_size == vocabulary_size


def test_a_run_of_another_recipe_is_not_gone_on_with(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["tiny", "--output", str(folder), "--resume"]) == 1
    assert "holds a run of 'small', not of 'tiny'" in capsys.readouterr().err


def start(arguments: list[str], **environment: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1", **environment},
    )


def wait_for(folder: Path, update: int, process: subprocess.Popen[str]) -> None:
    deadline = time.monotonic() + 120
    while not any(number >= update for number in CheckpointFolder(folder / "checkpoints").updates()):
        assert process.poll() is None, process.communicate()[0]
        assert time.monotonic() < deadline
        time.sleep(0.02)


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_killed_process_goes_on_to_the_same_weights(
    folder: Path, tmp_path: Path, small_recipe: Recipe, primer: Corpus, quiet: Console, number: signal.Signals
) -> None:
    longer = replace(small_recipe, updates=30, validate_every=5)
    write_recipe(folder, replace(read_recipe(folder), updates=30, validate_every=5))
    assert Run(folder, quiet, device=CPU).train()

    killed = tmp_path / "killed"
    begin(killed, longer, primer, quiet, device=CPU)
    command = ["-m", "training.train", "custom", "--output", str(killed), "--resume", "--threads", "1"]
    process = start(command)
    wait_for(killed, 5, process)
    process.send_signal(number)
    process.communicate(timeout=60)
    assert CheckpointFolder(killed / "checkpoints").updates()[-1] < 30
    resumed_process = start(command)
    output, _ = resumed_process.communicate(timeout=120)
    assert resumed_process.returncode == 0, output

    whole, resumed = (CheckpointFolder(one / "checkpoints").load(30)[0] for one in (folder, killed))
    assert all(torch.equal(value, resumed[name]) for name, value in whole.items())


@pytest.mark.slow
def test_the_tiny_recipe_reaches_bleu_90_and_its_folder_loads(tmp_path: Path) -> None:
    process = start(
        ["-m", "training.train", "tiny", "--corpora", str(tmp_path), "--output", str(tmp_path / "run")]
    )
    output, _ = process.communicate(timeout=1800)
    assert process.returncode == 0, output
    card = (tmp_path / "run" / "model" / "MODEL_CARD.md").read_text()
    rows = [line.split("|") for line in card.splitlines() if line.startswith(("| de-en", "| en-de"))]
    assert len(rows) == 2
    assert all(float(row[2]) >= 90 for row in rows), card
    load_translator(tmp_path / "run")
