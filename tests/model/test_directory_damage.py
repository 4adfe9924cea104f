"""A model directory that is damaged, mixed up or evil: refused by the part at fault, and nothing is run."""

import hashlib
import json
import os
import pickle
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load, save

from model.directory import (
    CHECKSUMS,
    ModelDirectoryError,
    load_translator,
    read_parts,
    save_translator,
    write_parts,
)
from tests.model.boats import ALL_PARTS, LINES, boat_tokenizer, boats
from tokenizer import Tokenizer
from tokenizer.train import train_tokenizer

ROOT = Path(__file__).parents[2]


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    save_translator(boats(), tmp_path / "boats", card="# Boats\n", dtype=torch.float32)
    return tmp_path / "boats"


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
@pytest.mark.parametrize("part", [*ALL_PARTS, CHECKSUMS])
def test_a_damaged_part_is_refused_by_name(
    part: str, damage: Callable[[Path], object], directory: Path
) -> None:
    damage(directory / part)
    with pytest.raises(ModelDirectoryError) as error:
        load_translator(directory, device="cpu")
    assert str(directory) in str(error.value)
    # A flipped bit in the list of checksums accuses the part that it is the checksum of.
    assert part in str(error.value) or part == CHECKSUMS


@pytest.mark.parametrize("first", ALL_PARTS)
@pytest.mark.parametrize("second", ALL_PARTS)
def test_two_parts_in_each_others_place_are_refused(first: str, second: str, directory: Path) -> None:
    if first == second:
        return
    content = (directory / first).read_bytes()
    (directory / first).write_bytes((directory / second).read_bytes())
    (directory / second).write_bytes(content)
    with pytest.raises(ModelDirectoryError, match=f"{re.escape(first)}|{re.escape(second)}"):
        load_translator(directory, device="cpu")


def test_a_part_of_another_model_is_refused(directory: Path, tmp_path: Path) -> None:
    save_translator(boats(seed=1), tmp_path / "other", card="other", dtype=torch.float32)
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
    names = {name.split(".")[0].lower(): name for name in ALL_PARTS}
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
    for fields in (
        dict(width=32),
        dict(decoder_layers=3),
        dict(norm="rms"),
        dict(positions="learned"),
        dict(feed_forward_width=10**9),  # and takes no memory for it
        dict(tying="none"),
        dict(key_value_heads=4),
    ):
        config = config_with(directory, model=own | fields)
        with pytest.raises(ModelDirectoryError, match=r"model\.safetensors.*(differ|the config asks for)"):
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


def test_a_tokenizer_with_one_enormous_piece_is_refused_and_crashes_nothing(directory: Path) -> None:
    text = b"x" * 200_000
    piece = b"\x0a" + varint(len(text)) + text  # field 1 of a piece: its text
    entry = b"\x0a" + varint(len(piece)) + piece  # field 1 of a model: a piece
    with pytest.raises(ModelDirectoryError, match=r"tokenizer\.model"):
        load_translator(rewritten(directory, tokenizer=boat_tokenizer().model + entry))


def varint(value: int) -> bytes:
    low, high = value & 127, value >> 7
    return bytes([low | 128]) + varint(high) if high else bytes([low])


def test_the_tokenizer_of_another_model_is_refused(directory: Path) -> None:
    larger = train_tokenizer([*LINES, "qu vy wx zj"] * 2, size=300, languages=["de", "en"])
    with pytest.raises(
        ModelDirectoryError, match=rf"tokenizer\.model.*another model.*{boat_tokenizer().size}"
    ):
        load_translator(rewritten(directory, tokenizer=larger))
    french = train_tokenizer(LINES, size=290, languages=["de", "fr"])
    assert Tokenizer(french).size == boat_tokenizer().size
    with pytest.raises(
        ModelDirectoryError, match=r"tokenizer\.model.*no target tag for 'en'; this tokenizer has de, fr"
    ):
        load_translator(rewritten(directory, tokenizer=french))


# --- nothing is run


class Canary:
    """Unpickling it makes a folder."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Callable[[str], None], tuple[str]]:
        return os.mkdir, (str(self.path),)


@pytest.mark.parametrize("are_checksums_right", [False, True])
@pytest.mark.parametrize("part", [*ALL_PARTS, CHECKSUMS])
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
        r"import pickle|torch\.load\((?![^()]*weights_only=True)|weights_only=False"
        r"|allow_pickle=True|joblib|\bmarshal\b"
    )
    for package in ("tokenizer", "model", "training", "service"):
        for path in (ROOT / package).rglob("*.py"):
            assert not forbidden.search(path.read_text(encoding="utf-8")), path
