"""The command: a checkpoint becomes a model directory that serves, or an error names what is wrong with it."""

from __future__ import annotations

import json
import pickle
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from fastapi.testclient import TestClient
from safetensors.torch import load_file, save_file

from model.directory import load_translator
from model.exchange.from_marian import ForeignModel
from model.exchange.marian_languages import UnknownLanguages
from model.import_opus_mt import import_opus_mt, main
from model.positions import sinusoids
from model.search import DecodingOptions
from service.app import create_app
from service.settings import Settings
from tests.model.exchange.checkpoints import write_renamed
from tests.model.phrasebook import ENGLISH


@pytest.fixture
def checkpoint(tmp_path: Path) -> Path:
    write_renamed(tmp_path / "opus-mt-en-de")
    return tmp_path / "opus-mt-en-de"


def edit_weights(folder: Path, change: Callable[[dict[str, torch.Tensor]], object]) -> None:
    weights = load_file(folder / "model.safetensors")
    change(weights)
    save_file(weights, folder / "model.safetensors")


def edit_config(folder: Path, **changed: Any) -> None:
    config = json.loads((folder / "config.json").read_text()) | changed
    (folder / "config.json").write_text(json.dumps(config))


# --- the model


def test_an_imported_model_is_the_one_that_was_there(tmp_path: Path) -> None:
    before = write_renamed(tmp_path / "opus-mt-en-de")
    after = import_opus_mt(tmp_path / "opus-mt-en-de", tmp_path / "en-de")
    options = DecodingOptions(strategy="greedy", max_length=8)
    sentences = [before.prepare(text, "en", "de") for text in ENGLISH[::7]]
    assert before.translate(sentences, options) == after.translate(sentences, options)
    assert after.directions == (("en", "de"),)
    assert after.longest == before.model.config.max_positions


