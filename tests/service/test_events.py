"""A streamed translation is the translation, in parts, the first of them early."""

import json
from itertools import pairwise

import pytest

from service.text.trial import Trial
from service.text_translator import growing_groups

SENTENCES = [f"This is sentence {number}." for number in range(1, 41)]
TEXT = " ".join(SENTENCES[:20]) + "\n\n" + " ".join(SENTENCES[20:])
BODY = {"text": TEXT, "source": "en", "target": "de"}
EVENTS = {"Accept": "text/event-stream"}


def events_of(response):
    blocks = response.text.split("\n\n")
    assert blocks.pop() == "", "every event is ended"
    lines = [block.split("\n") for block in blocks]
    return [(name.removeprefix("event: "), json.loads(data.removeprefix("data: "))) for name, data in lines]


def test_the_parts_are_the_whole_and_the_whole_is_the_plain_answer(client):
    plain = client.post("/v1/translate", json=BODY).json()
    response = client.post("/v1/translate", json=BODY, headers=EVENTS)
    assert response.headers["content-type"].startswith("text/event-stream")
    *parts, (last, whole) = events_of(response)
    assert last == "done" and {name for name, _ in parts} == {"part"}
    assert "".join(part["text"] for _, part in parts) == whole["translation"]["text"]
    assert whole | {"milliseconds": 0} == plain | {"milliseconds": 0}


def test_the_first_sentence_is_translated_alone_and_later_ones_together(client, translator):
    client.post("/v1/translate", json=BODY, headers=EVENTS)
    sizes = [len(batch) for batch in translator.batches]
    assert sizes[0] == 1
    assert sum(sizes) == len(SENTENCES)
    assert all(one <= other for one, other in pairwise(sizes[:-1]))


def test_alternatives_and_the_detected_language_come_with_the_whole(client):
    asked = BODY | {"source": "auto", "decoding": {"n_best": 2}}
    [*_, (_, whole)] = events_of(client.post("/v1/translate", json=asked, headers=EVENTS))
    assert whole["translation"]["detected"]["language"] == "en"
    assert len(whole["translation"]["alternatives"]) == 1


@pytest.mark.parametrize("text", ["", "  ", "12 : 30"])
def test_what_needs_no_translation_is_done_at_once(client, text):
    [(name, whole)] = events_of(client.post("/v1/translate", json=BODY | {"text": text}, headers=EVENTS))
    assert (name, whole["translation"]["text"]) == ("done", text)


def test_a_mistake_is_an_answer_with_its_status(client):
    for change in ({"target": "xx"}, {"text": ["one", "two"]}, {"decoding": {"n_best": 99}}):
        response = client.post("/v1/translate", json=BODY | change, headers=EVENTS)
        assert response.status_code == 400
        assert response.headers["content-type"] == "application/json"


def test_a_failure_on_the_way_is_an_event_after_what_was_done(client):
    text = "This is good. BOOM goes the cannon. This is lost."
    events = events_of(client.post("/v1/translate", json=BODY | {"text": text}, headers=EVENTS))
    assert [name for name, _ in events] == ["part", "error"]
    assert events[1][1]["error"]["code"] == "translation_failed"


def test_groups_lose_nothing_and_grow():
    trials = [object.__new__(Trial) for _ in range(50)]
    pieces = [piece for trial in trials for piece in (trial, " ")]
    groups = list(growing_groups(pieces))
    assert [piece for group in groups for piece in group] == pieces
    assert [sum(isinstance(piece, Trial) for piece in group) for group in groups] == [
        1,
        1,
        2,
        4,
        8,
        16,
        16,
        2,
    ]
