"""A sentence is tried until nothing is wrong with it; what cannot be mended is said."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from model.alignment import Alignment
from model.search.options import DecodingOptions
from model.sentence import Sentence
from model.translator import Hypothesis
from service.text.attempts import Faults, faults, first_attempt, is_copy
from service.text.blocks import Kept, Span
from service.text.passages import Passage
from service.text.trial import NO_ALIGNMENT, Trial
from tests.service.text.echo import Echo


def tried(
    passage: Passage, *rounds: Sequence[str], alignment: Alignment = NO_ALIGNMENT
) -> tuple[Trial, list[str]]:
    """A trial that was given these hypotheses, round by round, and what it asked for each time."""
    trial = Trial(passage, Echo())  # type: ignore[arg-type]
    asked: list[str] = []
    for said in rounds:
        assert isinstance(trial.sentence, Sentence), "it asked no more"
        asked.append(trial.sentence.text)
        trial.take([Hypothesis(text, -1.0 - k, (), (), truncated=False) for k, text in enumerate(said)])
        if trial.unplaced:
            trial.place(alignment)
    return trial, asked


def text_of(trial: Trial) -> str:
    return trial.best(1)[0].written(NO_ALIGNMENT)


def test_a_hypothesis_without_a_fault_ends_it() -> None:
    trial, asked = tried(Passage("Open {file} now."), ["Öffne [X0X] jetzt."])
    assert trial.sentence is None
    assert asked == ["Open [X0X] now."]
    assert text_of(trial) == "Öffne {file} jetzt."


def test_the_next_hypothesis_is_taken_when_the_best_loses_a_string() -> None:
    trial, _ = tried(Passage("Open {file} now."), ["Öffne jetzt.", "Mach [X0X] auf."])
    assert trial.sentence is None
    assert text_of(trial) == "Mach {file} auf."


def test_then_the_string_is_forced_and_at_last_shown() -> None:
    trial, asked = tried(
        Passage("Open {file} now."), ["Öffne jetzt."], ["[X0X] [X0X]."], ["Öffne {file} jetzt."]
    )
    assert asked == ["Open [X0X] now.", "Open [X0X] now.", "Open {file} now."]
    assert trial.sentence is None
    assert text_of(trial) == "Öffne {file} jetzt."


def test_what_is_forced_is_a_phrase_of_the_sentence() -> None:
    trial, _ = tried(Passage("Open {file} now."), ["Öffne jetzt."])
    assert isinstance(trial.sentence, Sentence)
    assert ["".join(map(chr, phrase)) for phrase in trial.sentence.phrases] == ["[X0X]"]


def test_what_was_lost_after_all_is_said() -> None:
    trial, _ = tried(Passage("Open {file} now."), ["Öffne jetzt."], ["Öffne."], ["Auf."])
    assert trial.sentence is None
    [best] = trial.best(1)
    assert best.lost == ("{file}",)


def test_what_markup_keeps_is_never_tried_in_the_open() -> None:
    passage = Passage("Open ls now.", kept=(Kept(5, 7, "<code>ls</code>"),))
    trial, asked = tried(passage, ["Öffne."], ["Öffne."])
    assert trial.sentence is None
    assert set(asked) == {"Open [X0X] now."}


def test_a_changed_number_makes_the_numbers_stand_ins() -> None:
    trial, asked = tried(Passage("I have 12 of 35."), ["Ich habe 12 von 53."], ["Ich habe [X0X] von [X1X]."])
    assert asked[1] == "I have [X0X] of [X1X]."
    assert text_of(trial) == "Ich habe 12 von 35."


def test_stand_ins_of_numbers_are_forced_only_when_the_model_loses_them() -> None:
    trial, _ = tried(Passage("I have 12 of 35."), ["Ich habe 12 von 53."])
    assert isinstance(trial.sentence, Sentence)
    assert not trial.sentence.phrases
    trial, _ = tried(Passage("I have 12 of 35."), ["Ich habe 12 von 53."], ["Ich habe [X0X]."])
    assert isinstance(trial.sentence, Sentence)
    assert len(trial.sentence.phrases) == 2


def test_a_number_may_be_written_as_the_language_writes_it() -> None:
    trial, _ = tried(Passage("It costs 1,250.50 dollars."), ["Es kostet 1.250,50 Dollar."])
    assert trial.sentence is None


def test_a_copy_is_tried_again_in_small_letters() -> None:
    trial, asked = tried(Passage("The Old House Fell"), ["The Old House Fell"], ["das alte haus fiel"])
    assert asked[1] == "the old house fell"
    assert text_of(trial) == "Das alte haus fiel"


def test_a_copy_that_stays_one_is_the_best_there_is() -> None:
    trial, _ = tried(Passage("The Old House Fell"), ["The Old House Fell"], ["the old house fell"])
    assert trial.sentence is None
    assert text_of(trial) == "The Old House Fell"


@pytest.mark.parametrize(
    ("source", "target", "is_one"),
    [
        ("the old house fell", "the old house fell", True),
        ("the old house fell", "the old house fiel", True),
        ("the old house fell", "das alte haus fiel", False),
        ("Hotel Berlin", "Hotel Berlin", False),
        ("so so", "so so", False),
        ("12 34 56 78", "12 34 56 78", False),
    ],
)
def test_most_words_make_a_copy(source: str, target: str, is_one: bool) -> None:
    assert is_copy(source, target) is is_one


def test_a_term_that_is_missing_is_a_fault_and_becomes_a_stand_in() -> None:
    passage = Passage("the train stops", terms=(Kept(4, 9, "Bahn"),))
    trial, asked = tried(passage, ["der Zug hält"], ["die [X0X] hält"])
    assert asked == ["the train stops", "the [X0X] stops"]
    assert text_of(trial) == "die Bahn hält"


def test_a_term_is_said_in_the_place_of_the_words_that_were_made_from_it() -> None:
    passage = Passage("the train stops", terms=(Kept(4, 9, "Bahn"),))
    echo = Echo(lambda _: ("der Zug hält", [0, 0, 0, 3, 4, 4, 4, 9, 10, 10, 10, 10]))
    [[hypothesis]] = echo.answers([echo.prepare(passage.text)], DecodingOptions())
    alignment = echo.alignment(echo.prepare(passage.text), hypothesis.text)
    trial, asked = tried(passage, [hypothesis.text], alignment=alignment)
    assert trial.sentence is None
    assert asked == ["the train stops"]
    assert text_of(trial) == "der Bahn hält"


def test_a_term_that_a_hypothesis_says_by_itself_needs_no_placing() -> None:
    passage = Passage("the train stops", terms=(Kept(4, 9, "Bahn"),))
    trial, _ = tried(passage, ["der Zug hält", "die Bahn hält"])
    assert text_of(trial) == "die Bahn hält"


def test_a_term_stays_in_its_markup_and_is_written_as_the_format_writes_it() -> None:
    passage = Passage(
        "the train stops",
        spans=(Span(4, 9, "<b>", "</b>"),),
        terms=(Kept(4, 9, "S&U"),),
        spelling={ord("&"): "&amp;"},
    )
    echo = Echo(lambda _: ("der Zug hält", [0, 0, 0, 3, 4, 4, 4, 9, 10, 10, 10, 10]))
    [[hypothesis]] = echo.answers([echo.prepare(passage.text)], DecodingOptions())
    alignment = echo.alignment(echo.prepare(passage.text), hypothesis.text)
    trial, _ = tried(passage, [hypothesis.text], alignment=alignment)
    assert text_of(trial) == "der <b>S&amp;U</b> hält"
    trial, _ = tried(passage, ["der Zug hält"], ["die [X0X] hält"])  # unclear where: as a stand-in
    assert "S&amp;U" in text_of(trial)


def test_faults_are_counted_by_kind() -> None:
    attempt = first_attempt(Passage("take {a} and {b}, 3 times", terms=(Kept(0, 4, "nimm"),)))
    assert faults(attempt, "nimm [X0X] und [X1X], 3 mal") == Faults()
    assert faults(attempt, "nimm [X0X] [X0X], drei mal") == Faults(lost=2, digits=1)
    assert faults(attempt, "[X0X] und [X1X], 33 mal") == Faults(terms=1, digits=2)


def test_candidates_are_of_one_attempt_and_no_worse_than_the_best() -> None:
    trial, _ = tried(Passage("Open {file}."), ["Auf.", "Öffne [X0X].", "Mach [X0X] auf.", "[X0X] [X0X]."])
    assert [outcome.text for outcome in trial.best(5)] == ["Öffne [X0X].", "Mach [X0X] auf."]
