"""Whatever is sent to a dialect, the answer is in its shape, and never an accident of ours."""

import json

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from service.dialects.by_request import dialect_of
from service.dialects.deepl import requests as deepl
from service.dialects.libretranslate import requests as libretranslate

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 99) | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=6,
)
NAMES = sorted(
    {
        "entries",
        "entries_format",
        "name",
        "dictionaries",
        "type",
        "document_key",
        "inputs",
        "s",
        "glossary_ids",
    }
    | set(libretranslate.TranslateRequest.model_fields)
    | set(deepl.TranslateRequest.model_fields)
)
LIKELY = st.sampled_from(
    ["en", "de", "EN", "DE", "auto", "html", "xml", "text", "1", "a <b>c</b>", "a\tb", ""]
)
FIELDS = st.dictionaries(st.sampled_from(NAMES), LIKELY | JSON, max_size=8)
PATHS = [
    ("POST", "/translate"),
    ("POST", "/detect"),
    ("POST", "/suggest"),
    ("POST", "/translate_file"),
    ("POST", "/v2/translate"),
    ("GET", "/v2/languages"),
    ("POST", "/v2/glossaries"),
    ("POST", "/v3/glossaries"),
    ("PUT", "/v3/glossaries/x/dictionaries"),
    ("POST", "/v2/document"),
    ("POST", "/v2/document/x/result"),
    ("POST", "/language/translate/v2"),
    ("POST", "/language/translate/v2/detect"),
    ("POST", "/translate?api-version=3.0&to=de"),
    ("POST", "/translate?api-version=2026-06-06"),
]


def check(response, path):
    body = response.json()
    if response.status_code < 400:
        return
    assert response.status_code in (400, 403, 404, 413, 415), response.text
    dialect = dialect_of({"path": path.partition("?")[0], "query_string": path.partition("?")[2].encode()})
    if dialect.name == "DeepL":
        assert isinstance(body["message"], str)
    elif dialect.name == "LibreTranslate":
        assert isinstance(body["error"], str)
    else:
        assert isinstance(body["error"]["message"], str)


@pytest.mark.parametrize(("method", "path"), PATHS)
@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(fields=FIELDS)
@example(
    fields={
        "q": ["a"],
        "source": "auto",
        "target": "de",
        "format": "html",
        "text": ["<"],
        "target_lang": "DE",
    }
)
@example(fields={"text": "<a", "target_lang": "DE", "tag_handling": "xml", "q": [[]], "inputs": [None]})
@example(fields={"q": "a\ud800", "text": ["a\ud800"], "target_lang": "DE", "source": "en", "target": "de"})
def test_any_json_object_gets_an_answer_in_shape(shared_client, method, path, fields):
    content = json.dumps(fields).encode()
    headers = {"Content-Type": "application/json"}
    check(shared_client.request(method, path, content=content, headers=headers), path)


@pytest.mark.parametrize(("method", "path"), PATHS)
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    fields=st.dictionaries(
        st.sampled_from(NAMES), st.lists(LIKELY | st.text(max_size=8), max_size=2), max_size=8
    )
)
def test_any_form_gets_an_answer_in_shape(shared_client, method, path, fields):
    check(shared_client.request(method, path, data=fields), path)


@pytest.mark.parametrize(("method", "path"), PATHS)
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    content=st.binary(max_size=60),
    kind=st.sampled_from(["application/json", "multipart/form-data", "text/plain"]),
)
@example(content=b"[" * 10_000, kind="application/json")
@example(content=b'{"q": [NaN, "a"], "source": 7, "target": Infinity}', kind="application/json")
@example(
    content=b'--x\r\nContent-Disposition: form-data; name="file"\r\n\r\na\r\n--x--',
    kind="multipart/form-data; boundary=x",
)
def test_any_bytes_get_an_answer_in_shape(shared_client, method, path, content, kind):
    check(shared_client.request(method, path, content=content, headers={"Content-Type": kind}), path)
