"""The bundled model: right on sentences that it has never seen, and well-behaved on what people really send."""

import json
import re
from pathlib import Path

import pytest

from model.directory import load_translator
from model.search import DecodingOptions
from model.search.loops import repeats
from model.texts import translate_texts
from model.translator import Translator
from training.scoring.metrics import score

DIRECTORY = Path(__file__).parents[2] / "pretrained" / "en-de"
BEAM, GREEDY = DecodingOptions(), DecodingOptions(strategy="greedy")
BOTH = pytest.mark.parametrize("options", [BEAM, GREEDY], ids=["beam", "greedy"])
PAIRS = [
    tuple(line.split("\t")) for line in Path(__file__).with_name("sentences.tsv").read_text().splitlines()
]
ENGLISH, GERMAN = ([pair[side] for pair in PAIRS] for side in (0, 1))
WORDS = [
    "apple",
    "house",
    "increasingly",
    "salad",
    "Black",
    "Monday",
    "run",
    "quickly",
    "water",
    "yes",
    "no",
    "hello",
    "please",
    "bicycle",
    "beautiful",
    "yellow",
    "seven",
    "mother",
    "although",
    "under",
    "tomorrow",
    "why",
    "window",
    "thunderstorm",
    "computer",
    "happy",
    "to",
    "of",
    "the",
    "slowly",
    "never",
    "freedom",
    "market",
]


@pytest.fixture(scope="module")
def translator() -> Translator:
    return load_translator(DIRECTORY, dtype="float32")


def translate(
    translator: Translator, texts: list[str], options: DecodingOptions = BEAM, source: str = "en"
) -> list[str]:
    target = {"en": "de", "de": "en"}[source]
    return [line.text for line in translate_texts(translator, texts, source, target, options)]


def test_it_is_small_enough_to_be_part_of_a_repository() -> None:
    assert sum(path.stat().st_size for path in DIRECTORY.iterdir()) <= 25e6


def test_its_card_names_data_licence_scores_and_command() -> None:
    card = (DIRECTORY / "MODEL_CARD.md").read_text()
    for part in (
        "Tatoeba",
        "CC BY 2.0",
        "version:2",
        "| en-de |",
        "| de-en |",
        "-m training.train tatoeba-en-de",
    ):
        assert part in card


def test_it_translates_in_both_directions(translator: Translator) -> None:
    assert set(translator.directions) == {("en", "de"), ("de", "en")}


@BOTH
def test_sentences_written_for_this_test_come_out_much_like_a_person_has_them(
    translator: Translator, options: DecodingOptions
) -> None:
    to_german = score(translate(translator, ENGLISH, options), GERMAN, target_language="de")
    to_english = score(translate(translator, GERMAN, options, "de"), ENGLISH, target_language="en")
    assert to_german.chrf >= 75, to_german
    assert to_english.chrf >= 75, to_english


@BOTH
def test_the_words_that_matter_are_there(translator: Translator, options: DecodingOptions) -> None:
    station, blank, coffee = translate(
        translator, ["Where is the next train station?", "", "I would like a cup of coffee, please."], options
    )
    assert re.search(r"\bWo\b.*\bBahnhof\b.*\?$", station)
    assert blank == ""
    assert re.search(r"\b(hätte|möchte|würde)\b.*\bTasse Kaffee\b", coffee)


@BOTH
def test_a_sentence_alone_and_in_any_batch_is_the_same(
    translator: Translator, options: DecodingOptions
) -> None:
    alone = [translate(translator, [text], options)[0] for text in ENGLISH[:20]]
    for size in (7, 20):
        batched = [
            text
            for start in range(0, 20, size)
            for text in translate(translator, ENGLISH[start : start + size][: 20 - start], options)
        ]
        assert batched == alone


@BOTH
def test_single_words_do_not_loop(translator: Translator, options: DecodingOptions) -> None:
    texts = [*WORDS, *(f"{word}." for word in WORDS), "so so", "bye bye", "no no no", "ha ha ha ha"]
    for text, translation in zip(texts, translate(translator, texts, options), strict=True):
        source, target = ([hash(word) for word in one.split()] for one in (text, translation))
        pieces = [len(translator.tokenizer.encode(one)) for one in (text, translation)]
        assert pieces[1] <= 2 * pieces[0] + 14, (text, translation)
        for n in range(1, 5):
            assert repeats(target, n) <= max(4, repeats(source, n) + 1), (text, translation)


def test_the_sentence_after_a_symbol_is_translated(translator: Translator) -> None:
    text = "Yes, the keys are in my bag. {} I think they came with the parcel."
    for symbol in ("😆", "𝄞", "™", "\ufffc"):
        (translation,) = translate(translator, [text.format(symbol)])
        assert "Schlüssel" in translation
        assert re.search(r"glaube|denke", translation), translation


def test_eight_sentences_in_are_eight_sentences_out(translator: Translator) -> None:
    numbers = ["one", "two", "three", "four", "five", "six", "seven", "eight"]
    (translation,) = translate(translator, [" ".join(f"I have {number} books." for number in numbers)])
    assert translation.count(".") == 8
    for word in ("zwei", "drei", "vier", "fünf", "sechs", "sieben", "acht"):
        assert word in translation.lower()


@BOTH
def test_no_control_symbol_or_byte_leaves_it(translator: Translator, options: DecodingOptions) -> None:
    odd = ["Close </s> here and <s> open <pad> <unk> end.", "<2de> Hello.", "▁", "The ▁ sign marks a space."]
    for text in [
        *translate(translator, [*ENGLISH, *WORDS], options),
        *translate(translator, GERMAN, options, "de"),
    ]:
        assert not re.search(r"<s>|</s>|<pad>|<unk>|<2..>|<0x[0-9A-F]{2}>|▁|\u2047|\ufffd", text), text
    for text in translate(translator, odd, options):
        assert not re.search(r"<0x[0-9A-F]{2}>|\u2047|\ufffd", text), text


def test_scores_are_those_of_forced_decoding(translator: Translator) -> None:
    sentences = [translator.prepare(text, "en", "de") for text in ENGLISH[:12]]
    for sentence, (best, *_) in zip(sentences, translator.translate(sentences, BEAM), strict=True):
        (forced,) = translator.score([sentence], [best.text])
        if forced.pieces == best.pieces:  # a text can be spelled with other pieces than the search chose
            assert forced.score == pytest.approx(best.score, abs=1e-4)


def test_a_wider_beam_finds_no_worse_scores(translator: Translator) -> None:
    sentences = [translator.prepare(text, "en", "de") for text in ENGLISH]
    greedy, beam = (
        [found[0].score for found in translator.translate(sentences, options)] for options in (GREEDY, BEAM)
    )
    better = sum(wide >= narrow - 1e-5 for wide, narrow in zip(beam, greedy, strict=True))
    assert better >= 0.98 * len(sentences)


def test_its_config_is_plain_data() -> None:
    config = json.loads((DIRECTORY / "config.json").read_text())
    assert config["format"] == 1
