"""What must not change is found whole, and ordinary words, times and prices are not taken for it."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.text import protection
from service.text.blocks import Kept
from service.text.protection import core_of, protected, without_forms


def found(text: str) -> list[str]:
    return [one.source for one in protected(text)]


@pytest.mark.parametrize(
    "string",
    """
    {name}|{0}|{{a.b}}|{{folder}}|${KEY}|${x}|#{title}|{%if%}|%s|%d|%i|%@|%.2f|%1$s|%2$d|%(n)s|%-10s|%ld|%%|%name%
    $Total|:name|:name:|__name__|[[page]]|[X12X]|[7]|⟦3⟧|@@X1@@|<x id="7"></x>|<x id="1"/>|<b>|</b>|<ph3>|&amp;|&#39;
    `code`|`ls -l`|--help|-v|run()|user_name|fileName|MAX_SIZE|README.md|a_1|/usr/bin/env|~/notes|C:\\Temp\\a.txt
    https://host.example/path?x=1&y=2#z|http://a.example|www.host.example/a|anna.berg+x@mail.example|ftp://a.example
    @karina|#tag|KX-4821|B2B|v2.3|1.2.3|192.168.0.1|3a2f9b1c|12345678|+49 170 1234567|😀|👍🏽|👩‍💻|🇩🇪|™|𝄞|￼|✔️
    """.strip()
    .replace("\n    ", "|")
    .split("|"),
)
def test_a_string_of_each_form_is_found_whole_in_a_sentence(string: str) -> None:
    assert found(f"Please use {string} here") == [string]


@pytest.mark.parametrize(
    "text",
    [
        "It is 10:30, and 100% of us paid 1,250.50 or 3,5 on 24.12.2024.",
        "He or she, and/or they: AC/DC at 20 °C; 5 < 6 > 4; 50% off, 20 % less.",
        "A well-known T-shirt (size M), e.g. number 4711 - not a code.",
        "Don't! Use it's, I'm & co... #1 — it costs $5 or 5€.",
    ],
)
def test_ordinary_text_is_left_to_the_model(text: str) -> None:
    assert [one for one in found(text) if one not in ("&", "#1")] == []


def test_neighbours_that_touch_are_one() -> None:
    assert found("Saved %d%% of {a}{b}") == ["%d%%", "{a}{b}"]


def test_a_stop_after_an_address_belongs_to_the_sentence() -> None:
    assert found("See https://a.example/x. Or (https://b.example/y)!") == [
        "https://a.example/x",
        "https://b.example/y",
    ]


def test_what_markup_keeps_comes_first() -> None:
    assert protected("see {a} now", (Kept(4, 7, "<code>{a}</code>"),)) == (Kept(4, 7, "<code>{a}</code>"),)


def test_what_is_shown_comes_out_as_its_format_writes_it() -> None:
    [one] = protected("the tag <b> here", (), {ord("<"): "&lt;", ord(">"): "&gt;"})
    assert one.source == "&lt;b&gt;"


@given(text=st.text(alphabet="ab {}%$s<>/:@#[]X1.😀_`\\&;", max_size=40))
def test_strings_are_in_order_apart_and_as_they_stand(text: str) -> None:
    end = 0
    for one in protected(text):
        assert end <= one.start < one.end
        assert one.source == text[one.start : one.end]
        end = one.end


@pytest.mark.parametrize(
    ("text", "core"),
    [
        ("😆 I think", "I think"),
        ("in the bag. 😆", "in the bag."),
        ("✔ ✔ done ™", "done"),
        ("a 😀 b", "a 😀 b"),
        ("x", "x"),
    ],
)
def test_symbols_at_the_ends_stay_there(text: str, core: str) -> None:
    start, end = core_of(text)
    assert text[start:end] == core


@pytest.mark.parametrize(
    "piece",
    ["{", "%", "<a ", "@", "a_", "/a", "[X", "`", "&", "1.", "😀", "-", "http://", "a@a.", "aB", "1 "],
)
def test_looking_at_a_long_text_takes_no_long_time(piece: str) -> None:
    """Were a form quadratic, 20,000 characters would take minutes."""
    text = piece * (20_000 // len(piece))
    started = time.process_time()
    protected(text)
    assert time.process_time() - started < 5


@given(st.text(alphabet="aBc xyz.,;!?'\"’“”„()…–—-_019äßЖ中\u0663\n\t@/:#%&😀™", max_size=24))
def test_a_text_without_a_sign_holds_nothing_that_must_not_change(text: str) -> None:
    if not protection._SIGN.search(text):
        assert not protection._PROTECTED.search(text)


@pytest.mark.parametrize("text", ["It's well-known (he said): yes…", "Wait — “no”, I’ll go. Right?"])
def test_ordinary_sentences_have_no_sign(text: str) -> None:
    assert not protection._SIGN.search(text.replace(":", ""))


def test_covering_what_must_not_change_moves_nothing() -> None:
    text = "Read README.md 😀 and {a}."
    assert without_forms(text, "_") == "Read _________ 😀 and ___."
