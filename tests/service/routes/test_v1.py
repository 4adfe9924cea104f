"""Our own dialect: shapes, decoding options, and errors that name the field."""

import json
from concurrent.futures import ThreadPoolExecutor

import pytest

from service.routes import examples


def post(client, body, path="/v1/translate"):
    return client.post(path, json={"source": "en", "target": "de"} | body)


def test_a_text_gets_one_translation(client):
    answer = post(client, {"text": "Good day.\n\n  You there?"}).json()
    assert answer.pop("milliseconds") >= 0
    assert answer == {
        "translation": {"text": "GOOD DAY.\n\n  YOU THERE?", "score": -2.0, "truncated": False},
        "model": "upper",
        "source": "en",
        "target": "de",
    }


def test_a_list_gets_a_list_in_its_order(client):
    answer = post(client, {"text": ["Hello.", "", "   ", "World."]}).json()
    assert [translation["text"] for translation in answer["translations"]] == ["HELLO.", "", "   ", "WORLD."]
    assert "translation" not in answer


def test_an_empty_list_gets_an_empty_list(client, translator):
    assert post(client, {"text": []}).json()["translations"] == []
    assert translator.decoded == []


def test_alternatives_come_when_asked_for(client):
    translation = post(client, {"text": "Hi.", "decoding": {"n_best": 3}}).json()["translation"]
    assert translation["text"] == "HI."
    assert translation["alternatives"] == [{"text": "HI.!", "score": -2.0}, {"text": "HI.!!", "score": -3.0}]


def test_alternatives_asked_for_and_not_there_are_an_empty_list(client):
    assert post(client, {"text": "7", "decoding": {"n_best": 3}}).json()["translation"]["alternatives"] == []


@pytest.mark.parametrize(("path", "strategy"), [("", "beam"), ("/greedy", "greedy"), ("/beam", "beam")])
def test_the_path_fixes_the_strategy(client, translator, path, strategy):
    assert post(client, {"text": "Hi."}, f"/v1/translate{path}").status_code == 200
    assert [options.strategy for options in translator.options] == [strategy]


def test_every_option_reaches_the_model(client, translator):
    decoding = {"strategy": "sample", "n_best": 2, "temperature": 0.5, "top_k": 7, "top_p": 0.9, "seed": 3}
    decoding |= {"min_length": 2, "max_length": 9}
    assert post(client, {"text": "Hi.", "decoding": decoding}).status_code == 200
    [options] = translator.options
    assert {name: getattr(options, name) for name in decoding} == decoding
    decoding = {"strategy": "beam", "beam_size": 3, "length_penalty": 0.6}
    assert post(client, {"text": "Hi.", "decoding": decoding}).status_code == 200
    assert {name: getattr(translator.options[1], name) for name in decoding} == decoding


def test_truncation_is_said(client):
    translation = post(client, {"text": "Longer", "decoding": {"max_length": 3}}).json()["translation"]
    assert (translation["text"], translation["truncated"]) == ("LON", True)


