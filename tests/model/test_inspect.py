"""The command draws what an inspection holds, and names what it cannot do."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest
import torch

from model.directory import load_translator, save_translator
from model.heads import Head
from model.inspect import PICTURES, main, parse_head
from model.inspection import head_numbers, inspect
from model.plain import plain, plain_head, weights_in
from model.what_if import WhatIf
from tests.model.boats import boats

TEXT = "{http://www.w3.org/2000/svg}text"


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("models") / "boats"
    save_translator(boats(), folder, card="# Boats\n", dtype=torch.float32)
    return folder


def run(directory: Path, output: Path, *more: str) -> int:
    languages = ("--source-language", "en", "--target-language", "de", "--device", "cpu")
    return main([str(directory), "a small boat", *languages, "--output", str(output), *more])


@pytest.mark.parametrize("name", [*PICTURES, "encoder.1.1", "decoder.2.4", "cross.2.3"])
def test_every_picture_is_svg_that_names_the_pieces(directory: Path, tmp_path: Path, name: str) -> None:
    assert run(directory, tmp_path / "x.svg", "--picture", name) == 0
    words = {element.text or "" for element in ElementTree.parse(tmp_path / "x.svg").iter(TEXT)}
    expected = {"heads": "layer 2", "choices": "after <s>", "beam": "1", "positions": "0 <2de>"}.get(
        name, "<s>"
    )
    if name.startswith("encoder"):
        expected = "<2de>"
    assert any(word == expected or word.startswith(f"{expected} →") for word in words)


def test_json_is_the_inspection(directory: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    changes = ("--prefix", "ein", "--silent", "cross.1.2", "--beam", "3", "--temperature", "1.5")
    assert run(directory, tmp_path / "x.json", *changes) == 0
    translator = load_translator(directory, device="cpu", dtype="float32")
    what_if = WhatIf(
        beam_size=3,
        temperature=1.5,
        prefix=tuple(translator.tokenizer.encode("ein")),
        silent_heads=frozenset({Head("cross", 0, 1)}),
    )
    result = inspect(translator, translator.prepare("a small boat", "en", "de"), what_if)
    expected = json.loads(json.dumps(plain(result, translator.model.config)))
    assert json.loads((tmp_path / "x.json").read_text(encoding="utf-8")) == expected
    assert capsys.readouterr().out == f"{result.shown.text}\n"


def test_numbers_are_rounded_and_counted() -> None:
    translator = boats()
    result = inspect(translator, translator.prepare("a small boat", "en", "de"), WhatIf(max_length=5))
    answer = plain(result, translator.model.config)
    weights = [row for layer in answer["encoder"]["layers"] for head in layer["attention"] for row in head]
    for layer in answer["decoder"]["layers"]:
        weights += [row for kind in ("attention", "cross") for head in layer[kind] for row in head]
    assert all(weight == round(weight, 4) for row in weights for weight in row)
    count = weights_in(translator.model.config, len(result.source_ids), len(result.target_ids))
    assert count == sum(map(len, weights))


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (("--picture", "tree"), "no picture 'tree'; there are flow, heads"),
        (("--picture", "cross.9.1"), "cross: no layer 8; there are 0 to 1"),
        (("--silent", "cross.0.1"), "no head 'cross.0.1'; a head is PART.LAYER.HEAD"),
        (("--temperature", "0"), "temperature is 0.0, allowed: 0.05 … 20"),
    ],
)
def test_what_it_cannot_do_is_named(
    directory: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], more: tuple[str, ...], message: str
) -> None:
    assert run(directory, tmp_path / "x.svg", *more) == 1
    assert message in capsys.readouterr().err
    assert not (tmp_path / "x.svg").exists()


def test_another_suffix_is_refused(
    directory: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(directory, tmp_path / "x.gif") == 1
    assert "must end with .svg, .png or .json" in capsys.readouterr().err


def test_heads_are_counted_from_one() -> None:
    assert parse_head("cross.3.2") == Head("cross", 2, 1)


def test_a_masked_score_is_null_in_json() -> None:
    translator = boats()
    result = inspect(translator, translator.prepare("a boat", "en", "de"), WhatIf(max_length=4))
    scores = plain_head(head_numbers(result, Head("decoder", 0, 0)))["scores"]
    assert [[score is None for score in row] for row in scores] == [
        [column > row for column in range(len(scores))] for row in range(len(scores))
    ]
