"""What users of other services ask for and complain of, each a fact about the bundled model as it is served."""

from __future__ import annotations

import re
from pathlib import Path
from random import Random

import pytest

from model.search.loops import repeats
from model.search.options import DecodingOptions
from service.text.detection import Detector
from service.text.reading import PLAIN
from tests.pretrained.conftest import Translate

LINES = Path(__file__).with_name("sentences.tsv").read_text(encoding="utf-8").splitlines()
ENGLISH = [line.split("\t")[0] for line in LINES]
STRATEGIES = pytest.mark.parametrize(
    "options", [DecodingOptions(), DecodingOptions(strategy="greedy")], ids=["beam", "greedy"]
)
ENGINES = pytest.mark.parametrize("engine", ["translate", "translate_as_served"])
NAMED = ["salad", "increasingly", "Black", "colorido", "quase quase", "so so", "no no no", "ha ha ha ha"]
ENDS = {
    *("Open file", "open file", "Save as", "Delete all messages", "Cancel", "settings", "the red house"),
    *("a cup of coffee", "Good morning", "Thank you", "See you tomorrow", "Log out", "Page 3"),
    *("3 new messages", "Terms of use", "milk, bread", "The end", "end of line", "Hello Tom"),
    *("He left.", "I am tired.", "It rains.", "The shop is closed.", "Mr. Smith is here.", "at 5 p.m."),
    *("Acme Inc.", "Close the window, please.", "He is (I think) ill.", "I know (I was there).", "OK."),
    *("Where is he?", "Do you have time?", "Really?", "Who?", "Why not?", "Is it (really) true?"),
    *("Come here!", "What a day!", "No!", "Attention!", "Hello, Tom!", "Wait...", "Let us go..."),
    *("(optional)", "(see below)", "[draft]", "[a new file]", '"Good morning!"', 'He said: "I am tired."'),
    *("Price: 5 euros", "Name:", "Address:", "Please note:", "milk, bread,", "one; two;", "first, second"),
    *("My account", "New folder", "Search results", "Are you sure?"),
}


def words() -> list[str]:
    """300 that stand alone: real ones, those of complaints, and some that nobody has ever written."""
    random = Random(1)
    letters = "abcdefghijklmnopqrstuvwxyz"
    known = sorted({word for line in ENGLISH for word in re.findall(r"[A-Za-z']+", line)})
    nonsense = ["".join(random.choices(letters, k=random.randrange(3, 13))) for _ in range(300)]
    return [*NAMED, *known, *nonsense][:300]


@ENGINES
@STRATEGIES
def test_a_single_word_or_nonsense_never_loops(request, engine: str, options: DecodingOptions) -> None:
    texts = words()
    assert len(texts) == 300
    for text, result in zip(texts, request.getfixturevalue(engine)(texts, PLAIN, options), strict=True):
        source, target = ([hash(word) for word in one.split()] for one in (text, result.text))
        assert result.pieces <= 2 * (2 + len(text.encode())) + 10, (text, result.text)
        assert not result.truncated, (text, result.text)
        for length in range(1, 5):
            assert repeats(target, length) <= repeats(source, length) + 1, (text, result.text)


def test_every_sentence_of_a_long_paragraph_is_translated_as_it_is_alone(translate_as_served) -> None:
    alone = [result.text for result in translate_as_served(ENGLISH)]
    [together] = translate_as_served([" ".join(ENGLISH)])
    assert together.text == " ".join(alone)
    assert together.sentences == len(ENGLISH) >= 40


def test_60_fragments_and_sentences_end_as_they_did_and_keep_their_brackets(translate_as_served) -> None:
    """A stop may become an exclamation mark: German orders have one."""
    assert len(ENDS) == 60
    texts = sorted(ENDS)
    for text, result in zip(texts, translate_as_served(texts), strict=True):
        assert final_mark(result.text).replace("!", ".") == final_mark(text).replace("!", "."), result.text
        assert [result.text.count(mark) for mark in "()[]"] == [text.count(mark) for mark in "()[]"]
        assert len(re.findall('["„“”»«]', result.text)) == text.count('"'), result.text


def final_mark(text: str) -> str:
    found = re.search(r"(\.\.\.|…|[.!?,;:]?)[\"“”»«)\]]*$", text)
    return found[1] if found else ""


def test_the_score_falls_when_the_words_are_shuffled(translate_as_served) -> None:
    random = Random(3)
    shuffled = [" ".join(random.sample(words := line[:-1].split(), len(words))) + "." for line in ENGLISH]
    plain, odd = (
        sum(result.candidates[0].score for result in translate_as_served(texts))
        for texts in (ENGLISH, shuffled)
    )
    assert odd < 1.5 * plain, "scores are below zero"


def test_the_best_of_several_comes_first_and_all_differ(translate_as_served: Translate) -> None:
    alone = translate_as_served(ENGLISH)
    several = translate_as_served(ENGLISH, PLAIN, DecodingOptions(n_best=4))
    for one, many in zip(alone, several, strict=True):
        scores = [candidate.score for candidate in many.candidates]
        assert scores == sorted(scores, reverse=True)
        assert len({candidate.text for candidate in many.candidates}) == len(scores)
        assert many.candidates[0].text == one.text


@pytest.mark.parametrize(("direction", "side"), [(("en", "de"), 0), (("de", "en"), 1)])
def test_what_comes_out_is_in_the_wanted_language(translate_as_served, direction, side) -> None:
    texts = [line.split("\t")[side] for line in LINES]
    detector = Detector(["de", "en"])
    results = translate_as_served(texts, PLAIN, None, direction)
    found = [detector.detect(result.text)[0].language for result in results]
    assert found.count(direction[1]) >= 0.95 * len(found)


def test_quotes_and_apostrophes_become_no_entities_and_typed_ones_stay(translate_as_served) -> None:
    texts = [f"It's the {noun}'s \"best\" day & night." for noun in ("dog", "cook", "child", "town", "team")]
    for result in translate_as_served([*texts, "I don't know Tom's friend.", "He said: 'No, it isn't.'"]):
        assert not re.search(r"&\w+;|&#\d+;", result.text), result.text
    [typed] = translate_as_served(["Write &amp; in HTML."])
    assert typed.text.count("&amp;") == 1
