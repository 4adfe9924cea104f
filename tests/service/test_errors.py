"""Every exception has a status and a code; every dialect one shape; nothing is given away."""

import pytest
from fastapi.exceptions import RequestValidationError
from hypothesis import given
from hypothesis import strategies as st
from starlette.exceptions import HTTPException

from service import errors
from service.dialects import LIBRETRANSLATE_PATHS, libretranslate_error, v1_error
from service.errors import STATUS_AND_CODE, ServiceError, answer_for, clip, dotted, whereabouts


def family(kind):
    return {kind}.union(*map(family, kind.__subclasses__()))


def test_every_exception_is_mapped_and_drawn():
    kinds = family(ServiceError) - {ServiceError}
    assert set(STATUS_AND_CODE) == kinds
    for kind in kinds:
        assert kind.__name__ in errors.__doc__
        answer = answer_for(kind("why", field="text"))
        assert (answer.status, answer.code) == STATUS_AND_CODE[kind]
        assert (answer.message, answer.field) == ("why", "text")


def test_codes_are_unique():
    codes = [code for _, code in STATUS_AND_CODE.values()]
    assert len(set(codes)) == len(codes)


def test_every_503_says_when_to_come_back():
    for kind, (status, _) in STATUS_AND_CODE.items():
        assert ("Retry-After" in answer_for(kind("why")).headers) == (status == 503)


def test_an_unknown_exception_says_nothing_of_itself():
    answer = answer_for(RuntimeError("secret"))
    assert answer.status == 500
    assert "secret" not in str(v1_error(answer)) + str(libretranslate_error(answer)) + repr(answer)


def test_a_validation_error_becomes_a_400_without_the_input():
    problem = {
        "type": "string_type",
        "loc": ("body", "text", 2),
        "msg": "Input should be a string",
        "input": "secret",
    }
    answer = answer_for(RequestValidationError([problem]))
    assert (answer.status, answer.field, answer.message) == (
        400,
        "text[2]",
        "text[2]: Input should be a string",
    )


def test_an_http_exception_keeps_its_headers():
    answer = answer_for(HTTPException(405, headers={"Allow": "GET"}))
    assert (answer.status, answer.code, answer.headers) == (405, "method_not_allowed", {"Allow": "GET"})
    assert "GET" in answer.message


def test_dotted_names_the_place():
    assert dotted(["decoding", "beam_size"]) == "decoding.beam_size"
    assert dotted(["text", 2]) == "text[2]"


@given(st.one_of(st.text(), st.none(), st.integers(), st.floats(), st.lists(st.text())))
def test_a_clipped_value_is_short_and_printable(value):
    text = clip(value)
    assert len(text) <= 41
    assert text.isprintable()
    text.encode()


def test_whereabouts_tell_type_and_place_and_no_message():
    def fail():
        raise KeyError("secret")

    try:
        fail()
    except KeyError as error:
        place = whereabouts(error)
    assert place.startswith("KeyError at ") and place.endswith(" in fail")
    assert "secret" not in place


ROUTES = [
    ("GET", "/nowhere", 404),
    ("GET", "/v1/nowhere", 404),
    ("GET", "/v1/translate/", 404),
    ("GET", "/TRANSLATE", 404),
    ("DELETE", "/v1/models", 405),
    ("GET", "/v1/translate", 405),
    ("GET", "/translate", 405),
    ("PUT", "/languages", 405),
    ("FOO", "/translate", 405),
    ("FOO", "/", 405),
    ("POST", "/v1/translate", 415),
    ("POST", "/translate", 400),
]


@pytest.mark.parametrize(("method", "path", "status"), ROUTES)
def test_every_error_has_the_shape_of_its_dialect(shared_client, method, path, status):
    response = shared_client.request(method, path)
    assert response.status_code == status
    assert response.headers["Content-Type"] == "application/json"
    error = response.json()["error"]
    if path in LIBRETRANSLATE_PATHS:
        assert isinstance(error, str)
    else:
        assert {"code", "message"} <= set(error) <= {"code", "message", "field"}
    assert "X-Request-ID" in response.headers
    assert "Content-Security-Policy" in response.headers


@pytest.mark.parametrize("path", ["/v1/translate", "/translate"])
def test_an_unexpected_failure_is_a_500_in_the_dialects_shape(make_client, translator, monkeypatch, path):
    def fail(*_):
        raise ZeroDivisionError("secret")

    client = make_client(translator)
    monkeypatch.setattr(translator, "prepare", fail)
    name = "q" if path == "/translate" else "text"
    response = client.post(path, json={name: "Hi.", "source": "en", "target": "de"})
    assert response.status_code == 500
    assert "secret" not in response.text
    assert isinstance(response.json()["error"], str if path == "/translate" else dict)
