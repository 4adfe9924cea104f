"""A model as a directory: it comes back as it was, whole or not at all, and never runs anything."""

import hashlib
import json
import os
import pickle
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load, save

from model.config import ModelConfig
from model.directory import (
    CHECKSUMS,
    PARTS,
    ModelDirectoryError,
    load_translator,
    read_parts,
    save_translator,
    write_parts,
)
from model.transformer import Transformer
from model.translator import Translator
from tests.model.variants import ALL_VARIANTS, SMALL, disturbed, ids, named
from tokenizer import Tokenizer
from tokenizer.train import train_tokenizer

ROOT = Path(__file__).parents[2]
LINES = ["a small boat on the river", "ein kleines Boot auf dem Fluss"] * 20


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    return Tokenizer(train_tokenizer(LINES, size=290, languages=["de", "en"]))


def fresh(tokenizer: Tokenizer, seed: int = 0, **fields: Any) -> Translator:
    torch.manual_seed(seed)
    config = ModelConfig(**{**SMALL, **fields, "vocabulary_size": tokenizer.size})
    model = disturbed(Transformer(config)).eval()
    return Translator(model, tokenizer, name="any", directions=[("en", "de"), ("de", "en")], longest=30)


@pytest.fixture
def directory(tokenizer: Tokenizer, tmp_path: Path) -> Path:
    save_translator(fresh(tokenizer), tmp_path / "boats", card="# Boats\n", dtype=torch.float32)
    return tmp_path / "boats"


def logits(translator: Translator) -> torch.Tensor:
    torch.manual_seed(0)
    result: torch.Tensor = translator.model(ids(2, 6), ids(2, 5))
    return result


# --- there and back


@pytest.mark.parametrize("variant", ALL_VARIANTS[::7], ids=named)
def test_a_saved_model_comes_back_with_the_same_logits(
    variant: dict[str, Any], tokenizer: Tokenizer, tmp_path: Path
) -> None:
    before = fresh(tokenizer, **variant)
    save_translator(before, tmp_path / "boats", card="", dtype=torch.float32)
    after = load_translator(tmp_path / "boats", device="cpu", dtype="float32")
    assert torch.equal(logits(before), logits(after))
    assert after.model.config == before.model.config
    assert (after.directions, after.longest, after.name) == (before.directions, before.longest, "boats")
    assert not after.model.training


def test_half_the_bits_give_nearly_the_same_logits_and_half_the_size(
    tokenizer: Tokenizer, directory: Path
) -> None:
    before = fresh(tokenizer)
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
    assert {path.name for path in directory.iterdir()} == {*PARTS, CHECKSUMS}
    assert (directory / "MODEL_CARD.md").read_text() == "# Boats\n"
    checksums = json.loads((directory / CHECKSUMS).read_text())
    for name in PARTS:
        assert checksums[name] == hashlib.sha256((directory / name).read_bytes()).hexdigest()


# --- damage


def into_a_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def flipped(content: bytes) -> bytes:
    middle = len(content) // 2
    return content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :]


DAMAGE: dict[str, Callable[[Path], object]] = {
    "missing": lambda path: path.unlink(),
    "empty": lambda path: path.write_bytes(b""),
    "cut": lambda path: path.write_bytes(path.read_bytes()[:-3]),
    "longer": lambda path: path.write_bytes(path.read_bytes() + b"\n" * 3 + b"x"),
    "one bit changed": lambda path: path.write_bytes(flipped(path.read_bytes())),
    "a folder": into_a_folder,
    "a pickle": lambda path: path.write_bytes(pickle.dumps([1, 2, 3])),
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE.keys())
@pytest.mark.parametrize("part", [*PARTS, CHECKSUMS])
def test_a_damaged_part_is_refused_by_name(
    part: str, damage: Callable[[Path], object], directory: Path
) -> None:
    damage(directory / part)
    with pytest.raises(ModelDirectoryError) as error:
        load_translator(directory, device="cpu")
    assert str(directory) in str(error.value)
    # A flipped bit in the list of checksums accuses the part that it is the checksum of.
    assert part in str(error.value) or part == CHECKSUMS


@pytest.mark.parametrize("first", PARTS)
@pytest.mark.parametrize("second", PARTS)
def test_two_parts_in_each_others_place_are_refused(first: str, second: str, directory: Path) -> None:
    if first == second:
        return
    content = (directory / first).read_bytes()
    (directory / first).write_bytes((directory / second).read_bytes())
    (directory / second).write_bytes(content)
    with pytest.raises(ModelDirectoryError, match=f"{re.escape(first)}|{re.escape(second)}"):
        load_translator(directory, device="cpu")


