"""Every variant of the config space gives the same logits and words in onnxruntime."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from model.directory import save_translator
from model.exchange.parity import OurLogits, ParityError, compare, sentences_for
from model.export import TARGETS, export, main
from model.search import SearchTask, beam_search
from model.translator import Translator
from tests.model.boats import boats
from tests.model.exchange.extra import needs
from tests.model.exchange.programs import ROOT, output_of_the_readme
from tests.model.pairs import pair_translator
from tests.model.phrasebook import phrasebook
from tests.model.variants import ALL_VARIANTS, named

pytestmark = [needs("onnx"), needs("onnxruntime")]
EXACT = TARGETS["onnx"].quantizations["float32"]


def engine(translator: Translator, folder: Path) -> Any:
    from model.exchange import to_onnx

    to_onnx.write(translator, folder)
    return to_onnx.OnnxEngine(translator, folder)


def check(variant: dict[str, Any], folder: Path) -> None:
    translator = boats(**variant)
    sentences = sentences_for(translator)[:32]
    compare(OurLogits(translator), engine(translator, folder), sentences, limit=10).check(EXACT)


@pytest.mark.parametrize("variant", [*ALL_VARIANTS[::17], *ALL_VARIANTS[-3:]], ids=named)
def test_a_variant_says_the_same(variant: dict[str, Any], tmp_path: Path) -> None:
    check(variant, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("variant", ALL_VARIANTS, ids=named)
def test_any_variant_says_the_same(variant: dict[str, Any], tmp_path: Path) -> None:
    check(variant, tmp_path)


@pytest.mark.parametrize("positions", ["sinusoidal", "rope"])
def test_the_rows_of_a_beam_look_at_one_memory(positions: str, tmp_path: Path) -> None:
    """N = B × W rows, reordered at every step, and sentences that leave: the search is ours, the steps theirs."""
    translator = boats(positions=positions)
    other = engine(translator, tmp_path)
    sources = [sentence.ids for sentence in sentences_for(translator)[:6]]
    task = SearchTask(
        start_id=2,
        eos_id=3,
        max_lengths=[3, 9, 5, 7, 4, 8],
        banned_ids=translator.banned_ids,
        length_penalty=0.5,
    )

    def step(tokens_N: torch.Tensor, state: Any) -> tuple[torch.Tensor, Any]:
        logits_NV, state = other.step(tokens_N, state)
        return logits_NV.log_softmax(dim=-1), state

    own = OurLogits(translator)
    with torch.inference_mode():
        ours = beam_search(own.step, own.start(sources), task, beam_size=4, n_best=4)
        theirs = beam_search(step, other.start(sources), task, beam_size=4, n_best=4)
    for mine, its in zip(ours, theirs, strict=True):
        assert [found.ids for found in mine] == [found.ids for found in its]
        assert [f.score for f in mine] == pytest.approx([f.score for f in its], abs=1e-5)


def test_a_wrong_weight_is_found(tmp_path: Path) -> None:
    translator = boats()
    other = engine(translator, tmp_path)
    with torch.no_grad():
        translator.model.get_parameter("decoder.1.cross_attention.output.bias")[3] += 0.5
    with pytest.raises(ParityError, match=r"allowed 0\.0001"):
        compare(OurLogits(translator), other, sentences_for(translator)[:16], limit=8).check(EXACT)


@pytest.mark.parametrize("tying", ["all", "output", "none"])
def test_a_shared_table_is_stored_once(tying: str, tmp_path: Path) -> None:
    translator = boats(tying=tying)
    engine(translator, tmp_path)
    size, config = (tmp_path / "weights.bin").stat().st_size, translator.model.config
    sinusoids = 2 * config.max_positions * config.width
    least = 4 * (config.parameter_count + sinusoids)
    assert (
        least <= size < least + 4 * config.vocabulary_size * config.width / 2
    )  # but for what aligns the tensors


def test_the_command_leaves_a_checked_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    save_translator(pair_translator(), tmp_path / "pair", card="# Pair\n", dtype=torch.float32)
    output = tmp_path / "exported"
    assert main([str(tmp_path / "pair"), "--format", "onnx", "--output", str(output)]) == 0
    assert "200 of 200 greedy outputs identical" in capsys.readouterr().out
    assert {path.name for path in output.iterdir()} == {
        *("encoder.onnx", "decoder.onnx", "weights.bin", "decoding.json", "MODEL_CARD.md", "README.md"),
        *("source.spm", "target.spm", "vocabulary.json"),
    }


def test_eight_bits_are_not_offered(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--format", "onnx", "--output", str(tmp_path / "x"), "--quantization", "int8"]
    assert main([str(tmp_path), *arguments]) == 1
    assert "'int8'; onnx can be written as float32" in capsys.readouterr().err


def test_the_program_in_the_readme_translates(tmp_path: Path) -> None:
    save_translator(phrasebook(), tmp_path / "phrasebook", card="", dtype=torch.float32)
    export(tmp_path / "phrasebook", tmp_path / "exported", to="onnx")
    translated = output_of_the_readme(tmp_path / "exported", "My aunt paints three apples.\n")
    assert translated == "Meine Tante malt drei Äpfel.\n"


def test_an_export_reports_to_nobody(tmp_path: Path) -> None:
    """The engine that checks it would keep a number of this device and what it was used for, to be sent."""
    save_translator(boats(), tmp_path / "boats", card="", dtype=torch.float32)
    home = tmp_path / "home"
    home.mkdir()
    environment = {name: value for name, value in os.environ.items() if name != "ORT_DISABLE_TELEMETRY"}
    command = ["model.export", str(tmp_path / "boats"), "--format", "onnx", "--output", str(tmp_path / "x")]
    subprocess.run(
        [sys.executable, "-m", *command], cwd=ROOT, env=environment | {"HOME": str(home)}, check=True
    )
    assert list(home.rglob("*")) == []


def test_a_graph_takes_any_number_of_rows_and_positions(tmp_path: Path) -> None:
    translator = boats(positions="learned")
    other = engine(translator, tmp_path)
    for rows in ([[7]], [[7, 8, 9], [5]], [[4] * 20] * 5):
        state = other.start(rows)
        assert state.memory["mask"].shape == (len(rows), max(map(len, rows)))
        for length in range(3):
            logits_NV, state = other.step(torch.full((len(rows),), 6), state)
            assert logits_NV.shape == (len(rows), translator.tokenizer.size)
            assert state.past["past_keys.0"].shape[2] == length + 1
            assert np.isfinite(logits_NV.numpy()).all()
