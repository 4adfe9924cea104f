"""A translation does not depend on what else is translated, nor on the order, nor on padding."""

from collections.abc import Callable
from random import Random

import pytest
from torch import Tensor

from model.search import DecodingOptions
from model.sentence import Sentence
from model.state import DecoderState
from model.translator import Hypothesis, Translator
from tests.model.interpreter import sentence

GREEDY = DecodingOptions(strategy="greedy")
BEAM = DecodingOptions(strategy="beam", beam_size=4, n_best=2)
ODD = [
    "a",
    "1.",
    "1. ",
    "I",
    "?",
    "-",
    "×",
    "🙂",
    "x" * 70,
    "(c)",
    "12345",
    "...",
    "★ ★ ★",
    "GREEN MOON.",
    " sun",
    "Ä",
]
# None of these may depend on the batch they are in; each is one sentence after another in some order.
ORDERS: dict[str, Callable[[list[Sentence]], list[int]]] = {
    "as they come": lambda sentences: list(range(len(sentences))),
    "reversed": lambda sentences: list(range(len(sentences)))[::-1],
    "sorted by length": lambda sentences: sorted(range(len(sentences)), key=lambda i: len(sentences[i].ids)),
    "shuffled": lambda sentences: Random(3).sample(range(len(sentences)), len(sentences)),
}


def sources(translator: Translator, count: int) -> list[Sentence]:
    """From 1 to 80 pieces, both directions by turns, among them characters that the model has never seen."""
    random = Random(1)
    result = [translator.prepare(text, *pair) for text in ODD for pair in translator.directions]
    while len(result) < count:
        words = (
            79 if len(result) == len(ODD) * 2 else 1 + int(70 * random.random() ** 3)
        )  # short ones are many
        english, german = sentence(random, words)
        result.append(translator.prepare(english, "en", "de"))
        result.append(translator.prepare(german, "de", "en"))
    return result[:count]


def in_batches(
    translator: Translator, sentences: list[Sentence], order: list[int], size: int, options: DecodingOptions
) -> list[list[Hypothesis]]:
    """Translated in that order, so many a call, and put back into the order of `sentences`."""
    results: dict[int, list[Hypothesis]] = {}
    for start in range(0, len(order), size):
        places = order[start : start + size]
        found = translator.translate([sentences[place] for place in places], options)
        results.update(zip(places, found, strict=True))
    return [results[place] for place in range(len(sentences))]


def assert_same(found: list[list[Hypothesis]], expected: list[list[Hypothesis]]) -> None:
    for hypotheses, others in zip(found, expected, strict=True):
        assert [one.text for one in hypotheses] == [one.text for one in others]
        assert [one.pieces for one in hypotheses] == [one.pieces for one in others]
        assert [one.truncated for one in hypotheses] == [one.truncated for one in others]
        assert [one.score for one in hypotheses] == pytest.approx([one.score for one in others], abs=1e-4)


def test_two_hundred_sentences_by_greedy_search_are_the_same_in_any_batch(translator: Translator) -> None:
    sentences = sources(translator, 200)
    lengths = [len(source.ids) - 2 for source in sentences]
    assert (min(lengths), max(lengths)) in [(1, 80), (2, 80)]
    alone = in_batches(translator, sentences, list(range(200)), 1, GREEDY)
    for name, size in (("shuffled", 7), ("reversed", 64)):
        assert_same(in_batches(translator, sentences, ORDERS[name](sentences), size, GREEDY), alone)


def test_a_beams_hypotheses_are_the_same_in_any_batch(translator: Translator) -> None:
    sentences = sources(translator, 50)
    alone = in_batches(translator, sentences, list(range(50)), 1, BEAM)
    for name, size in (("shuffled", 7), ("reversed", 60)):
        assert_same(in_batches(translator, sentences, ORDERS[name](sentences), size, BEAM), alone)


@pytest.mark.slow
@pytest.mark.parametrize("options", [GREEDY, BEAM], ids=["greedy", "beam"])
def test_two_hundred_sentences_are_the_same_in_every_order_and_batch_size(
    translator: Translator, options: DecodingOptions
) -> None:
    sentences = sources(translator, 200)
    alone = in_batches(translator, sentences, list(range(200)), 1, options)
    for order in ORDERS.values():
        for size in (7, 32, 64, 200):
            assert_same(in_batches(translator, sentences, order(sentences), size, options), alone)


@pytest.mark.parametrize("options", [GREEDY, BEAM], ids=["greedy", "beam"])
def test_short_items_are_not_empty_only_in_a_batch(translator: Translator, options: DecodingOptions) -> None:
    long = translator.prepare("river " * 75, "en", "de")
    items = [translator.prepare(text, "en", "de") for text in ODD]
    alone = [translator.translate([item], options)[0] for item in items]
    assert_same(translator.translate([long, *items], options)[1:], alone)
    assert_same(translator.translate([*items[::-1], long], options)[-2::-1], alone)


def test_the_same_sentence_many_times_gets_the_same_translation_each_time(translator: Translator) -> None:
    source = translator.prepare("green letter under very open window.", "en", "de")
    found = translator.translate([source] * 50, BEAM)
    assert_same(found, [found[0]] * 50)


def test_more_than_a_batch_holds_is_translated_in_several(
    translator: Translator, monkeypatch: pytest.MonkeyPatch
) -> None:
    sentences = sources(translator, 60)
    whole = translator.translate(sentences, GREEDY)
    sizes: list[int] = []
    start = translator.model.start
    monkeypatch.setattr(translator.plain, "batch_pieces", 300)

    def counted(source_BS: Tensor) -> DecoderState:
        sizes.append(source_BS.numel())
        return start(source_BS)

    monkeypatch.setattr(translator.model, "start", counted)
    assert_same(translator.translate(sentences, GREEDY), whole)
    assert len(sizes) > 3
    assert max(sizes) <= 300
