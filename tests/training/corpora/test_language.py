"""Two languages are told apart where that is sure, and only there."""

import pytest

from training.corpora.language import language_pair

SENTENCES = {
    "en": "I left the key with our neighbours this morning.",
    "de": "Ich habe den Schlüssel heute früh bei den Nachbarn gelassen.",
    "fr": "J'ai laissé la clé chez les voisins ce matin.",
    "nl": "Ik heb de sleutel vanochtend bij de buren gelaten.",
}


@pytest.mark.parametrize("first", SENTENCES)
@pytest.mark.parametrize("second", SENTENCES)
def test_each_language_is_told_from_each_other(first, second):
    if first == second:
        return
    pair = language_pair(first, second)
    assert not pair.is_other(SENTENCES[first], first)
    assert pair.is_other(SENTENCES[second], first)
    assert pair.is_other(SENTENCES[second].upper(), first)


@pytest.mark.parametrize(
    "text", ["", "Hotel", "Das ist es.", "12:30 – 14:45", "😀" * 40, "www.beispiel.example/der/die/das"[:19]]
)
def test_a_short_text_is_let_pass(text):
    assert not language_pair("en", "de").is_other(text, "en")


def test_an_unknown_language_is_not_judged():
    pair = language_pair("en", "tlh")
    assert not pair.is_known
    assert not pair.is_other(SENTENCES["de"], "en")


def test_the_end_of_an_endless_line_costs_nothing():
    assert language_pair("en", "de").is_other(SENTENCES["de"] * 100_000, "en")
