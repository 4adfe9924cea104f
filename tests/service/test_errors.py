"""Every exception has a status and a code; every dialect one shape; nothing is given away."""

import pytest
from fastapi.exceptions import RequestValidationError
from hypothesis import given
from hypothesis import strategies as st
from starlette.exceptions import HTTPException

from service import errors
from service.dialects.by_request import DEEPL, DIALECTS, LIBRETRANSLATE, OWN, dialect_of
from service.errors import (
    STATUS_AND_CODE,
    ServiceError,
    TooManyRequests,
    TranslationFailed,
    answer_for,
    clip,
    dotted,
    whereabouts,
)


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


def test_every_503_says_when_to_come_back_and_so_does_what_is_too_fast():
    for kind, (status, _) in STATUS_AND_CODE.items():
        comes_back = status == 503 or kind is TooManyRequests
        assert ("Retry-After" in answer_for(kind("why")).headers) == comes_back


@pytest.mark.parametrize("kind", family(ServiceError) - {ServiceError}, ids=lambda kind: kind.__name__)
def test_every_exception_has_a_status_and_a_body_in_every_dialect(kind):
    answer = answer_for(kind("why", field="text"))
    shapes = {dialect.name: dialect.shape(answer) for dialect in DIALECTS}
    assert all(400 <= status < 600 for status, _ in shapes.values())
    assert isinstance(shapes["LibreTranslate"][1]["error"], str)
    assert isinstance(shapes["DeepL"][1]["message"], str)
    # DeepL's libraries ask again after these, up to six times.
    is_temporary = "Retry-After" in answer.headers or kind is TranslationFailed
    assert (shapes["DeepL"][0] in (429, 500, 503, 504, 529)) == is_temporary


def test_an_unknown_exception_says_nothing_of_itself():
    answer = answer_for(RuntimeError("secret"))
    assert answer.status == 500
    for dialect in DIALECTS:
        assert "secret" not in str(dialect.shape(answer)) + repr(answer)


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
    ("GET", "/v2/nowhere", 404),
    ("DELETE", "/v2/translate", 405),
    ("GET", "/v3/nowhere", 404),
    ("POST", "/v2/translate", 400),
    ("GET", "/suggest", 405),
    ("POST", "/health", 405),
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
    dialect = dialect_of({"path": path})
    body = response.json()
    if dialect is DEEPL:
        assert isinstance(body["message"], str)
        assert response.headers["X-Trace-ID"] == response.headers["X-Request-ID"]
    elif dialect is LIBRETRANSLATE:
        assert isinstance(body["error"], str)
    else:
        assert dialect is OWN
        error = body["error"]
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