@pytest.mark.parametrize(
    ("path", "body", "field", "said"),
    [
        ("/greedy", {"decoding": {"strategy": "beam"}}, "decoding.strategy", "contradicts the path"),
        ("/beam", {"decoding": {"strategy": "sample"}}, "decoding.strategy", "contradicts the path"),
        (
            "/greedy",
            {"decoding": {"beam_size": 5}},
            "decoding.beam_size",
            "strategy greedy has no such option",
        ),
        ("", {"decoding": {"temperature": 0.5}}, "decoding.temperature", "strategy beam has no such option"),
        ("", {"decoding": {"strategy": "best"}}, "decoding.strategy", "'greedy', 'beam' or 'sample'"),
        ("", {"decoding": {"beam_size": 0}}, "decoding.beam_size", "greater than or equal to 1"),
        ("", {"decoding": {"beam_size": 65}}, "decoding.beam_size", "less than or equal to 64"),
        ("", {"decoding": {"beam_size": True}}, "decoding.beam_size", "integer"),
        ("", {"decoding": {"beam_size": "5"}}, "decoding.beam_size", "integer"),
        ("", {"decoding": {"beam_size": 2, "n_best": 3}}, "decoding", "n_best is 3, allowed: 1 … 2"),
        ("", {"decoding": {"min_length": 9, "max_length": 3}}, "decoding", "min_length is 9, allowed: 0 … 3"),
        ("", {"decoding": {"size": 1}}, "decoding.size", "not a known field"),
        ("", {"decoding": 5}, "decoding", "object"),
        ("", {"text": None}, "text", "must be a string or a list of strings, not null"),
        ("", {"text": {"a": 1}}, "text", "not an object"),
        ("", {"text": ["a", None]}, "text", "item 1 must be a string, not null"),
        ("", {"source": 7}, "source", "string"),
        ("", {"source": "zz"}, "source", "zz is not supported; known: de, en"),
        ("", {"target": "x" * 65}, "target", "64"),
        ("", {"target": "x" * 64}, "target", "is not supported"),
        ("", {"txet": "typo"}, "txet", "not a known field"),
    ],
)
def test_a_wrong_field_is_named_with_what_is_allowed(client, translator, path, body, field, said):
    response = post(client, {"text": "Hi."} | body, f"/v1/translate{path}")
    assert response.status_code == 400
    assert response.json()["error"]["field"] == field
    assert said in response.json()["error"]["message"]
    assert translator.decoded == []


@pytest.mark.parametrize("missing", ["text", "source", "target"])
def test_a_missing_field_is_named(client, missing):
    body = {"text": "Hi.", "source": "en", "target": "de"}
    del body[missing]
    response = client.post("/v1/translate", json=body)
    assert (response.status_code, response.json()["error"]["message"]) == (400, f"{missing} is missing.")


def test_too_much_is_refused_before_the_model_hears_of_it(make_client, translator):
    client = make_client(translator, max_text_characters=10, max_texts=2)
    assert post(client, {"text": "x" * 10}).status_code == 200
    translator.forget()
    for text, field, said in [
        ("x" * 11, "text", "request (11) exceeds text limit (10)"),
        (["x", "x" * 12], "text[1]", "request (12) exceeds text limit (10)"),
        (["x"] * 3, "text", "request (3 texts) exceeds text limit (2)"),
    ]:
        response = post(client, {"text": text})
        assert (response.status_code, response.json()["error"]["field"]) == (413, field)
        assert said in response.json()["error"]["message"]
    assert translator.decoded == []


def test_more_than_the_queue_can_ever_hold_is_413(make_client, translator):
    client = make_client(translator, queue_tokens=5)
    assert post(client, {"text": "six of"}).status_code == 413


def test_a_full_queue_is_503_with_retry_after(make_client, translator, until):
    client = make_client(translator, queue_tokens=5)
    translator.is_decoding.clear()
    translator.gate.clear()
    with ThreadPoolExecutor(2) as pool:
        held = pool.submit(post, client, {"text": "One."})
        assert translator.is_decoding.wait(10)
        waiting = pool.submit(post, client, {"text": "Two.."})
        until(lambda: "5/5 tokens" in repr(client.app_state["service"].models.batchers[0]))
        refused = post(client, {"text": "Three"})
        translator.gate.set()
        assert [held.result().status_code, waiting.result().status_code] == [200, 200]
    assert (refused.status_code, refused.json()["error"]["code"]) == (503, "queue_full")
    assert int(refused.headers["Retry-After"]) >= 1


def test_a_short_rush_is_waited_out(make_client, translator, until):
    client = make_client(translator, queue_tokens=5, queue_seconds=30)
    translator.is_decoding.clear()
    translator.gate.clear()
    with ThreadPoolExecutor(8) as pool:
        answers = [pool.submit(post, client, {"text": f"N. {n}."}) for n in range(8)]
        assert translator.is_decoding.wait(10)
        until(lambda: "5/5 tokens" in repr(client.app_state["service"].models.batchers[0]))
        translator.gate.set()
        assert {answer.result().status_code for answer in answers} == {200}


