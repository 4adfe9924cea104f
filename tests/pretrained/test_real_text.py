"""The bundled model inside the service, with what people and programs really send."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from model.search.options import DecodingOptions
from service.text.reading import PLAIN, Reading
from tests.pretrained.conftest import Translate
from tests.pretrained.generated import STRINGS, sentences_with_numbers, sentences_with_strings

HTML = Reading(markup="html")
COUNTS = pytest.mark.parametrize("count", [36, pytest.param(500, marks=pytest.mark.slow)])


@COUNTS
def test_strings_that_must_not_change_occur_once(translate: Translate, count: int) -> None:
    made = sentences_with_strings(count)
    for (text, strings), result in zip(made, translate([text for text, _ in made]), strict=True):
        assert result.lost == ()
        for string in strings:
            assert result.text.count(string) == text.count(string) == 1, result.text


@COUNTS
def test_the_digits_of_a_sentence_are_those_of_its_translation(translate: Translate, count: int) -> None:
    texts = sentences_with_numbers(count)
    for text, result in zip(texts, translate(texts), strict=True):
        assert Counter(re.findall(r"\d+", result.text)) == Counter(re.findall(r"\d+", text)), result.text


def test_placeholders_of_interface_strings_stay_and_both_sides_are_translated(translate: Translate) -> None:
    texts = [
        "Welcome %1$s, you have {count} new files in {{folder}}",
        "Saved %d%% of $Total",
        "Press ${KEY} or :name: to go on",
        "Line one\nLine two",
    ]
    results = translate(texts)
    for text, result in zip(texts, results, strict=True):
        for string in re.findall(r"%1\$s|\{+\w+\}+|%d%%|\$\w+|\$\{\w+\}|:\w+:|\n", text):
            assert result.text.count(string) == 1
    before, after = results[0].text.split("%1$s")
    assert before.strip().startswith("Willkommen")
    assert "new files" not in after


def test_inline_tags_surround_the_words_they_surrounded(translate: Translate) -> None:
    pages = [
        ("<p>I have a <b>red</b> car.</p>", "<b>", "rot"),
        ("<p>The <a href='/x'>book</a> is on the table.</p>", "<a href='/x'>", "Buch"),
        ("<p>My sister lives in <i>Berlin</i>.</p>", "<i>", "Berlin"),
        ("<p>He drinks <em>milk</em> every morning.</p>", "<em>", "Milch"),
    ]
    for (page, tag, word), result in zip(pages, translate([page for page, _, _ in pages], HTML), strict=True):
        start = result.text.index(tag) + len(tag)
        assert result.text[start : result.text.index("</", start)].startswith(word), result.text
        assert re.sub(r">[^<]*<", "><", result.text) == re.sub(r">[^<]*<", "><", page)


@pytest.mark.parametrize("symbol", ["😆", "𝄞", "™", "\ufffc"])
def test_what_follows_a_symbol_is_not_lost(translate: Translate, symbol: str) -> None:
    text = "Yes, the keys are in my bag. {} I think they came with the parcel."
    [result, without] = translate([text.replace("{}", symbol), text.replace("{} ", "")])
    assert result.text.count(symbol) == 1
    assert len(result.text) >= 0.6 * len(without.text)
    assert result.text.count(".") == 2


def test_terms_are_said_and_inflected_neighbours_are_left_alone(translate: Translate) -> None:
    reading = Reading(terms={"train": "Eisenbahn"})
    text, neighbour = "The train is late.", "Trains are late."
    assert "Eisenbahn" in translate([text], reading)[0].text
    assert translate([neighbour], reading)[0].text == translate([neighbour])[0].text


def test_the_best_of_several_is_the_one_that_is_given_alone(translate: Translate) -> None:
    texts = ["I love {name}.", "She bought 3 apples.", "Where is the station?"]
    alone = translate(texts)
    several = translate(texts, PLAIN, DecodingOptions(n_best=3))
    assert [one.text for one in alone] == [many.candidates[0].text for many in several]
    for many in several:
        assert len({candidate.text for candidate in many.candidates}) == len(many.candidates)


@pytest.mark.parametrize("text", ["bag.", "Open file", "Save", "Good morning", "yes", "Settings"])
def test_a_fragment_gets_no_stop(translate: Translate, text: str) -> None:
    [result] = translate([text])
    assert result.text.endswith(".") == text.endswith(".")


def test_every_string_is_known() -> None:
    assert {string for _, strings in sentences_with_strings(500) for string in strings} == set(STRINGS)