def test_a_pickled_checkpoint_is_the_same_model(checkpoint: Path, tmp_path: Path) -> None:
    first = import_opus_mt(checkpoint, tmp_path / "first")
    weights = load_file(checkpoint / "model.safetensors")
    table = weights["model.shared.weight"]
    D = table.shape[1]
    halves = sinusoids(40, D).view(40, D // 2, 2).transpose(1, 2).flatten(1)
    copies = {"lm_head.weight": table, "model.encoder.embed_tokens.weight": table}  # as old checkpoints have
    copies |= {f"model.{side}.embed_positions.weight": halves for side in ("encoder", "decoder")}
    torch.save(weights | copies, checkpoint / "pytorch_model.bin")
    (checkpoint / "model.safetensors").unlink()
    second = import_opus_mt(checkpoint, tmp_path / "second")
    for name, parameter in first.model.named_parameters():
        assert torch.equal(parameter, dict(second.model.named_parameters())[name])


def test_half_the_bits_stay_half_the_bits(checkpoint: Path, tmp_path: Path) -> None:
    whole = import_opus_mt(checkpoint, tmp_path / "whole")
    edit_weights(checkpoint, lambda weights: weights.update({n: w.half() for n, w in weights.items()}))
    half = import_opus_mt(checkpoint, tmp_path / "half")
    sizes = [(tmp_path / name / "model.safetensors").stat().st_size for name in ("half", "whole")]
    assert sizes[0] < 0.7 * sizes[1]
    torch.testing.assert_close(half.model.output_VD, whole.model.output_VD, atol=1e-3, rtol=1e-3)


def test_its_card_holds_the_card_that_it_came_with(checkpoint: Path, tmp_path: Path) -> None:
    (checkpoint / "README.md").write_text("# Their card\n\nlicence: cc-by-4.0\n")
    import_opus_mt(checkpoint, tmp_path / "en-de")
    card = (tmp_path / "en-de" / "MODEL_CARD.md").read_text()
    assert "Imported from the MarianMT checkpoint `opus-mt-en-de`" in card
    assert card.endswith("# Their card\n\nlicence: cc-by-4.0\n")


def test_the_service_answers_with_an_imported_model(tmp_path: Path) -> None:
    write_renamed(tmp_path / "opus-mt-en-gmw", tags=[">>deu<<", ">>nds<<"])
    import_opus_mt(tmp_path / "opus-mt-en-gmw", tmp_path / "ours")
    translator = load_translator(tmp_path / "ours", device="cpu", dtype="float32")
    with TestClient(create_app(Settings(model=tmp_path / "ours", device="cpu", dtype="float32"))) as client:
        wait_until_ready(client)
        scores = {}
        for target in ("de", "nds"):
            body = {"text": ENGLISH[0], "source": "en", "target": target, "decoding": {"max_length": 8}}
            answer = client.post("/v1/translate/greedy", json=body)
            assert answer.status_code == 200, answer.text
            translation = answer.json()["translation"]
            options = DecodingOptions(strategy="greedy", max_length=8)
            [[expected]] = translator.translate([translator.prepare(ENGLISH[0], "en", target)], options)
            assert expected.text.strip().lower() in translation["text"].lower()  # the service mends capitals
            assert translation["score"] == pytest.approx(expected.score, abs=1e-5)
            scores[target] = translation["score"]
        assert scores["de"] != scores["nds"]
        again = client.post("/v1/translate", json={"text": "A", "source": "de", "target": "nds"})
        assert again.status_code in (400, 422)


def wait_until_ready(client: TestClient) -> None:
    deadline = time.monotonic() + 60
    while client.get("/health/ready").status_code != 200:
        assert time.monotonic() < deadline, "the service did not become ready"
        time.sleep(0.05)


# --- languages


def test_several_targets_come_from_the_tags(tmp_path: Path) -> None:
    write_renamed(tmp_path / "opus-mt-en-ROMANCE", tags=[">>fra<<", ">>fr<<", ">>pt_BR<<", ">>cmn_Hans<<"])
    translator = import_opus_mt(tmp_path / "opus-mt-en-ROMANCE", tmp_path / "ours")
    assert translator.directions == (("en", "fr"), ("en", "pt-br"), ("en", "zh-hans"))
    tokenizer = translator.tokenizer
    assert tokenizer.pieces(tokenizer.source_prefix("pt-br")) == [">>pt_BR<<"]
    tags = {i for i in range(tokenizer.size) if tokenizer.pieces([i])[0].startswith(">>")}
    assert tags < set(translator.banned_ids)  # the second spelling of French too
    chosen = import_opus_mt(tmp_path / "opus-mt-en-ROMANCE", tmp_path / "fr", targets=["fra"])
    assert chosen.directions == (("en", "fr"),)


def test_several_sources_are_named(tmp_path: Path) -> None:
    write_renamed(tmp_path / "opus-mt-mul-en")
    with pytest.raises(UnknownLanguages, match="'mul', which is not one language; name it with --source"):
        import_opus_mt(tmp_path / "opus-mt-mul-en", tmp_path / "ours")
    translator = import_opus_mt(tmp_path / "opus-mt-mul-en", tmp_path / "ours", sources=["de", "fra"])
    assert translator.directions == (("de", "en"), ("fr", "en"))


def test_tokenizer_config_says_more_than_the_name_and_options_more_than_both(
    checkpoint: Path, tmp_path: Path
) -> None:
    described = {"source_lang": "eng", "target_lang": "nld"}
    (checkpoint / "tokenizer_config.json").write_text(json.dumps(described))
    assert import_opus_mt(checkpoint, tmp_path / "one").directions == (("en", "nl"),)
    assert import_opus_mt(checkpoint, tmp_path / "two", targets=["sv"]).directions == (("en", "sv"),)


def test_a_folder_of_any_name_needs_to_be_told_its_languages(
    checkpoint: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = checkpoint.rename(tmp_path / "downloaded")
    assert main([str(folder), "--output", str(tmp_path / "ours")]) == 1
    assert (
        "does not say what its source language is; name it with --source-language" in capsys.readouterr().err
    )
    languages = ["--source-language", "en", "--target-language", "de"]
    assert main([str(folder), "--output", str(tmp_path / "ours"), *languages]) == 0
    assert "en→de" in capsys.readouterr().out


# --- what is no whole MarianMT model

FILES = ["config.json", "source.spm", "target.spm", "vocab.json"]


def test_everything_that_is_missing_is_named(checkpoint: Path, tmp_path: Path) -> None:
    for name in ("source.spm", "vocab.json", "model.safetensors"):
        (checkpoint / name).unlink()
    told = r"source\.spm, vocab\.json, model\.safetensors or pytorch_model\.bin missing"
    with pytest.raises(ForeignModel, match=told):
        import_opus_mt(checkpoint, tmp_path / "ours")
    with pytest.raises(ForeignModel, match="no such folder"):
        import_opus_mt(tmp_path / "nowhere", tmp_path / "ours")


@pytest.mark.parametrize(
    ("field", "value", "told"),
    [
        ("model_type", "bert", "'bert', must be 'marian'"),
        ("activation_function", "gelu_new", "'swish' or 'silu' or 'relu' or 'gelu'"),
        ("scale_embedding", False, "must be True"),
        ("static_position_embeddings", False, "must be True"),
        ("normalize_before", True, "must be False"),
        ("normalize_embedding", True, "must be False"),
        ("share_encoder_decoder_embeddings", False, "must be True"),
        ("decoder_vocab_size", 7, "is 7, must be None or"),
        ("decoder_ffn_dim", 7, "is 7, must be 24"),
        ("decoder_attention_heads", 2, "is 2, must be 4"),
        ("d_model", 18, "heads"),
        ("pad_token_id", 10_000, "pad_id"),
        ("vocab_size", 9, "vocab"),
    ],
)
def test_a_model_that_works_in_another_way_is_refused(
    field: str, value: Any, told: str, checkpoint: Path, tmp_path: Path
) -> None:
    edit_config(checkpoint, **{field: value})
    with pytest.raises(ForeignModel, match=told):
        import_opus_mt(checkpoint, tmp_path / "ours")
    assert [path.name for path in tmp_path.iterdir()] == ["opus-mt-en-de"]


@pytest.mark.parametrize("field", ["d_model", "encoder_layers", "pad_token_id", "max_position_embeddings"])
def test_a_missing_field_of_its_config_is_named(field: str, checkpoint: Path, tmp_path: Path) -> None:
    config = json.loads((checkpoint / "config.json").read_text())
    del config[field]
    (checkpoint / "config.json").write_text(json.dumps(config))
    with pytest.raises(ForeignModel, match=f"'{field}' is missing"):
        import_opus_mt(checkpoint, tmp_path / "ours")


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda w: w.pop("model.shared.weight"), r"model\.shared\.weight is missing"),
        (lambda w: w.pop("final_logits_bias"), "final_logits_bias is missing"),
        (lambda w: w.pop("model.decoder.layers.1.encoder_attn.v_proj.bias"), "v_proj.bias is missing"),
        (lambda w: w.update({"model.encoder.layers.2.fc1.bias": torch.ones(3)}), "fc1.bias has no place"),
        (lambda w: w.update({"model.encoder.layers.0.fc1.bias": torch.ones(3)}), r"fc1.bias is \(3,\)"),
        (lambda w: w.update({"lm_head.weight": w["model.shared.weight"] + 1}), "not the one shared table"),
        (
            lambda w: w.update({"model.encoder.embed_positions.weight": sinusoids(40, 16)}),
            "not the sinusoids",
        ),
        (lambda w: w["model.shared.weight"].fill_(float("nan")), "not finite"),
    ],
)
def test_wrong_weights_are_named(
    change: Callable[[dict[str, torch.Tensor]], object], told: str, checkpoint: Path, tmp_path: Path
) -> None:
    edit_weights(checkpoint, change)
    with pytest.raises(ValueError, match=told):
        import_opus_mt(checkpoint, tmp_path / "ours")
    assert [path.name for path in tmp_path.iterdir()] == ["opus-mt-en-de"]


