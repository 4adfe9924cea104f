"""A model as a directory: it comes back as it was, and is written whole or not at all."""

import hashlib
import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from model.directory import CHECKSUMS, ModelDirectoryError, load_translator, save_translator
from tests.model.boats import ALL_PARTS, boats, logits
from tests.model.variants import ALL_VARIANTS, named


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    save_translator(boats(), tmp_path / "boats", card="# Boats\n", dtype=torch.float32)
    return tmp_path / "boats"


# --- there and back


@pytest.mark.parametrize("variant", ALL_VARIANTS[::7], ids=named)
def test_a_saved_model_comes_back_with_the_same_logits(variant: dict[str, Any], tmp_path: Path) -> None:
    before = boats(**variant)
    save_translator(before, tmp_path / "boats", card="", dtype=torch.float32)
    after = load_translator(tmp_path / "boats", device="cpu", dtype="float32")
    assert torch.equal(logits(before), logits(after))
    assert after.model.config == before.model.config
    assert (after.directions, after.longest, after.name) == (before.directions, before.longest, "boats")
    assert not after.model.training


def test_half_the_bits_give_nearly_the_same_logits_and_half_the_size(directory: Path) -> None:
    before = boats()
    size = (directory / "model.safetensors").stat().st_size
    save_translator(before, directory, card="", dtype=torch.float16)
    after = load_translator(directory, device="cpu", dtype="float32")
    assert after.dtype == torch.float32
    assert not torch.equal(logits(before), logits(after))
    torch.testing.assert_close(logits(before), logits(after), atol=2e-2, rtol=2e-2)
    assert (directory / "model.safetensors").stat().st_size < 0.65 * size


def test_a_model_runs_in_the_type_that_was_asked_for(directory: Path) -> None:
    translator = load_translator(directory, device="cpu", dtype="bfloat16")
    assert translator.dtype == torch.bfloat16
    assert logits(translator).dtype == torch.bfloat16
    assert load_translator(directory).dtype in (torch.float32, torch.bfloat16)


def test_an_unknown_device_or_type_is_refused_by_name(directory: Path) -> None:
    with pytest.raises(ValueError, match=r"device 'tpu'.*allowed: auto, cpu, cuda"):
        load_translator(directory, device="tpu")
    with pytest.raises(ValueError, match=r"dtype 'int4'.*allowed: auto, float32, bfloat16"):
        load_translator(directory, device="cpu", dtype="int4")


def test_loading_draws_nothing_from_what_a_caller_seeded_for_results(directory: Path) -> None:
    first = load_translator(directory, device="cpu", dtype="float32")
    torch.manual_seed(99)
    second = load_translator(directory, device="cpu", dtype="float32")
    assert torch.equal(logits(first), logits(second))


def test_the_parts_are_those_that_the_architecture_names(directory: Path) -> None:
    assert {path.name for path in directory.iterdir()} == {*ALL_PARTS, CHECKSUMS}
    assert (directory / "MODEL_CARD.md").read_text() == "# Boats\n"
    checksums = json.loads((directory / CHECKSUMS).read_text())
    for name in ALL_PARTS:
        assert checksums[name] == hashlib.sha256((directory / name).read_bytes()).hexdigest()


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 1e6])
def test_weights_that_are_not_finite_as_stored_leave_the_old_model(directory: Path, value: float) -> None:
    sick = boats(seed=2)
    with torch.no_grad():
        sick.model.output_VD[3, 1] = value
    with pytest.raises(
        ModelDirectoryError, match=r"output_VD has values that are not finite in torch\.float16"
    ):
        save_translator(sick, directory, card="", dtype=torch.float16)
    assert torch.equal(logits(load_translator(directory, dtype="float32")), logits(boats()))


# --- whole or not at all


class Killed(BaseException):
    """As if the process had ended here: nothing of ours catches it."""


@pytest.mark.parametrize("is_there_an_old_one", [False, True])
def test_a_writer_killed_at_any_moment_leaves_the_old_model_or_the_new_one(
    is_there_an_old_one: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old, new = boats(seed=1), boats(seed=2)
    place = tmp_path / "boats"
    seen = set()
    if is_there_an_old_one:
        save_translator(old, place, card="", dtype=torch.float32)
    for moment in range(100):
        with monkeypatch.context() as patched:
            kill_at(moment, patched)
            try:
                save_translator(new, place, card="", dtype=torch.float32)
                was_killed = False
            except Killed:
                was_killed = True
        try:
            found = load_translator(place, device="cpu", dtype="float32")
        except ModelDirectoryError as error:
            assert not is_there_an_old_one, f"killed at moment {moment}, both models are gone: {error}"
            assert "no such directory" in str(error)
            seen.add("none")
        else:
            is_new = torch.equal(logits(found), logits(new))
            assert is_new or torch.equal(logits(found), logits(old))
            seen.add("new" if is_new else "old")
        if not was_killed:
            break
        if is_there_an_old_one:  # a killed writer must not stand in the way of the next
            save_translator(old, place, card="", dtype=torch.float32)
            assert torch.equal(logits(load_translator(place, dtype="float32")), logits(old))
    assert not was_killed
    assert [path.name for path in tmp_path.iterdir()] == ["boats"]  # no litter
    assert seen == ({"old", "new"} if is_there_an_old_one else {"none", "new"})


def kill_at(moment: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """End the writer before the given one of its calls to the file system."""
    calls = iter(range(1000))

    def before(function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **named: Any) -> Any:
            if next(calls) == moment:
                raise Killed
            return function(*arguments, **named)

        return call

    monkeypatch.setattr(os, "fsync", before(os.fsync))
    for name in ("mkdir", "open", "replace"):
        monkeypatch.setattr(Path, name, before(getattr(Path, name)))
    monkeypatch.setattr("shutil.rmtree", before(shutil.rmtree))


def test_a_new_model_takes_the_place_of_the_old_one(directory: Path) -> None:
    other = boats(seed=5)
    save_translator(other, directory, card="# New\n", dtype=torch.float32)
    assert torch.equal(logits(load_translator(directory, dtype="float32")), logits(other))
    assert (directory / "MODEL_CARD.md").read_text() == "# New\n"
    assert [path.name for path in directory.parent.iterdir()] == ["boats"]
