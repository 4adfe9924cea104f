"""What a translation has to hold it holds, as words of their own, and other sentences are none the wiser."""

from __future__ import annotations

import re

import pytest

from model.search import DecodingOptions
from tests.model.phrasebook import ENGLISH, phrasebook

STRATEGIES = [
    DecodingOptions(strategy="greedy"),
    DecodingOptions(strategy="beam", beam_size=4),
    DecodingOptions(strategy="sample", n_best=2),
]


@pytest.mark.parametrize("options", STRATEGIES, ids=lambda options: options.strategy)
@pytest.mark.parametrize("phrases", [["das Boot"], ["Lampe", "Gast"], ["[X0X]"], ["NATO"], ["Boot", "Boot"]])
def test_the_phrases_stand_in_the_translation_as_words_of_their_own(
    options: DecodingOptions, phrases: list[str]
) -> None:
    translator = phrasebook()
    for english in ENGLISH[:5]:
        [[best, *_]] = translator.translate([translator.prepare(english, "en", "de", phrases)], options)
        for phrase in phrases:
            found = re.findall(rf"(?<!\w){re.escape(phrase)}(?!\w)", best.text)
            assert len(found) >= phrases.count(phrase), best.text
        assert not best.truncated


def test_what_the_model_would_say_anyway_is_found_as_it_is_without_phrases() -> None:
    translator = phrasebook()
    options = DecodingOptions(strategy="beam", beam_size=4)
    for english in ENGLISH[:5]:
        [[free]] = translator.translate([translator.prepare(english, "en", "de")], options)
        noun = free.text.rstrip(".").split()[-1]
        [[bound]] = translator.translate([translator.prepare(english, "en", "de", [noun])], options)
        assert bound.text == free.text
        assert bound.score == pytest.approx(free.score, abs=1e-4)


def test_the_phrases_of_one_sentence_do_not_touch_its_batch_mates() -> None:
    translator = phrasebook()
    options = DecodingOptions(strategy="beam", beam_size=4)
    free = [translator.prepare(english, "en", "de") for english in ENGLISH[:6]]
    alone = translator.translate(free, options)
    bound = translator.prepare(ENGLISH[6], "en", "de", ["Fluss"])
    mixed = translator.translate([*free[:3], bound, *free[3:]], options)
    assert [one[0].text for one in mixed[:3] + mixed[4:]] == [one[0].text for one in alone]
    assert "Fluss" in mixed[3][0].text


def test_scores_are_those_of_forced_decoding_here_too() -> None:
    translator = phrasebook()
    options = DecodingOptions(strategy="beam", beam_size=4, n_best=3)
    sentence = translator.prepare(ENGLISH[0], "en", "de", ["kein Brot"])
    [found] = translator.translate([sentence], options)
    for hypothesis in found:
        if translator.tokenizer.pieces(translator.tokenizer.encode(hypothesis.text)) == list(
            hypothesis.pieces
        ):
            [forced] = translator.score([sentence], [hypothesis.text])
            assert hypothesis.score == pytest.approx(forced.score, abs=1e-4)
    assert [one.score for one in found] == sorted((one.score for one in found), reverse=True)
