"""JSON is read strictly, and whatever bytes come, the answer is JSON and no 5xx."""

import json

import pytest
from fastapi import APIRouter
from hypothesis import example, given, settings
from hypothesis import strategies as st
from starlette.requests import Request
from starlette.responses import Response

from service.body import StrictJSONRoute
from service.schemas.v1 import TranslateRequest

JSON = {"Content-Type": "application/json"}
DIALECTS = ["/v1/translate", "/v1/translate/greedy", "/translate"]
BROKEN = [
    b"",
    b"null",
    b"[]",
    b'"text"',
    b"5",
    b"{",
    b'{"q": ""Hello"", "source":"en","target":"de"}',
    b'{"q":"x","text":"x","source":"en","source":"de","target":"de"}',
    b"[" * 10_000 + b"]" * 10_000,
    b'{"a":' * 10_000 + b"1" + b"}" * 10_000,
    '{"q":"Grüße","text":"Grüße","source":"de","target":"en"}'.encode("latin-1"),
    '{"q":"x","text":"x","source":"de","target":"en"}'.encode("utf-16"),
    b'{"q":"x","text":"x","source":"en","target":"de","alternatives":NaN,"decoding":NaN}',
    b'{"q":["x",NaN],"text":[NaN,"a\\udc00b"],"source":7,"target":Infinity}',
    b'{"q":5,"text":5,"source":"en","target":"de"}',
    b'{"q":"x","text":"x","source":"en","target":' + b"9" * 5000 + b"}",
]


@pytest.mark.parametrize("path", DIALECTS)
@pytest.mark.parametrize("body", BROKEN, ids=lambda body: ascii(body[:30]))
def test_broken_bodies_are_400_in_the_dialects_shape(shared_client, path, body):
    response = shared_client.post(path, content=body, headers=JSON)
    assert response.status_code == 400
    assert response.headers["Content-Type"] == "application/json"
    assert isinstance(response.json()["error"], str if path == "/translate" else dict)


@pytest.mark.parametrize("path", DIALECTS)
@pytest.mark.parametrize(
    ("body", "field"),
    [
        (rb'{"NAME":"hi \ud83d there","source":"en","target":"de"}', "NAME"),
        (rb'{"NAME":["good","\udc00"],"source":"en","target":"de"}', "NAME[1]"),
        (rb'{"NAME":"good","source":"e\udfffn","target":"de"}', "source"),
        (rb'{"NAME":"good","source":"en","target":"de","\ud800":1}', "the body"),
    ],
)
def test_half_of_a_surrogate_pair_is_a_400_that_names_the_field_and_the_next_request_works(
    shared_client, path, body, field
):
    name = "q" if path == "/translate" else "text"
    response = shared_client.post(path, content=body.replace(b"NAME", name.encode()), headers=JSON)
    assert response.status_code == 400
    assert f"{field.replace('NAME', name)} holds half of a surrogate pair" in response.text
    good = {name: "good", "source": "en", "target": "de"}
    assert shared_client.post(path, json=good).status_code == 200


def test_a_whole_pair_in_escapes_is_a_character(shared_client):
    body = rb'{"text":"\ud83d\ude00 smile","source":"en","target":"de"}'
    assert (
        shared_client.post("/v1/translate", content=body, headers=JSON).json()["translation"]["text"]
        == "😀 SMILE"
    )


def test_a_byte_order_mark_is_no_obstacle(shared_client):
    body = b'\xef\xbb\xbf{"text":"a","source":"en","target":"de"}'
    assert shared_client.post("/v1/translate", content=body, headers=JSON).status_code == 200


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(), max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
CODES = st.sampled_from(["en", "de", "EN_us", "auto", "fr"]) | VALUES
OBJECTS = st.fixed_dictionaries(
    {},
    optional={
        "text": VALUES,
        "q": VALUES,
        "source": CODES,
        "target": CODES,
        "decoding": st.dictionaries(
            st.sampled_from(["strategy", "beam_size", "n_best", "top_p", "max_length", "min_length", "seed"]),
            VALUES,
        )
        | VALUES,
        "format": VALUES,
        "alternatives": VALUES,
    },
)


@settings(max_examples=150)
@given(path=st.sampled_from(DIALECTS), value=OBJECTS | VALUES)
@example(path="/translate", value={"q": "a\udc00", "source": "en", "target": "de"})
def test_any_json_is_answered_with_200_or_a_client_error_in_json(shared_client, path, value):
    check(shared_client, path, json.dumps(value).encode(), "application/json")


@settings(max_examples=100)
@given(
    path=st.sampled_from(DIALECTS),
    body=st.binary(max_size=200),
    content_type=st.sampled_from(
        [
            "application/json",
            "application/x-www-form-urlencoded",
            "multipart/form-data; boundary=b",
            "",
            "a;b=c;;",
        ]
    ),
)
def test_any_bytes_are_answered_with_200_or_a_client_error_in_json(shared_client, path, body, content_type):
    check(shared_client, path, body, content_type)


def check(client, path, body, content_type):
    response = client.post(path, content=body, headers={"Content-Type": content_type})
    assert response.status_code in (200, 400, 413, 415)
    answer = response.json()
    assert response.status_code == 200 or isinstance(answer["error"], str if path == "/translate" else dict)


def test_an_endpoint_that_asks_for_more_than_it_would_get_is_refused_at_once():
    router = APIRouter(route_class=StrictJSONRoute)

    async def greet(request: Request, body: TranslateRequest, name: str) -> Response:
        return Response()

    with pytest.raises(TypeError, match="greet takes request, body, name"):
        router.add_api_route("/greet", greet, methods=["POST"], response_model=None)
