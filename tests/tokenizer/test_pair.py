import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sentencepiece import SentencePieceProcessor

from tests.model.phrasebook import ENGLISH, GERMAN
from tests.tokenizer.pairs import pair_parts
from tokenizer import PairTokenizer, Tokenizer, open_tokenizer

TAGS = {"de": ">>deu<<", "nds": ">>nds<<"}
SENTENCE = "My aunt paints three apples."


@pytest.fixture(scope="module")
def pair() -> PairTokenizer:
    return PairTokenizer(pair_parts(TAGS))


@pytest.mark.parametrize("text", [*ENGLISH[::9], *GERMAN[::9]])
def test_what_it_learnt_comes_back(pair: PairTokenizer, text: str) -> None:
    side = pair.encode if text in ENGLISH else pair.encode_target
    assert pair.decode(side(text)) == text


def test_each_side_cuts_text_with_its_own_model(pair: PairTokenizer) -> None:
    for name, encode in (("source.spm", pair.encode), ("target.spm", pair.encode_target)):
        pieces = SentencePieceProcessor(model_proto=pair.parts[name]).encode(SENTENCE, out_type=str)
        known = [piece if piece in pair.pieces(range(pair.size)) else "<unk>" for piece in pieces]
        assert pair.pieces(encode(SENTENCE)) == known
    assert pair.encode(SENTENCE) != pair.encode_target(SENTENCE)


def test_a_piece_that_both_models_have_is_one_id(pair: PairTokenizer) -> None:
    assert pair.encode(".") == pair.encode_target(".")


@given(text=st.text(max_size=20) | st.sampled_from([">>deu<<", "</s>", "<pad>", "<unk>", "</s> >>nds<<"]))
def test_text_never_becomes_a_control_piece(text: str) -> None:
    pair = PairTokenizer(pair_parts(TAGS))
    controls = {pair.pad_id, pair.eos_id, *(pair.target_tag(code) for code in TAGS)}
    assert not controls & {*pair.encode(text), *pair.encode_target(text)}


def test_a_control_piece_in_a_sentencepiece_model_is_no_text_either() -> None:
    """As a model could have learnt >>deu<< as a symbol of its own; a full stop stands in for it."""
    pair = PairTokenizer(vocabulary_with(tags={"de": "."}))
    assert pair.encode("My aunt.")[-1] == pair.unk_id != pair.target_tag("de")


def test_what_has_no_piece_is_unknown_and_decodes_to_nothing(pair: PairTokenizer) -> None:
    ids = pair.encode("A child 漢 sees")
    assert ids.count(pair.unk_id) == 1
    assert pair.decode(ids) == "A child  sees"


def test_text_that_is_empty_after_normalising_has_no_ids(pair: PairTokenizer) -> None:
    assert pair.encode("") == pair.encode("\u200b") == pair.encode_target("\ufeff") == []


def test_a_source_asks_for_a_language_only_where_there_are_several(pair: PairTokenizer) -> None:
    assert pair.pieces(pair.source_prefix("de")) == [">>deu<<"]
    with pytest.raises(KeyError, match=r"'fr'; this tokenizer has de, nds"):
        pair.source_prefix("fr")
    single = PairTokenizer(pair_parts())
    assert single.source_prefix("de") == single.source_prefix("fr") == ()
    assert single.languages == ()


def test_a_target_starts_with_padding(pair: PairTokenizer) -> None:
    assert pair.bos_id == pair.pad_id == pair.size - 1
    assert pair.decode([pair.bos_id, *pair.encode_target("Ein Kind"), pair.eos_id]) == "Ein Kind"


def test_the_same_parts_make_the_same_tokenizer(pair: PairTokenizer) -> None:
    again = open_tokenizer(pair.parts | {"config.json": b"{}"})
    assert isinstance(again, PairTokenizer)
    assert again.parts == pair.parts
    assert again.encode(SENTENCE) == pair.encode(SENTENCE)


def test_a_folder_of_one_model_opens_as_that(tokenizer: Tokenizer) -> None:
    again = open_tokenizer({"tokenizer.model": tokenizer.model, "model.safetensors": b""})
    assert isinstance(again, Tokenizer)
    assert again.parts == {"tokenizer.model": tokenizer.model}


@pytest.mark.parametrize("missing", ["target.spm", "vocabulary.json"])
def test_a_missing_part_is_named(missing: str) -> None:
    parts = pair_parts()
    del parts[missing]
    with pytest.raises(ValueError, match=f"no tokenizer: {missing} is missing"):
        open_tokenizer(parts)


def test_no_tokenizer_at_all_is_told_what_is_missing() -> None:
    with pytest.raises(ValueError, match=r"tokenizer\.model is missing"):
        open_tokenizer({"config.json": b""})


@pytest.mark.parametrize("name", ["source.spm", "target.spm"])
@pytest.mark.parametrize("content", [b"", b"x", b"not a model at all"])
def test_what_is_no_sentencepiece_model_is_named(name: str, content: bytes) -> None:
    with pytest.raises(ValueError, match=f"{name}: not a SentencePiece model"):
        PairTokenizer(pair_parts() | {name: content})


def vocabulary_with(**changed: object) -> dict[str, bytes]:
    parts = pair_parts()
    described = json.loads(parts["vocabulary.json"]) | changed
    return parts | {"vocabulary.json": json.dumps(described).encode()}


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"pieces": ["a", "b", "a"]}, "1 pieces are there twice"),
        ({"padding": "<none>"}, "'<none>' is missing"),
        ({"tags": {"de": ">>deu<<"}}, "'>>deu<<' is missing"),
    ],
)
def test_a_vocabulary_that_contradicts_itself_is_refused(changed: dict[str, object], told: str) -> None:
    with pytest.raises(ValueError, match=told):
        PairTokenizer(vocabulary_with(**changed))
