"""A model card can be checked: its own commands give its numbers, on the files of its checksums."""

import hashlib
import json
import re
import shlex
from pathlib import Path

import pytest

from tests.training.small_corpora import write_corpus
from training.evaluate import main as evaluate
from training.train import main

SHORT = ["--set", "updates=60", "--set", "model.width=64", "--set", "warmup=20", "--set", "cooldown=20"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run."""
    place = tmp_path_factory.mktemp("card")
    arguments = ["custom", *write_corpus(place, pairs=300), "--output", str(place / "boats")]
    terms = ["--licence", "CC0 1.0", "--attribution", "Written by this project's primer"]
    assert main([*arguments, *terms, *SHORT]) == 0
    return place / "boats"


@pytest.fixture
def card(folder: Path) -> str:
    return (folder / "model" / "MODEL_CARD.md").read_text()


def rows(card: str) -> list[list[str]]:
    lines = card.partition("## Scores")[2].partition("##")[0].split("\n")
    return [line.strip("| ").split(" | ") for line in lines if line.startswith("| ")][2:]


def commands(card: str, section: str) -> list[str]:
    text = card.partition(f"## {section}")[2].partition("\n## ")[0]
    return re.findall(r"```sh\n(.*?)\n```", text, flags=re.DOTALL)[0].split("\n")


def test_the_cards_own_commands_give_the_cards_numbers(card: str, capsys: pytest.CaptureFixture[str]) -> None:
    table, lines = rows(card), commands(card, "Scores")
    assert len(table) == len(lines) == 2
    for row, line in zip(table, lines, strict=True):
        program, arguments = shlex.split(line)[:3], shlex.split(line)[3:]
        assert program == ["python", "-m", "training.evaluate"]
        assert evaluate(arguments) == 0
        report = json.loads(capsys.readouterr().out.rstrip().rsplit("\n", 1)[-1])
        assert row[2:4] == [f"{report['bleu']:.1f}", f"{report['chrf']:.1f}"]
        assert row[1] == f"{report['source_language']} → {report['target_language']}"
        assert row[4] == str(report["sentences"])
        assert f"BLEU signature: `{report['signature']}`" in card
        assert f"chrF signature: `{report['chrf_signature']}`" in card


def test_test_sets_are_named_by_their_checksums(card: str) -> None:
    found = re.findall(r"^- `(.*)` ([0-9a-f]{64})$", card, flags=re.MULTILINE)
    assert len(found) == 2
    for path, checksum in found:
        assert hashlib.sha256(Path(path).read_bytes()).hexdigest() == checksum


def test_the_card_names_data_terms_command_cost_and_limits(card: str, folder: Path) -> None:
    facts = json.loads((folder / "data" / "corpus.json").read_text())
    assert f"{facts['pairs']['train']:,} pairs for training" in card
    assert "Licence: CC0 1.0. Written by this project's primer" in card
    assert commands(card, "How it was made")[0].startswith("python -m training.train custom --corpus")
    assert re.search(r"Cost: \d+ updates, [\d,]+ target pieces, [\d,]+ seconds .* cores, 1 process", card)
    assert "## Limits" in card


def test_a_run_that_is_not_finished_has_a_card_without_scores(tmp_path: Path) -> None:
    arguments = ["custom", *write_corpus(tmp_path, pairs=40), "--output", str(tmp_path / "run")]
    assert main([*arguments, "--set", "updates=3", "--set", "validate_every=1", "--minutes", "1e-9"]) == 0
    card = (tmp_path / "run" / "model" / "MODEL_CARD.md").read_text()
    assert "Not measured yet" in card
    assert "```" not in card
    assert "| BLEU |" not in card
