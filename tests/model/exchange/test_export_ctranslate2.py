"""Every variant of the config space gives the same numbers and words in CTranslate2."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch

from model.directory import load_translator, save_translator
from model.exchange.parity import OurEngine, ParityError, Tolerance, compare, sentences_for
from model.export import TARGETS, export, main
from tests.model.boats import boats
from tests.model.exchange.extra import needs
from tests.model.exchange.programs import output_of_the_readme
from tests.model.pairs import pair_translator
from tests.model.phrasebook import phrasebook
from tests.model.variants import ALL_VARIANTS, named

pytestmark = needs("ctranslate2")
EXACT = TARGETS["ctranslate2"].quantizations["float32"]


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    save_translator(boats(positions="rope"), tmp_path / "boats", card="# Boats\n", dtype=torch.float32)
    return tmp_path / "boats"


@pytest.mark.parametrize("variant", [*ALL_VARIANTS[::11], *ALL_VARIANTS[-3:]], ids=named)
def test_a_variant_says_the_same(variant: dict[str, Any], tmp_path: Path) -> None:
    check(variant, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("variant", ALL_VARIANTS, ids=named)
def test_any_variant_says_the_same(variant: dict[str, Any], tmp_path: Path) -> None:
    check(variant, tmp_path)


def check(variant: dict[str, Any], folder: Path) -> None:
    from model.exchange import to_ctranslate2

    translator = boats(**variant)
    to_ctranslate2.write(translator, folder)
    theirs = to_ctranslate2.CTranslate2Engine(translator, folder, compute_type="float32")
    compare(OurEngine(translator), theirs, sentences_for(translator)[:48], limit=12).check(EXACT)


def test_the_command_leaves_a_checked_folder(
    directory: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "exported"
    assert main([str(directory), "--format", "ctranslate2", "--output", str(output)]) == 0
    assert "200 of 200 greedy outputs identical" in capsys.readouterr().out
    assert {path.name for path in output.iterdir()} == {
        *("model.bin", "config.json", "shared_vocabulary.json"),
        *("tokenizer.model", "decoding.json", "MODEL_CARD.md", "README.md"),
    }
    assert (output / "MODEL_CARD.md").read_text() == "# Boats\n"
    assert "200 of 200 greedy outputs identical" in (output / "README.md").read_text()


def test_eight_bits_are_checked_by_a_tolerance_of_their_own(directory: Path, tmp_path: Path) -> None:
    parity = export(directory, tmp_path / "int8", to="ctranslate2", quantization="int8")
    exact = export(directory, tmp_path / "float32", to="ctranslate2")
    assert exact.largest < 1e-4 < parity.largest
    sizes = [(tmp_path / name / "model.bin").stat().st_size for name in ("int8", "float32")]
    assert sizes[0] < 0.5 * sizes[1]


def test_writing_eight_bits_leaves_the_weights_of_the_model_alone(tmp_path: Path) -> None:
    from model.exchange import to_ctranslate2

    translator = boats()
    before = {name: value.clone() for name, value in translator.model.state_dict().items()}
    to_ctranslate2.write(translator, tmp_path, quantization="int8")
    for name, value in translator.model.state_dict().items():
        assert torch.equal(before[name], value), name


@pytest.mark.parametrize(
    "damaged", ["encoder.0.attention.output.weight", "decoder.1.cross_attention.output.bias"]
)
def test_a_wrong_weight_is_found(damaged: str, tmp_path: Path) -> None:
    from model.exchange import to_ctranslate2

    translator = boats()
    to_ctranslate2.write(translator, tmp_path)
    with torch.no_grad():
        dict(translator.model.named_parameters())[damaged].view(-1)[3] += 0.5
    theirs = to_ctranslate2.CTranslate2Engine(translator, tmp_path, compute_type="float32")
    with pytest.raises(ParityError, match=r"allowed 0\.001"):
        compare(OurEngine(translator), theirs, sentences_for(translator)[:48], limit=12).check(EXACT)


def test_an_export_that_fails_its_check_leaves_nothing(
    directory: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(TARGETS["ctranslate2"].quantizations, "float32", Tolerance(largest=1e-12))
    assert main([str(directory), "--format", "ctranslate2", "--output", str(tmp_path / "exported")]) == 1
    assert "allowed 1e-12" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["boats"]


def test_a_folder_that_is_there_is_not_touched(directory: Path, tmp_path: Path) -> None:
    (tmp_path / "exported").mkdir()
    with pytest.raises(FileExistsError, match="exported exists already"):
        export(directory, tmp_path / "exported", to="ctranslate2")
    assert list((tmp_path / "exported").iterdir()) == []


def test_an_unknown_quantization_is_named_with_the_allowed_ones(
    directory: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["--format", "ctranslate2", "--output", str(tmp_path / "x"), "--quantization", "int4"]
    assert main([str(directory), *arguments]) == 1
    assert "'int4'; ctranslate2 can be written as float32, int8" in capsys.readouterr().err


def test_the_program_in_the_readme_translates(tmp_path: Path) -> None:
    save_translator(phrasebook(), tmp_path / "phrasebook", card="", dtype=torch.float32)
    output = tmp_path / "exported"
    export(tmp_path / "phrasebook", output, to="ctranslate2")
    translated = output_of_the_readme(output, "My aunt paints three apples.\n")
    assert translated == "Meine Tante malt drei Äpfel.\n"


def test_given_sentences_come_first_and_are_made_up_to_two_hundred() -> None:
    translator = boats()
    sentences = sentences_for(translator, ["a boat", "", "ein Boot"])
    assert [sentence.text for sentence in sentences[:2]] == ["a boat", "ein Boot"]
    assert len(sentences) == 200
    assert [sentence.target_language for sentence in sentences[:4]] == ["de", "en", "de", "en"]
    assert sentences_for(translator) == sentences_for(translator)


def test_the_facts_are_those_of_the_model(directory: Path, tmp_path: Path) -> None:
    export(directory, tmp_path / "exported", to="ctranslate2")
    facts = json.loads((tmp_path / "exported" / "decoding.json").read_text())
    translator = load_translator(directory, device="cpu", dtype="float32")
    assert facts["source_starts_with"]["de"]["pieces"] == ["<2de>"]
    assert facts["start"] == {"ids": [2], "pieces": ["<s>"]}
    assert facts["never_in_a_target"]["ids"] == translator.banned_ids
    assert facts["longest_source"] == translator.longest


@pytest.mark.parametrize("tags", [None, {"de": ">>deu<<", "nds": ">>nds<<"}])
def test_an_imported_model_goes_out_again(tags: dict[str, str] | None, tmp_path: Path) -> None:
    directions = [("en", code) for code in tags or {"de": ""}]
    save_translator(pair_translator(tags, directions), tmp_path / "pair", card="", dtype=torch.float32)
    parity = export(tmp_path / "pair", tmp_path / "exported", to="ctranslate2")
    assert parity.identical == 200
    facts = json.loads((tmp_path / "exported" / "decoding.json").read_text())
    assert facts["source_starts_with"]["de"]["pieces"] == ([">>deu<<"] if tags else [])
    assert facts["start"] == facts["padding"]
