"""Texts keep their layout; scores are sums; alternatives are distinct and best first."""

import asyncio
import contextlib

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from model.search.options import DecodingOptions
from model.translator import Hypothesis
from service.batcher import Batcher, WorkerState
from service.models import Found, Models
from service.text_translator import TextTranslator

GREEDY = DecodingOptions(strategy="greedy")


@pytest.fixture
def make_text_translator(until):
    with contextlib.ExitStack() as stack:

        def make(translator):
            found = Found("one", "1", lambda: translator)
            models = Models(lambda: [found], lambda one, _: Batcher(one.load, queue_tokens=1_000_000))
            models.start()
            [batcher] = models.batchers
            stack.callback(batcher.stop)
            until(lambda: batcher.state is WorkerState.READY)
            translator.forget()
            text_translator = TextTranslator(models)
            stack.callback(text_translator.close)
            return lambda texts, options=GREEDY, direction=("en", "de"): asyncio.run(
                text_translator.translate(texts, direction, options)
            )

        yield make


@given(texts=st.lists(st.text(), max_size=4))
@example(texts=["  name:\tAnna\r\n\r\n    indented line  \nlast", "", " \t", "\u2028a\x85"])
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_with_a_translator_that_changes_nothing_nothing_changes(make_text_translator, identity, texts):
    translated = make_text_translator(identity)(texts)
    assert [text.text for text in translated] == texts


def test_only_sentences_reach_the_model(make_text_translator, translator):
    [translated] = make_text_translator(translator)(["One. Two!\n\n\t* * *\n  three  \r\n"])
    assert translated.text == "ONE. TWO!\n\n\t* * *\n  THREE  \r\n"
    assert sorted(translator.decoded) == ["One.", "Two!", "three"]


@pytest.mark.parametrize("text", ["", "   ", "12345", "|", "* * *", "😀", "\n\n"])
def test_text_without_a_letter_comes_back_without_a_model_call(make_text_translator, translator, text):
    [translated] = make_text_translator(translator)([text])
    assert (translated.text, translated.score, translated.truncated) == (text, 0.0, False)
    assert translator.decoded == []


def test_equal_languages_come_back_byte_for_byte_without_a_model_call(make_text_translator, translator):
    text = "Hello  World\t!\n<b>x</b> &amp; y"
    [translated] = make_text_translator(translator)([text], direction=("en", "en"))
    assert translated.text == text
    assert translator.decoded == []


def test_the_score_is_the_sum_over_sentences(make_text_translator, translator):
    [translated] = make_text_translator(translator)(["One. Two. Three."])
    assert translated.score == -3.0


def test_alternatives_join_the_kth_best_of_each_sentence(make_text_translator, translator):
    [translated] = make_text_translator(translator)(["One.\nTwo."], DecodingOptions(beam_size=3, n_best=3))
    assert [(candidate.text, candidate.score) for candidate in translated.candidates] == [
        ("ONE.\nTWO.", -2.0),
        ("ONE.!\nTWO.!", -4.0),
        ("ONE.!!\nTWO.!!", -6.0),
    ]
    assert translated.alternatives == translated.candidates[1:]


def test_alternatives_are_distinct_and_a_sentence_with_fewer_repeats_its_last(
    make_text_translator, translator, monkeypatch
):
    def hypotheses(text, options):
        ranked = [Hypothesis(f"{text[:-1]}{k // 2}.", -1.0 - k, (), (), False) for k in range(options.n_best)]
        return ranked[:1] if text == "One." else ranked

    monkeypatch.setattr(translator, "hypotheses", hypotheses)
    [translated] = make_text_translator(translator)(["One. Two."], DecodingOptions(beam_size=4, n_best=4))
    assert [candidate.text for candidate in translated.candidates] == ["One0. Two0.", "One0. Two1."]
    assert [candidate.score for candidate in translated.candidates] == [-2.0, -4.0]


def test_truncation_of_one_sentence_is_said_of_its_text_only(make_text_translator, translator):
    options = DecodingOptions(strategy="greedy", max_length=4)
    long, short = make_text_translator(translator)(["Oh. Longer than four.", "Oh."], options)
    assert (long.truncated, short.truncated) == (True, False)
    assert long.text == "OH. LONG", "what was cut gets no stop that would make it look whole"


def test_eight_numbered_sentences_come_back_whole_wrapped_or_not(make_text_translator, translator):
    numbers = ["one", "two", "three", "four", "five", "six", "seven", "eight"]
    paragraph = " ".join(f"This is number {number}." for number in numbers)
    translate = make_text_translator(translator)
    [flat], [wrapped] = translate([paragraph]), translate([paragraph.replace("four. ", "four.\n")])
    assert flat.text == wrapped.text.replace("\n", " ") == paragraph.upper()
    assert len(translator.decoded) == 16


def test_a_sentence_of_1500_words_is_cut_to_fit_and_loses_none(make_text_translator, translator):
    words = [f"word{number}" for number in range(1500)]
    [translated] = make_text_translator(translator)([" ".join(words)])
    assert translated.text.lower().split() == words
