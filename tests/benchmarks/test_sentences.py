"""No sentence is given twice, so that a memory of answers cannot help a server."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from benchmarks.sentences import Sentences, has_digit


def sentences_of(text: str) -> list[str]:
    """Each has its one mark at its end."""
    return re.findall(r"[^.?]+[.?]", text.replace(". ", ".").replace("? ", "?"))


def test_no_sentence_of_the_primer_comes_twice() -> None:
    sentences = Sentences()
    given = sentences.take(3000) + sentences.take_with_numbers(300)
    for text in sentences.texts(3, 40):
        given += sentences_of(text)
    assert len(set(given)) == len(given) == 3000 + 300 + 3 * 40


def test_sentences_with_digits_come_apart_from_the_others() -> None:
    sentences = Sentences()
    assert not any(map(has_digit, [*sentences.take(500), *sentences.texts(5, 40)]))
    assert all(map(has_digit, sentences.take_with_numbers(100)))


def test_the_same_seed_gives_the_same_and_another_gives_others() -> None:
    assert Sentences(seed=3).take(50) == Sentences(seed=3).take(50) != Sentences(seed=4).take(50)


def test_a_text_has_as_many_sentences_as_were_asked_for() -> None:
    texts = Sentences(seed=1).texts(20, 40)
    assert [len(sentences_of(text)) for text in texts] == [40] * 20


def test_a_file_gives_all_its_lines_before_any_comes_again(tmp_path: Path) -> None:
    file = tmp_path / "lines.txt"
    file.write_text("One.\n\n  Two.  \nThree.\nTwo.\nBy 4.\n", encoding="utf-8")
    sentences = Sentences(file=file)
    taken = sentences.take(6)
    assert sorted(taken[:3]) == sorted(taken[3:]) == ["One.", "Three.", "Two."]
    assert sentences.take_with_numbers(2) == ["By 4."] * 2


def test_a_file_without_a_sentence_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "empty.txt"
    file.write_text("\n \n")
    with pytest.raises(ValueError, match="no sentences"):
        Sentences(file=file).take(1)