class Evil:
    """Its pickle writes a file when it is read without care."""

    def __reduce__(self) -> tuple[Any, ...]:
        return (Path.touch, (Path("evil"),))


@pytest.mark.parametrize("content", [pickle.dumps(Evil(), 2), b"", b"not weights", pickle.dumps([1, 2], 2)])
def test_a_pickle_that_is_no_weights_is_refused_and_runs_nothing(
    content: bytes, checkpoint: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (checkpoint / "model.safetensors").unlink()
    (checkpoint / "pytorch_model.bin").write_bytes(content)
    with pytest.raises(ForeignModel, match=r"pytorch_model\.bin"):
        import_opus_mt(checkpoint, tmp_path / "ours")
    assert not (tmp_path / "evil").exists()


@pytest.mark.parametrize("name", [*FILES, "model.safetensors"])
@pytest.mark.parametrize("content", [b"", b"[]", b"\xff\xfe"])
def test_a_file_that_is_something_else_is_named(
    name: str, content: bytes, checkpoint: Path, tmp_path: Path
) -> None:
    (checkpoint / name).write_bytes(content)
    with pytest.raises(ForeignModel, match=name.replace(".", r"\.")):
        import_opus_mt(checkpoint, tmp_path / "ours")


def test_a_vocabulary_of_another_size_is_refused(checkpoint: Path, tmp_path: Path) -> None:
    vocabulary = json.loads((checkpoint / "vocab.json").read_text())
    vocabulary["one more"] = len(vocabulary)
    (checkpoint / "vocab.json").write_text(json.dumps(vocabulary))
    with pytest.raises(ForeignModel, match=r"vocab\.json: its .* pieces do not have the ids"):
        import_opus_mt(checkpoint, tmp_path / "ours")


def test_a_folder_that_is_there_is_not_touched(checkpoint: Path, tmp_path: Path) -> None:
    (tmp_path / "ours").mkdir()
    with pytest.raises(FileExistsError, match="ours exists already"):
        import_opus_mt(checkpoint, tmp_path / "ours")
