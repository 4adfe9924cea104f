"""The Translator on a model that has really learnt: what it takes, what it refuses, where it runs."""

from concurrent.futures import ThreadPoolExecutor
from copy import deepcopy
from dataclasses import replace
from random import Random
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from model.search import DecodingOptions
from model.translator import Hypothesis, SentenceTooLong, Translator, UnsupportedDirection
from tests.model.interpreter import LONGEST, english, sentence, translated

GREEDY = DecodingOptions(strategy="greedy")
BEAM = DecodingOptions(strategy="beam", beam_size=4)
CONTROLS = ("<pad>", "<unk>", "<s>", "</s>", "<2de>", "<2en>")


# --- it translates


def test_it_translates_both_ways_in_one_call(translator: Translator) -> None:
    found = translator.translate(
        [translator.prepare("quiet river.", "en", "de"), translator.prepare("still Fluss.", "de", "en")], BEAM
    )
    assert [hypotheses[0].text for hypotheses in found] == ["still Fluss.", "quiet river."]


def test_most_short_sentences_are_right(translator: Translator) -> None:
    """So that what the other tests compare are translations, not noise."""
    random = Random(5)
    pairs = [sentence(random, random.randint(1, 4)) for _ in range(60)]
    found = translated(translator, [source for source, _ in pairs], GREEDY)
    assert (
        sum(hypotheses[0].text == target for hypotheses, (_, target) in zip(found, pairs, strict=True)) > 45
    )


# --- what it takes


def test_the_empty_text_is_its_own_translation_alone_and_among_others(translator: Translator) -> None:
    nothing = [Hypothesis("", 0.0, (), (), False)]
    for options in (GREEDY, BEAM, DecodingOptions(strategy="sample", n_best=3), replace(BEAM, n_best=4)):
        assert translated(translator, [""], options) == [nothing]
        mixed = translated(translator, ["", "green moon.", ""], options)
        assert mixed[0] == mixed[2] == nothing
        assert mixed[1][0].text
    assert translator.translate([], BEAM) == []


def test_a_sentence_that_is_too_long_is_refused_with_its_length_and_the_limit(translator: Translator) -> None:
    text = "sun " * LONGEST
    pieces = len(translator.tokenizer.encode(text)) + 2
    assert not translator.fits(text)
    with pytest.raises(SentenceTooLong, match=f"{pieces} pieces; this model takes up to {LONGEST}"):
        translator.prepare(text, "en", "de")


@given(text=st.text(max_size=60) | st.integers(76, 88).map(lambda count: "sun " * count))
def test_what_fits_is_just_what_can_be_prepared(translator: Translator, text: str) -> None:
    if translator.fits(text):
        made = translator.prepare(text, "en", "de")
        assert made.text == text
        assert len(made.ids) <= LONGEST
    else:
        with pytest.raises(SentenceTooLong):
            translator.prepare(text, "en", "de")


@pytest.mark.parametrize(
    "pair", [("en", "fr"), ("fr", "de"), ("en", "en"), ("EN", "de"), ("", ""), ("en", "<2de>")]
)
def test_a_direction_that_is_not_served_is_refused_with_those_that_are(
    translator: Translator, pair: tuple[str, str]
) -> None:
    with pytest.raises(UnsupportedDirection) as error:
        translator.prepare("sun.", *pair)
    assert f"{pair[0]}→{pair[1]}" in str(error.value)
    assert "en→de, de→en" in str(error.value)


@pytest.mark.parametrize("text", [*CONTROLS, "▁", "sun </s> moon", "<2en> moon", "<s><pad>"])
def test_typed_control_symbols_are_plain_text(translator: Translator, text: str) -> None:
    ids = translator.prepare(text, "en", "de").ids
    tag, end = translator.tokenizer.target_tag("de"), translator.tokenizer.eos_id
    assert ids[0] == tag
    assert ids[-1] == end
    controls = {tag, translator.tokenizer.target_tag("en"), end, *translator.banned_ids}
    assert not controls & set(ids[1:-1])


@given(texts=st.lists(st.text(max_size=12), max_size=4))
def test_no_text_makes_it_raise(translator: Translator, texts: list[str]) -> None:
    found = translated(translator, texts, replace(GREEDY, max_length=8))
    assert len(found) == len(texts)
    assert all(len(hypotheses) == 1 for hypotheses in found)


# --- where it runs


def test_it_runs_in_bfloat16_and_mostly_says_the_same(translator: Translator) -> None:
    narrow = in_type(translator, torch.bfloat16)
    assert narrow.dtype == torch.bfloat16
    texts = english(40, seed=10, longest=4)
    for options in (GREEDY, BEAM, DecodingOptions(strategy="sample")):
        assert all(hypotheses[0].text for hypotheses in translated(narrow, texts, options))
    wide = [found[0].text for found in translated(translator, texts, GREEDY)]
    same = sum(a == b[0].text for a, b in zip(wide, translated(narrow, texts, GREEDY), strict=True))
    assert same >= 0.8 * len(texts)


def in_type(translator: Translator, dtype: torch.dtype) -> Translator:
    fields: dict[str, Any] = dict(name="x", directions=translator.directions, longest=translator.longest)
    return Translator(deepcopy(translator.model).to(dtype), translator.tokenizer, **fields)


def test_several_threads_may_translate_at_once(translator: Translator) -> None:
    """No decoding state lives in the model: every call gets the answer it gets alone."""
    jobs = [english(4, seed=100 + number) for number in range(12)]
    alone = [translated(translator, texts, BEAM) for texts in jobs]
    with ThreadPoolExecutor(4) as threads:
        assert list(threads.map(lambda texts: translated(translator, texts, BEAM), jobs)) == alone


def test_its_representation_tells_what_it_is(translator: Translator) -> None:
    assert repr(translator) == "Translator('interpreter', en→de, de→en, PyTorch float32 on cpu)"
