"""A trained model goes on with somebody's own translations, and what it forgets is seen."""

import json
import re
import shlex
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from rich.console import Console

from model.directory import load_translator, read_parts
from tests.training.small_corpora import EN_DE, sentences, write_corpus
from training.checkpoint import CheckpointFolder
from training.corpora.corpus import Corpus, open_files
from training.corpora.pairs import CorpusError, Pair
from training.corpora.split import count_overlap, text_key
from training.evaluate import main as evaluate
from training.finetune import drawn, open_old, own_tokenizer, served, spelling, without_texts_of
from training.preparation import load_run_data
from training.run import Run
from training.run_folder import read_recipe
from training.start import blended, keep_old_test, old_test_of
from training.train import main

CPU = torch.device("cpu")
BASE = ["--set", "updates=40", "--set", "model.width=32", "--set", "warmup=10", "--set", "precision=float32"]
SHORT = ["--set", "updates=6", "--set", "validate_every=3", "--set", "precision=float32"]
NEW = 7  # seed of the new corpus


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run of another corpus."""
    place = tmp_path_factory.mktemp("base")
    arguments = [*write_corpus(place, pairs=240), "--output", str(place / "base"), "--licence", "the base's"]
    assert main(["custom", *arguments, *BASE]) == 0
    return place / "base"


def tune(base: Path, folder: Path, *arguments: str, pairs: int = 60) -> int:
    corpus = write_corpus(folder, pairs=pairs, seed=NEW)
    return main(["finetune", str(base), *corpus, "--output", str(folder / "tuned"), *SHORT, *arguments])


def weights(model: torch.nn.Module) -> list[torch.Tensor]:
    return [parameter.detach().clone() for parameter in model.parameters()]


def equal(some: list[torch.Tensor], others: list[torch.Tensor]) -> bool:
    return all(torch.equal(one, other) for one, other in zip(some, others, strict=True))


def tsv(folder: Path, *pairs: tuple[str, str]) -> Corpus:
    path = folder / "own.tsv"
    path.write_text("".join(f"{a}\t{b}\n" for a, b in pairs), encoding="utf-8")
    return open_files([path], "en", "de")


def test_old_and_new_scores_stand_side_by_side_in_the_table_and_on_the_card(
    base: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert tune(base, tmp_path, "--old-data", str(base)) == 0
    printed = capsys.readouterr().out
    assert "before" in printed
    card = (tmp_path / "tuned" / "model" / "MODEL_CARD.md").read_text()
    lines = [line.strip("| ").split(" | ") for line in card.split("\n") if line.startswith("| ")]
    headings, rows = lines[0], lines[2:]
    assert headings[:6] == ["test set", "direction", "BLEU before", "chrF before", "BLEU", "chrF"]
    assert [row[0] for row in rows] == [
        *["held out of mine-7.tsv"] * 2,
        *["old test of mine-3.tsv"] * 2,
    ]
    assert "> Licence: the base's." in card  # what the old model's card says goes on to be true

    commands = re.findall(r"```sh\n(.*?)\n```", card, flags=re.DOTALL)[0].split("\n")
    for row, command in zip(rows, commands, strict=True):
        for bleu, model in ((row[4].split()[0], "model"), (row[2], "start")):
            arguments = shlex.split(command)[3:]
            arguments[0] = str(tmp_path / "tuned" / model)
            assert evaluate([*arguments, "--json"]) == 0
            assert bleu == f"{json.loads(capsys.readouterr().out)['bleu']:.1f}"


def test_it_starts_from_the_models_weights_and_tokenizer(base: Path, tmp_path: Path, quiet: Console) -> None:
    assert tune(base, tmp_path, "--minutes", "1e-9") == 0
    folder = tmp_path / "tuned"
    start = load_translator(base, device="cpu", dtype="float32")
    assert (folder / "data" / "tokenizer.model").read_bytes() == own_tokenizer(start).model
    run = Run(folder, quiet, device=CPU)
    for model in run.trainer.models_at(run.checkpoints, 0):
        assert equal(weights(model), weights(start.model))


def test_a_killed_fine_tuning_goes_on_to_the_same_weights(base: Path, tmp_path: Path) -> None:
    for name in ("whole", "halves"):
        (tmp_path / name).mkdir()
    assert tune(base, tmp_path / "whole") == 0
    assert tune(base, tmp_path / "halves", "--minutes", "1e-9") == 0
    assert main(["finetune", "--output", str(tmp_path / "halves" / "tuned"), "--resume"]) == 0
    whole, halves = (
        CheckpointFolder(tmp_path / name / "tuned" / "checkpoints").load(6)[0] for name in ("whole", "halves")
    )
    assert all(torch.equal(value, halves[name]) for name, value in whole.items())


def test_a_model_that_gets_no_better_stays_what_it_was(base: Path, tmp_path: Path) -> None:
    assert tune(base, tmp_path, "--set", "learning_rate=0") == 0
    tuned, start = (load_translator(path, dtype="float32").model for path in (tmp_path / "tuned", base))
    assert equal(weights(tuned), weights(start))


def test_blending_lies_between_the_old_weights_and_the_new(base: Path, tmp_path: Path) -> None:
    assert tune(base, tmp_path) == 0
    start = load_translator(base, device="cpu", dtype="float32").model
    tuned = load_translator(tmp_path / "tuned", device="cpu", dtype="float32").model
    assert equal(weights(blended(start, tuned, 0.0)), weights(start))
    assert equal(weights(blended(start, tuned, 1.0)), weights(tuned))
    half = weights(blended(start, tuned, 0.5))
    for one, old, new in zip(half, weights(start), weights(tuned), strict=True):
        torch.testing.assert_close(one, (old + new) / 2)


def test_a_blend_is_chosen_after_training_and_is_on_the_card(base: Path, tmp_path: Path) -> None:
    assert tune(base, tmp_path) == 0
    output = tmp_path / "tuned"
    before = CheckpointFolder(output / "checkpoints").load(6)[0]
    assert main(["finetune", "--output", str(output), "--resume", "--set", "blend=0.5"]) == 0
    after = CheckpointFolder(output / "checkpoints").load(6)[0]
    assert all(torch.equal(value, after[name]) for name, value in before.items())
    assert "50% those of the fine-tuned model" in (output / "model" / "MODEL_CARD.md").read_text()


def test_a_start_that_was_replaced_is_refused(base: Path, tmp_path: Path, quiet: Console) -> None:
    assert tune(base, tmp_path, "--minutes", "1e-9") == 0
    recipe = read_recipe(tmp_path / "tuned")
    text = json.dumps(replace(recipe, started_from="0" * 64).to_json())
    (tmp_path / "tuned" / "recipe.json").write_text(text)
    with pytest.raises(CorpusError, match=r"start: weights of SHA-256 .* started from 000"):
        Run(tmp_path / "tuned", quiet, device=CPU)


def test_another_language_is_refused_with_those_the_model_has(
    base: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    corpus = write_corpus(tmp_path, pairs=40)[:2]
    languages = ["--source-language", "en", "--target-language", "fr"]
    assert main(["finetune", str(base), *corpus, *languages, "--output", str(tmp_path / "tuned")]) == 1
    assert "translates en → de, de → en; the corpus is en → fr" in capsys.readouterr().err
    assert not (tmp_path / "tuned").exists()


def test_a_model_of_one_direction_is_tuned_in_that_one(base: Path) -> None:
    translator = load_translator(base, device="cpu", dtype="float32")
    translator.directions = (("en", "de"),)
    assert served(translator, [("en", "de"), ("de", "en")]) == [("en", "de")]
    with pytest.raises(CorpusError, match="the corpus is de → en"):
        served(translator, [("de", "en"), ("en", "de")])


@pytest.mark.parametrize("setting", ["model.width=64", "model.encoder_layers=1", "model.positions=rope"])
def test_another_shape_is_refused(
    base: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], setting: str
) -> None:
    assert tune(base, tmp_path, "--set", setting) == 1
    assert "fine-tuning keeps the shape of the model" in capsys.readouterr().err
    assert not (tmp_path / "tuned").exists()


def test_a_folder_with_a_run_keeps_what_it_started_from(
    base: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert tune(base, tmp_path, "--minutes", "1e-9") == 0
    before = read_parts(tmp_path / "tuned" / "start")
    assert tune(tmp_path / "tuned", tmp_path) == 1
    assert "holds a run already" in capsys.readouterr().err
    assert read_parts(tmp_path / "tuned" / "start") == before


def test_what_is_no_model_and_no_run_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert tune(tmp_path / "nowhere", tmp_path) == 1
    assert "nowhere: no such directory" in capsys.readouterr().err
    assert main(["finetune", "--output", str(tmp_path / "tuned"), "--resume"]) == 1
    assert "holds no run that could go on" in capsys.readouterr().err


def test_old_pairs_are_trained_on_in_the_wanted_share_and_none_meets_a_test(
    base: Path, tmp_path: Path
) -> None:
    assert tune(base, tmp_path, "--old-data", str(base), "--old-share", "0.6", "--minutes", "1e-9") == 0
    tuned, old = load_run_data(tmp_path / "tuned" / "data"), load_run_data(base / "data")
    known = set(old.train)
    replayed = [pair for pair in tuned.train if pair in known]
    assert len(replayed) == pytest.approx(0.6 / 0.4 * 60, abs=60 * 0.2)
    for held_out in (tuned.test, tuned.validation):
        assert count_overlap(held_out, tuned.train) == 0
    lines = [
        (tmp_path / "tuned" / "old-test" / f"test.{language}").read_text().splitlines()
        for language in ("en", "de")
    ]
    assert count_overlap([Pair(*pair) for pair in zip(*lines, strict=True)], tuned.train) == 0


def test_the_old_test_loses_what_stands_in_the_new_corpus(tmp_path: Path) -> None:
    test = [Pair("A boat.", "Ein Boot."), Pair("A table.", "Ein Tisch."), Pair("A tree.", "Ein Baum.")]
    corpus = tsv(tmp_path, ("a BOAT!", "Ein Schiff."), ("A board.", "Ein Tisch"))
    assert without_texts_of(test, corpus) == test[2:]


def test_an_old_test_that_a_killed_command_left_is_not_measured(base: Path, tmp_path: Path) -> None:
    keep_old_test(tmp_path / "tuned", "left over", ("en", "de"), sentences(5))
    assert tune(base, tmp_path, "--minutes", "1e-9") == 0
    assert old_test_of(tmp_path / "tuned", [("en", "de")]) == []


def test_an_old_test_may_be_two_files(tmp_path: Path) -> None:
    for language, lines in (("en", "A boat.\nA tree.\n"), ("de", "Ein Boot.\nEin Baum.\n")):
        (tmp_path / f"old.{language}").write_text(lines)
    old = open_old(None, (tmp_path / "old.en", tmp_path / "old.de"), 0.5, ("en", "de"))
    assert old.test == [Pair("A boat.", "Ein Boot."), Pair("A tree.", "Ein Baum.")]
    assert old.share == 0.0  # nothing to draw from


def test_old_data_are_turned_into_the_order_of_the_new_corpus(base: Path, primer: Corpus) -> None:
    own = load_run_data(base / "data")
    old = open_old(base, None, 0.5, ("de", "en"))
    assert list(old.test) == [Pair(pair.target, pair.source) for pair in own.test]
    folder = next(iter(primer.parts.values()))[0].path.parent
    turned = open_old(folder, None, 0.5, ("de", "en"))
    assert turned.test[0] == Pair(*reversed(next(iter(primer.read("test")))))
    with pytest.raises(CorpusError, match="primer is en and de, not en and fr"):
        list(open_old(folder, None, 0.5, ("en", "fr")).train)


def test_a_sample_is_even_repeatable_and_free_of_the_test() -> None:
    pairs = sentences(200)
    test = pairs[:50]
    sample = drawn(pairs, 40, test)
    assert sample == drawn(pairs, 40, test)
    assert len(set(sample)) == 40
    assert {text_key(one.source) for one in sample}.isdisjoint(text_key(one.source) for one in test)
    places = [pairs.index(pair) for pair in drawn(pairs, 100, [])]
    assert 70 < sum(places) / len(places) < 130
    assert drawn(pairs, 0, []) == []
    assert len(drawn(pairs, 999, [])) == 200


@pytest.mark.parametrize("share", ["1", "-0.1"])
def test_an_impossible_share_is_refused(
    base: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], share: str
) -> None:
    assert tune(base, tmp_path, "--old-data", str(base), "--old-share", share) == 1
    assert "--old-share is" in capsys.readouterr().err


def test_characters_that_the_tokenizer_does_not_know_are_told(base: Path, tmp_path: Path) -> None:
    tokenizer = own_tokenizer(load_translator(base, device="cpu", dtype="float32"))
    greek = spelling(tokenizer, tsv(tmp_path, ("A boat.", "Ένα καράβι στη θάλασσα.")))
    assert "tokenizer does not know many of the characters of your de text" in greek
    german = spelling(tokenizer, tsv(tmp_path, *sentences(50)))
    assert "does not know" not in german


def test_a_dry_run_leaves_nothing(base: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert tune(base, tmp_path, "--dry-run") == 0
    assert "updates will take about" in " ".join(capsys.readouterr().out.split())
    assert not (tmp_path / "tuned").exists()


def test_the_model_is_asked_for(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["finetune", *EN_DE, "--output", str(tmp_path), "--corpus", "a.tsv"])
    assert "MODEL_DIR is missing" in capsys.readouterr().err