def test_a_part_of_another_model_is_refused(tokenizer: Tokenizer, directory: Path, tmp_path: Path) -> None:
    save_translator(fresh(tokenizer, seed=1), tmp_path / "other", card="other", dtype=torch.float32)
    for part in ("model.safetensors", "MODEL_CARD.md"):
        own = (directory / part).read_bytes()
        (directory / part).write_bytes((tmp_path / "other" / part).read_bytes())
        with pytest.raises(ModelDirectoryError, match=part):
            load_translator(directory, device="cpu")
        (directory / part).write_bytes(own)
    load_translator(directory, device="cpu")


@pytest.mark.parametrize("place", ["nowhere", "a file", "an empty folder"])
def test_what_is_no_model_directory_says_so(place: str, tmp_path: Path) -> None:
    path = tmp_path / "place"
    if place == "a file":
        path.write_text("not a model")
    if place == "an empty folder":
        path.mkdir()
    with pytest.raises(ModelDirectoryError, match=r"no such directory|no model directory") as error:
        load_translator(path)
    assert str(path) in str(error.value)


# --- wrong content under right checksums


def rewritten(directory: Path, **changed: bytes) -> Path:
    """The directory with parts replaced and checksums that agree: what a careless or evil hand could make."""
    names = {name.split(".")[0].lower(): name for name in PARTS}
    parts = read_parts(directory) | {names[key]: content for key, content in changed.items()}
    write_parts(directory, parts)
    return directory


def config_with(directory: Path, **fields: Any) -> bytes:
    return json.dumps(json.loads((directory / "config.json").read_bytes()) | fields).encode()


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"", "Expecting value"),
        (b"[]", "list"),
        (b"null", "NoneType"),
        (b"{}", "format None"),
        (b"\xc3\x28", "decode"),
        (b"[" * 100_000, "recursion"),
        (b'{"format": 1}', "'model' is missing"),
    ],
)
def test_a_config_that_is_none_is_refused(content: bytes, told: str, directory: Path) -> None:
    with pytest.raises(ModelDirectoryError, match=r"config\.json") as error:
        load_translator(rewritten(directory, config=content))
    assert told in str(error.value)


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        (dict(format=2), "format 2, this version reads format 1"),
        (dict(directions="en"), "not enough values"),
        (dict(directions=None), "NoneType"),
        (dict(longest="many"), "many"),
        (dict(longest=0), "longest is 0, must be 3 … 40"),
        (dict(longest=41), "longest is 41, must be 3 … 40"),
        (dict(longest=float("inf")), "infinity"),
        (dict(model={}), "vocabulary_size"),
        (dict(model=[]), "list"),
        (dict(model={"vocabulary_size": 290, "layers": 3}), "unknown field 'layers'"),
        (dict(model={"vocabulary_size": 290, "norm": "batch"}), "norm is 'batch'"),
    ],
)
def test_a_bad_field_of_the_config_is_told(fields: dict[str, Any], told: str, directory: Path) -> None:
    with pytest.raises(ModelDirectoryError, match=r"config\.json") as error:
        load_translator(rewritten(directory, config=config_with(directory, **fields)))
    assert told in str(error.value)


def test_a_config_of_another_shape_than_the_weights_is_refused(directory: Path) -> None:
    own = json.loads((directory / "config.json").read_bytes())["model"]
    for fields, told in (
        (dict(width=32), r"\(16,\)|\(290, 16\)|16"),
        (dict(decoder_layers=3), r"decoder\.2"),
        (dict(norm="rms"), "bias"),
        (dict(feed_forward_width=10**9), "24"),  # and takes no memory for it
    ):
        config = config_with(directory, model=own | fields)
        with pytest.raises(ModelDirectoryError, match=rf"model\.safetensors.*({told})"):
            load_translator(rewritten(directory, config=config))


@pytest.mark.parametrize("content", [b"", b"x" * 1000, b"\x08\0\0\0\0\0\0\0[[[[[[[[", pickle.dumps({"a": 1})])
def test_weights_that_are_no_safetensors_are_refused(content: bytes, directory: Path) -> None:
    with pytest.raises(ModelDirectoryError, match=r"model\.safetensors"):
        load_translator(rewritten(directory, model=content))


def test_weights_that_are_not_finite_are_refused(directory: Path) -> None:
    weights = load((directory / "model.safetensors").read_bytes())
    weights["decoder_norm.gain"][3] = float("nan")
    with pytest.raises(ModelDirectoryError, match=r"model\.safetensors.*decoder_norm\.gain.*not finite"):
        load_translator(rewritten(directory, model=save(weights)))


