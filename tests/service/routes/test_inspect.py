"""The glass box over HTTP: what is shown is what is served, within limits, and mistakes are named."""

import re

import pytest

from model.directory import load_translator
from model.search import DecodingOptions
from service.inspections import MOST_PIECES
from service.routes.page import PAGE

SENTENCE = {"text": "The cat sees the dog.", "source": "en", "target": "de"}
HEAD = {"part": "cross", "layer": 1, "head": 2}


@pytest.fixture
def client(make_client, tiny_model):
    return make_client(lambda: load_translator(tiny_model, device="cpu", dtype="float32"))


def test_it_shows_what_the_model_that_serves_says(client, tiny_model):
    shown = client.post("/v1/inspect", json=SENTENCE).json()["shown"]
    translator = load_translator(tiny_model, device="cpu", dtype="float32")
    [[said]] = translator.translate([translator.prepare(*SENTENCE.values())], DecodingOptions())
    assert (shown["text"], shown["pieces"]) == (said.text, list(said.pieces))
    assert shown["score"] == pytest.approx(said.score, abs=1e-3)


def test_weights_of_every_layer_and_head_sum_to_one(client):
    answer = client.post("/v1/inspect", json=SENTENCE).json()
    S, T, H = len(answer["source"]["pieces"]), len(answer["target"]["pieces"]), answer["shape"]["heads"]
    shapes = {
        ("encoder", "attention"): (S, S),
        ("decoder", "attention"): (T, T),
        ("decoder", "cross"): (T, S),
    }
    for (stack, kind), (L, M) in shapes.items():
        for layer in answer[stack]["layers"]:
            assert len(layer[kind]) == H
            for head in layer[kind]:
                assert [len(row) for row in head] == [M] * L
                assert all(sum(row) == pytest.approx(1, abs=0.01) for row in head)
    assert len(answer["choices"]) == T


def test_what_is_changed_changes(client):
    plain = client.post("/v1/inspect", json=SENTENCE).json()
    other = plain["choices"][0]["alternatives"][1]
    forced = client.post("/v1/inspect", json=SENTENCE | {"prefix": [other["id"]]}).json()
    assert forced["shown"]["pieces"][0] == other["piece"]
    written = client.post("/v1/inspect", json=SENTENCE | {"prefix": "Hund"}).json()
    assert written["shown"]["text"].startswith("Hund")
    silent = client.post("/v1/inspect", json=SENTENCE | {"silent_heads": [HEAD]}).json()
    assert silent["choices"][0] != plain["choices"][0]


def test_one_head_has_the_weights_of_the_whole(client):
    whole = client.post("/v1/inspect", json=SENTENCE).json()
    head = client.post("/v1/inspect/head", json=SENTENCE | {"head": HEAD}).json()
    assert head["weights"] == whole["decoder"]["layers"][1]["cross"][2]
    own = client.post("/v1/inspect/head", json=SENTENCE | {"head": HEAD | {"part": "decoder"}}).json()
    assert own["scores"][0][1:] == [None] * (len(own["scores"]) - 1)


@pytest.mark.parametrize(
    ("change", "status", "field"),
    [
        ({"text": ""}, 400, "text"),
        ({"text": "cat " * 200}, 413, "text"),
        ({"beam_size": 17}, 400, "beam_size"),
        ({"temperature": 0}, 400, "temperature"),
        ({"prefix": [999_999]}, 400, "prefix"),
        ({"prefix": ["Hund"]}, 400, "prefix"),
        ({"silent_heads": [HEAD | {"layer": 9}]}, 400, "cross"),
        ({"target": "en"}, 400, "target"),
        ({"heads": []}, 400, "heads"),
    ],
)
def test_a_mistake_is_named(client, change, status, field):
    response = client.post("/v1/inspect", json=SENTENCE | change)
    assert (response.status_code, response.json()["error"]["field"]) == (status, field)


def test_a_sentence_that_is_translated_may_be_too_long_to_be_shown(client):
    text = "dog " * (MOST_PIECES)
    response = client.post("/v1/inspect", json=SENTENCE | {"text": text})
    assert response.status_code == 413
    assert str(MOST_PIECES) in response.json()["error"]["message"]


def test_code_is_served_as_it_runs_and_nothing_else(client):
    response = client.get("/source/model/attention.py")
    assert response.headers["content-type"].startswith("text/plain")
    assert "def attention_weights" in response.text
    for path in (
        "service/app.py",
        "model/../service/app.py",
        "pretrained/en-de/config.json",
        "model/none.py",
    ):
        assert client.get(f"/source/{path}").status_code == 404


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_document_is_a_page_with_the_anchors_that_views_link_to(client, language):
    response = client.get(f"/how-it-works/{language}")
    assert response.status_code == 200
    assert f'lang="{language}"' in response.text
    for anchor in (
        "pieces",
        "positions",
        "attention",
        "cross-attention",
        "masked",
        "next",
        "beam",
        "what-if",
    ):
        assert f'id="{anchor}"' in response.text
    assert client.get("/how-it-works/xx").status_code == 404


def test_every_view_links_to_a_paragraph_and_to_code_that_exist(client):
    documents = [client.get(f"/how-it-works/{language}").text for language in ("en", "zh")]
    pages = [
        path.read_text(encoding="utf-8")
        for path in sorted(PAGE.rglob("*"))
        if path.suffix in (".js", ".html")
    ]
    anchors = {name for page in pages for name in re.findall(r'data-anchor="#([\w-]+)"', page)}
    anchors |= {name for page in pages for name in re.findall(r'docLink\("([a-z-]+)"', page)}
    (of_sublayers,) = [line for page in pages for line in page.splitlines() if "ANCHORS = {" in line]
    anchors |= set(re.findall(r': "([a-z-]+)"', of_sublayers))
    assert len(anchors) == 10
    for anchor in anchors:
        assert all(f'id="{anchor}"' in document for document in documents), anchor
    for path, name in {
        link for page in pages for link in re.findall(r"source\.html#([\w/.]+\.py):(\w+)", page)
    }:
        code = client.get(f"/source/{path}").text
        assert re.search(rf"^\s*(def|class) {name}\b", code, flags=re.MULTILINE), (path, name)


def test_the_documents_show_pictures_that_are_there_and_link_to_code_that_can_be_read(client):
    english, chinese = (client.get(f"/how-it-works/{language}").text for language in ("en", "zh"))
    pictures = re.findall(r'src="(images/[\w.-]+)"', english)
    assert len(pictures) == 6 and pictures == re.findall(r'src="(images/[\w.-]+)"', chinese)
    assert all(client.get(f"/how-it-works/{picture}").status_code == 200 for picture in pictures)
    code = re.findall(r'href="\.\./static/source\.html#([\w/.]+)"', english)
    assert len(code) >= 10 and code == re.findall(r'href="\.\./static/source\.html#([\w/.]+)"', chinese)
    assert all(client.get(f"/source/{path}").status_code == 200 for path in code)
    assert client.get("/how-it-works/images/..%2fhow-it-works.md").status_code == 404
