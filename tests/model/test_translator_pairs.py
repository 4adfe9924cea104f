"""The Translator over a tokenizer with a model a side: whatever holds of the other holds of this one."""

import json
from pathlib import Path

import pytest
import torch

from model.directory import ModelDirectoryError, load_translator, read_parts, save_translator, write_parts
from model.search import DecodingOptions
from model.translator import UnsupportedDirection
from tests.model.pairs import pair_translator
from tests.model.phrasebook import ENGLISH

TAGS = {"de": ">>deu<<", "nds": ">>nds<<"}
SEVERAL = [("en", "de"), ("en", "nds")]


def test_a_source_has_a_tag_only_where_there_are_several_targets() -> None:
    single, several = pair_translator(), pair_translator(TAGS, SEVERAL)
    end = single.tokenizer.eos_id
    assert single.prepare("A child", "en", "de").ids == (*single.tokenizer.encode("A child"), end)
    for _, target in SEVERAL:
        tag = several.tokenizer.target_tag(target)
        assert several.prepare("A child", "en", target).ids[0] == tag
        assert tag in several.banned_ids
    with pytest.raises(UnsupportedDirection):
        several.prepare("A child", "de", "nds")


@pytest.mark.parametrize("strategy", ["greedy", "beam"])
def test_batch_mates_change_no_translation(strategy: str) -> None:
    translator = pair_translator(TAGS, SEVERAL)
    options = DecodingOptions(strategy=strategy, beam_size=3, max_length=12)  # type: ignore[arg-type]
    sentences = [
        translator.prepare(text[: 3 + i], *SEVERAL[i % 2]) for i, text in enumerate(ENGLISH[::10])
    ] + [translator.prepare("\u200b", "en", "de")]
    together = translator.translate(sentences, options)
    alone = [translator.translate([sentence], options)[0] for sentence in sentences]
    assert [found[0].text for found in together] == [found[0].text for found in alone]
    assert together[-1][0].text == ""
    assert any(found[0].text for found in together)


def test_the_score_of_a_greedy_translation_is_that_of_forcing_its_ids() -> None:
    translator = pair_translator()
    sentence = translator.prepare(ENGLISH[0], "en", "de")
    [[found]] = translator.translate([sentence], DecodingOptions(strategy="greedy", max_length=8))
    ids = [translator.tokenizer.pieces(range(translator.tokenizer.size)).index(p) for p in found.pieces]
    forced = translator.force(sentence, ids)
    assert forced[: len(ids)] == pytest.approx(found.piece_scores[: len(ids)], abs=1e-5)


def test_a_forced_target_is_cut_by_the_model_of_targets() -> None:
    translator = pair_translator()
    [forced] = translator.score([translator.prepare(ENGLISH[0], "en", "de")], ["Der Bäcker sieht."])
    expected = translator.tokenizer.encode_target("Der Bäcker sieht.")
    assert list(forced.pieces) == translator.tokenizer.pieces(expected)


def test_an_alignment_covers_the_text_of_both_sides_with_and_without_a_tag() -> None:
    for translator in (pair_translator(), pair_translator(TAGS, SEVERAL)):
        alignment = translator.align(translator.prepare("A child sees.", "en", "de"), "Ein Kind")
        assert alignment.source_spans[0][0] == 0
        assert alignment.source_spans[-1][1] == len("A child sees.")
        assert len(alignment.weights_TS[0]) == len(alignment.source_spans)


def test_a_saved_model_comes_back_with_its_three_tokenizer_parts(tmp_path: Path) -> None:
    before = pair_translator(TAGS, SEVERAL)
    save_translator(before, tmp_path / "pair", card="# Pair\n", dtype=torch.float32)
    after = load_translator(tmp_path / "pair", device="cpu", dtype="float32")
    options = DecodingOptions(strategy="greedy", max_length=8)
    for direction in SEVERAL:
        [[one]] = before.translate([before.prepare(ENGLISH[3], *direction)], options)
        [[two]] = after.translate([after.prepare(ENGLISH[3], *direction)], options)
        assert one == two
    assert {"source.spm", "target.spm", "vocabulary.json"} <= read_parts(tmp_path / "pair").keys()
    assert not (tmp_path / "pair" / "tokenizer.model").exists()


@pytest.mark.parametrize("part", ["source.spm", "target.spm", "vocabulary.json"])
def test_a_damaged_tokenizer_part_is_refused_by_name(part: str, tmp_path: Path) -> None:
    save_translator(pair_translator(), tmp_path / "pair", card="", dtype=torch.float32)
    (tmp_path / "pair" / part).write_bytes(b"x")
    with pytest.raises(ModelDirectoryError, match=part):
        load_translator(tmp_path / "pair", device="cpu")
    (tmp_path / "pair" / part).unlink()
    with pytest.raises(ModelDirectoryError, match=part):
        load_translator(tmp_path / "pair", device="cpu")


@pytest.mark.parametrize("content", [b"", b"[]", b"{}", b'{"pieces": []}', b'{"pieces": 3}', b"\xff"])
def test_a_vocabulary_that_is_none_is_refused(content: bytes, tmp_path: Path) -> None:
    save_translator(pair_translator(), tmp_path / "pair", card="", dtype=torch.float32)
    write_parts(tmp_path / "pair", read_parts(tmp_path / "pair") | {"vocabulary.json": content})
    with pytest.raises(ModelDirectoryError, match=r"vocabulary\.json"):
        load_translator(tmp_path / "pair", device="cpu")


def test_a_direction_without_a_tag_is_refused_at_loading(tmp_path: Path) -> None:
    save_translator(pair_translator(TAGS, SEVERAL), tmp_path / "pair", card="", dtype=torch.float32)
    parts = read_parts(tmp_path / "pair")
    config = json.loads(parts["config.json"]) | {"directions": [["en", "fr"]]}
    write_parts(tmp_path / "pair", parts | {"config.json": json.dumps(config).encode()})
    with pytest.raises(ModelDirectoryError, match=r"no target tag for 'fr'; this tokenizer has de, nds"):
        load_translator(tmp_path / "pair", device="cpu")