def test_a_text_that_breaks_the_model_is_a_500_without_details_and_the_next_is_served(client):
    response = post(client, {"text": "BOOM."})
    assert (response.status_code, response.json()["error"]["code"]) == (500, "translation_failed")
    assert "BOOM" not in response.text
    assert post(client, {"text": "Fine."}).status_code == 200


def test_models_tells_what_is_served_and_its_limits(make_client, translator):
    answer = make_client(translator, max_texts=7).get("/v1/models").json()
    assert answer["models"] == [
        {
            "name": "upper",
            "directions": [{"source": "en", "target": "de"}, {"source": "de", "target": "en"}],
            "languages": ["de", "en"],
        }
    ]
    assert answer["limits"]["max_texts"] == 7


@pytest.mark.parametrize(
    ("path", "name"),
    [("", name) for name in examples.REQUESTS] + [("/greedy", name) for name in examples.GREEDY_REQUESTS],
)
def test_the_documented_requests_work(client, path, name):
    example = (examples.GREEDY_REQUESTS if path else examples.REQUESTS)[name]["value"]
    answer = client.post(f"/v1/translate{path}", json=example)
    assert answer.status_code == 200
    if not path and name in examples.ANSWERS:
        assert shape(answer.json()) == shape(examples.ANSWERS[name]["value"])


def shape(value):
    """The keys of an answer, with the length of its lists left out."""
    if isinstance(value, dict):
        return {key: shape(item) for key, item in value.items()}
    return [shape(value[0])] if isinstance(value, list) else type(value)


def test_the_description_knows_every_path_and_no_422(client):
    document = client.get("/openapi.json").json()
    assert set(document["paths"]) >= {
        "/v1/translate", "/v1/translate/greedy", "/v1/translate/beam", "/v1/models",
        "/translate", "/languages", "/detect", "/v2/translate", "/v2/glossaries", "/v3/glossaries",
        "/health", "/health/live", "/health/ready",
    }  # fmt: skip
    assert "422" not in json.dumps(document["paths"])
    assert "ValidationError" not in json.dumps(document)
    for path in ("/v1/translate", "/v1/translate/greedy", "/v1/translate/beam"):
        operation = document["paths"][path]["post"]
        assert operation["requestBody"]["content"]["application/json"]["examples"]
        assert operation["responses"]["200"]["content"]["application/json"]["examples"]
        assert {"400", "413", "503"} <= set(operation["responses"])


def test_auto_tells_the_language_of_each_text(client):
    texts = ["Where is the next train station?", "Ich habe heute leider keine Zeit für dich.", "😀"]
    answer = client.post("/v1/translate", json={"text": texts, "source": "auto", "target": "en"}).json()
    assert answer["source"] == "auto"
    detected = [translation["detected"] for translation in answer["translations"]]
    assert [one["language"] for one in detected] == ["en", "de", "en"]
    assert 0.9 < detected[1]["confidence"] <= 1 and detected[2]["confidence"] == 0
    assert [one["text"] for one in answer["translations"]] == [texts[0], texts[1].upper(), "😀"]
    named = client.post("/v1/translate", json={"text": "Hi.", "source": "en", "target": "de"}).json()
    assert "detected" not in named["translation"]


def test_markup_and_terms_are_heeded_and_what_is_lost_is_said(client):
    body = {"source": "en", "target": "de", "terms": {"dog": "Wauwau"}}
    answer = client.post(
        "/v1/translate", json=body | {"text": "<p>My <b>dog</b></p>", "format": "html"}
    ).json()
    assert answer["translation"]["text"] == "<p>MY <b>Wauwau</b></p>"
    assert "lost" not in answer["translation"]
    broken = client.post("/v1/translate", json=body | {"text": "<p>", "format": "xml"})
    assert (broken.status_code, broken.json()["error"]["code"]) == (400, "invalid_value")
