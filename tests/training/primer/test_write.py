"""The primer is a fair first corpus: distinct, repeatable, compositional, and right German."""

import re
from random import Random

import pytest

from training.corpora.corpus import open_corpus
from training.corpora.split import count_overlap
from training.fetch import main
from training.primer.lexicon import ADJECTIVES, PERSONS, THINGS, number_words
from training.primer.templates import TEMPLATES
from training.primer.write import primer


@pytest.fixture(scope="module")
def sets():
    return primer(seed=0, pairs=6000, held_out=300)


def test_the_command_writes_the_primer_without_any_download(tmp_path, sets):
    assert main(["primer", "--to", str(tmp_path)]) == 0
    corpus = open_corpus(tmp_path / "primer")
    assert (corpus.source_language, corpus.target_language) == ("en", "de")
    for part, pairs in zip(("train", "validation", "test"), sets, strict=True):
        assert list(corpus.read(part)) == pairs


def test_every_text_occurs_once_so_each_has_one_translation(sets):
    pairs = [pair for part in sets for pair in part]
    assert len(pairs) == 6000
    for side in zip(*pairs, strict=True):
        assert len(set(side)) == 6000


def test_the_held_out_sets_share_no_text_with_training(sets):
    train, validation, test = sets
    assert len(validation) == len(test) == 300
    assert count_overlap(test, train + validation) == count_overlap(validation, train) == 0


def test_every_word_of_the_held_out_sets_occurs_in_training(sets):
    train, *held_out = sets
    for side in (0, 1):
        known = {word.strip(".,?") for pair in train for word in pair[side].split()}
        asked = {word.strip(".,?") for part in held_out for pair in part for word in pair[side].split()}
        assert asked <= known


def test_the_same_seed_writes_the_same_primer_and_another_seed_another(sets):
    assert primer(seed=0, pairs=6000, held_out=300) == sets
    assert primer(seed=1, pairs=6000, held_out=300) != sets


def test_articles_and_adjectives_agree_with_gender_and_case(sets):
    """The rules stated a second time, as a table: which ending may follow which article."""
    gender = {noun.german: noun.gender for noun in (*PERSONS, *THINGS)}
    adjectives = "|".join([*(word.german for word in ADJECTIVES), "jung", "krank", "hungrig"])
    phrase = re.compile(
        rf"\b(der|die|das|den|dem|eine?[nmr]?) (?:(?:{adjectives})(e|en|er|es) )?([A-ZÄÖÜ]\w+)", re.I
    )
    allowed = {
        ("m", "der"): "e", ("m", "den"): "en", ("m", "dem"): "en", ("m", "ein"): "er", ("m", "einen"): "en",
        ("f", "die"): "e", ("f", "der"): "en", ("f", "eine"): "e",
        ("n", "das"): "e", ("n", "dem"): "en", ("n", "ein"): "es",
    }  # fmt: skip
    seen = set()
    for pair in sets[0]:
        for article, ending, noun in phrase.findall(pair.target):
            if noun not in gender or (article.lower() == "die" and gender[noun] != "f"):
                continue  # a plural that is spelt as the singular
            key = (gender[noun], article.lower())
            assert key in allowed, (article, noun, pair)
            assert ending in ("", allowed[key]), pair
            seen.add(key)
    assert seen == set(allowed)


def test_german_writes_numbers_in_words_with_the_ones_first():
    words = {number: number_words(number).german for number in (1, 12, 17, 20, 21, 30, 67, 99)}
    assert words == {
        1: "eins", 12: "zwölf", 17: "siebzehn", 20: "zwanzig", 21: "einundzwanzig", 30: "dreißig",
        67: "siebenundsechzig", 99: "neunundneunzig",
    }  # fmt: skip
    assert number_words(42).english == "forty-two"
    assert len({number_words(number) for number in range(100)}) == 100


def test_sentences_start_with_a_capital_and_end_with_one_stop():
    random = Random(0)
    for template, _ in TEMPLATES:
        for text in (side for _ in range(300) for side in template(random)):
            assert text[0].isupper(), text
            assert re.fullmatch(r".*[^.?][.?]", text), text
            assert "  " not in text


def test_asking_for_too_large_a_test_set_names_the_limit():
    with pytest.raises(ValueError, match=r"held_out is 601; 1 … 600 of 6000"):
        primer(seed=0, pairs=6000, held_out=601)
