"""What the model reads, and how what it says is written."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from service.text.blocks import Kept
from service.text.passages import Insertion, Passage, StandIn, rendered


def test_each_string_has_a_stand_in_of_its_own() -> None:
    passage = Passage("Hi {a}, see {b}.")
    masked = passage.masked(passage.protected)
    assert masked.text == "Hi [X0X], see [X1X]."
    assert masked.stand_ins == (StandIn("[X0X]", "{a}"), StandIn("[X1X]", "{b}"))


@given(text=st.text(alphabet="ab {}\n\t\u00a0%s😀", max_size=30))
def test_places_follow_the_text(text: str) -> None:
    passage = Passage(text)
    masked = passage.masked(passage.protected)
    assert len(masked.places) == len(text) + 1
    assert list(masked.places) == sorted(masked.places)
    assert masked.places[-1] == len(masked.text)
    taken = {place for one in passage.protected for place in range(one.start, one.end)}
    for place, character in enumerate(text):
        if place not in taken and not character.isspace():
            assert masked.text[masked.places[place]] == character


@given(text=st.text(alphabet="ab {}%s😀,.", max_size=30))
def test_putting_everything_back_gives_the_text(text: str) -> None:
    passage = Passage(text)
    masked = passage.masked(passage.protected)
    assert rendered(masked.text, masked.stand_ins, [], {}) == text


def test_a_wrapped_line_is_read_as_one() -> None:
    assert Passage("one\n   two  three").masked(()).text == "one two  three"


def test_text_is_written_as_its_format_asks_and_markup_as_it_is() -> None:
    stand_ins = [StandIn("[X0X]", "<code>a</code>")]
    insertions = [Insertion(0, "<b>"), Insertion(4, "</b>")]
    assert rendered("a<b [X0X]", stand_ins, insertions, {ord("<"): "&lt;"}) == "<b>a&lt;b </b><code>a</code>"


def test_what_markup_keeps_is_read_as_a_stand_in_too() -> None:
    passage = Passage("press now \ufffc", kept=(Kept(0, 5, "<kbd>press</kbd>"), Kept(10, 11, "<x/>")))
    assert passage.masked(passage.protected).text == "[X0X] now [X1X]"
