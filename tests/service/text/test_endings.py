"""A translation ends and begins as its source does."""

from __future__ import annotations

import pytest

from service.text.endings import begun, finished


@pytest.mark.parametrize(
    ("source", "said", "expected"),
    [
        ("open file", "Datei öffnen.", "Datei öffnen"),
        ("Yes", "Ja.", "Ja"),
        ("He left.", "Er ging", "Er ging."),
        ("He left.", "Er ging!", "Er ging!"),
        ("He left?", "Ging er", "Ging er"),
        ("wait...", "warte...", "warte..."),
        ("wait", "warte...", "warte..."),
        ("the 1st", "der 1.", "der 1."),
        ("in 2010", "in 2010.", "in 2010"),
        ("He said “go.”", "Er sagte „geh.“", "Er sagte „geh.“"),
        ("(He left.)", "(Er ging)", "(Er ging.)"),
        ("Open the door", "öffne die Tür", "Öffne die Tür"),
        ("iPhone users", "iPhone-Nutzer", "iPhone-Nutzer"),
        ("open", "Öffnen", "Öffnen"),
        ("Save", "", ""),
        ("a.", ".", "."),
        ("milk, bread", "Milch, Brot!", "Milch, Brot"),
        ("where is it", "wo ist es?", "wo ist es?"),
        ("Please note:", "Bitte beachten.", "Bitte beachten:"),
        ("Name:", "Name", "Name:"),
        ("milk,", "Milch", "Milch,"),
        ("one; two;", "eins; zwei;", "eins; zwei;"),
        ("Why:", "Warum?", "Warum?"),
        ("Wait...", "Warte.", "Warte..."),
        ("Wait…", "Warte", "Warte..."),
        ("Wait...", "Warte!", "Warte!"),
        ("(Name:)", "(Name)", "(Name:)"),
        ("see {name}:", "siehe [X0X]", "siehe [X0X]"),
    ],
)
def test_no_mark_is_invented_or_lost_and_a_capital_stays_one(source: str, said: str, expected: str) -> None:
    assert finished(said, source, "de") == expected


def test_chinese_has_marks_of_its_own() -> None:
    assert finished("他走了", "He left.", "zh") == "他走了。"
    assert finished("他走了。", "He left", "zh") == "他走了"
    assert finished("姓名", "Name:", "zh") == "姓名："
    assert finished("姓名：", "Name:", "zh") == "姓名："
    assert finished("等等。", "Wait...", "zh") == "等等……"
    assert finished("Name", "姓名：", "en") == "Name:"


@pytest.mark.parametrize("cut", ["Er ging in das", "er ging in das", "Er ging zu Dr.", ""])
def test_what_was_cut_begins_as_its_source_does_and_its_end_is_left_alone(cut: str) -> None:
    assert begun(cut, "He left the house.") == cut[:1].upper() + cut[1:]