@pytest.mark.parametrize("content", [b"", b"x" * 1000, pickle.dumps({"a": 1}), b"\n\x05\n\x03abc"])
def test_a_tokenizer_that_is_none_is_refused(content: bytes, directory: Path) -> None:
    with pytest.raises(ModelDirectoryError, match=r"tokenizer\.model"):
        load_translator(rewritten(directory, tokenizer=content))


def test_a_tokenizer_with_one_enormous_piece_is_refused_and_crashes_nothing(
    tokenizer: Tokenizer, directory: Path
) -> None:
    text = b"x" * 200_000
    piece = b"\x0a" + varint(len(text)) + text  # field 1 of a piece: its text
    entry = b"\x0a" + varint(len(piece)) + piece  # field 1 of a model: a piece
    with pytest.raises(ModelDirectoryError, match=r"tokenizer\.model"):
        load_translator(rewritten(directory, tokenizer=tokenizer.model + entry))


def varint(value: int) -> bytes:
    low, high = value & 127, value >> 7
    return bytes([low | 128]) + varint(high) if high else bytes([low])


def test_the_tokenizer_of_another_model_is_refused(tokenizer: Tokenizer, directory: Path) -> None:
    larger = train_tokenizer([*LINES, "qu vy wx zj"] * 2, size=300, languages=["de", "en"])
    with pytest.raises(ModelDirectoryError, match=rf"tokenizer\.model.*another model.*{tokenizer.size}"):
        load_translator(rewritten(directory, tokenizer=larger))
    french = train_tokenizer(LINES, size=290, languages=["de", "fr"])
    assert Tokenizer(french).size == tokenizer.size
    with pytest.raises(ModelDirectoryError, match=r"tokenizer\.model.*no tag for 'en', only for de, fr"):
        load_translator(rewritten(directory, tokenizer=french))


# --- nothing is run


class Canary:
    """Unpickling it makes a folder."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Callable[[str], None], tuple[str]]:
        return os.mkdir, (str(self.path),)


@pytest.mark.parametrize("are_checksums_right", [False, True])
@pytest.mark.parametrize("part", [*PARTS, CHECKSUMS])
@pytest.mark.parametrize("write", [pickle.dump, torch.save], ids=["pickle", "torch.save"])
def test_a_file_that_would_run_code_is_refused_and_runs_nothing(
    write: Callable[..., None], part: str, are_checksums_right: bool, directory: Path, tmp_path: Path
) -> None:
    canary, evil = tmp_path / "canary", tmp_path / "evil"
    with evil.open("wb") as file:
        write({"weights": Canary(canary)}, file)
    (directory / part).write_bytes(evil.read_bytes())
    if are_checksums_right and part != CHECKSUMS:
        checksums = json.loads((directory / CHECKSUMS).read_text())
        checksums[part] = hashlib.sha256(evil.read_bytes()).hexdigest()
        (directory / CHECKSUMS).write_text(json.dumps(checksums))
    if are_checksums_right and part == "MODEL_CARD.md":
        load_translator(directory, device="cpu")  # a card is never parsed at all
    else:
        with pytest.raises(ModelDirectoryError):
            load_translator(directory, device="cpu")
    assert not canary.exists()


def test_the_canary_does_sing(tmp_path: Path) -> None:
    """Or the tests above would prove nothing."""
    pickle.loads(pickle.dumps(Canary(tmp_path / "canary")))
    assert (tmp_path / "canary").exists()


def test_no_code_of_ours_unpickles() -> None:
    forbidden = re.compile(
        r"import pickle|torch\.load\(|weights_only=False|allow_pickle=True|joblib|\bmarshal\b"
    )
    for package in ("tokenizer", "model", "training", "service"):
        for path in (ROOT / package).rglob("*.py"):
            assert not forbidden.search(path.read_text(encoding="utf-8")), path


# --- whole or not at all


class Killed(BaseException):
    """As if the process had ended here: nothing of ours catches it."""


@pytest.mark.parametrize("is_there_an_old_one", [False, True])
def test_a_writer_killed_at_any_moment_leaves_the_old_model_or_the_new_one(
    is_there_an_old_one: bool, tokenizer: Tokenizer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old, new = fresh(tokenizer, seed=1), fresh(tokenizer, seed=2)
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


def test_a_new_model_takes_the_place_of_the_old_one(tokenizer: Tokenizer, directory: Path) -> None:
    other = fresh(tokenizer, seed=5)
    save_translator(other, directory, card="# New\n", dtype=torch.float32)
    assert torch.equal(logits(load_translator(directory, dtype="float32")), logits(other))
    assert (directory / "MODEL_CARD.md").read_text() == "# New\n"
    assert [path.name for path in directory.parent.iterdir()] == ["boats"]
