"""The words of one house: other terms, the same grammar, in a translation memory."""

from pathlib import Path

import pytest

from training.corpora.corpus import open_files
from training.corpora.pairs import Pair
from training.corpora.split import count_overlap
from training.primer.__main__ import main
from training.primer.house import TERMS, in_house, write_memory
from training.primer.lexicon import THINGS


def test_only_the_german_term_changes() -> None:
    assert in_house(Pair("I have two lamps.", "Ich habe zwei Lampen.")) == Pair(
        "I have two lamps.", "Ich habe zwei Leuchten."
    )
    assert in_house(Pair("I see a hat.", "Ich sehe einen Hut.")) is None


def test_every_term_stands_for_a_word_of_the_primer_in_both_numbers() -> None:
    nouns = {noun.german: noun.german_plural for noun in THINGS}
    singular = [word for word in TERMS if word in nouns]
    assert set(TERMS) == {form for word in singular for form in (word, nouns[word])}


def test_the_memory_holds_what_was_written(tmp_path: Path) -> None:
    pairs = [Pair('"A & B" < C.', "„A & B“ < C."), Pair("The lamp.", "Die Leuchte.")]
    write_memory(tmp_path / "a.tmx", pairs)
    assert list(open_files([tmp_path / "a.tmx"], "en", "de").read()) == pairs
    assert list(open_files([tmp_path / "a.tmx"], "de", "en").read()) == [Pair(b, a) for a, b in pairs]


def test_the_command_writes_two_corpora_that_share_no_source(tmp_path: Path) -> None:
    assert main([str(tmp_path), "--pairs", "300"]) == 0
    everyday = list(open_files([tmp_path / "everyday.en", tmp_path / "everyday.de"], "en", "de").read())
    memory = list(open_files([tmp_path / "house.tmx"], "en", "de").read())
    assert (len(everyday), len(memory)) == (300, 60)
    assert count_overlap(memory, everyday) == 0
    assert all(any(term in pair.target for term in TERMS.values()) for pair in memory)


def test_too_few_pairs_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main([str(tmp_path), "--pairs", "7"])
    assert "--pairs is 7, must be at least 100" in capsys.readouterr().err
