"""A translation that was cut says so in every dialect, and one that was not says nothing of it."""

import pytest

from model.translator import Hypothesis

TEXTS = ["Long enough to be cut.", "Short."]


@pytest.fixture
def client(make_client, translator, monkeypatch):
    """Of a model that is out of breath after a few words."""

    def hypotheses(text, options):
        return [Hypothesis(text[:10].upper(), -1.0, (), (), truncated=len(text) > 10)]

    client = make_client(translator)
    monkeypatch.setattr(translator, "hypotheses", hypotheses)
    return client


def test_libretranslate(client):
    pair = {"source": "en", "target": "de"}
    ask = [client.post("/translate", json={"q": q} | pair).json() for q in (*TEXTS, TEXTS)]
    assert ask[0] == {"translatedText": "LONG ENOUG", "truncated": True}
    assert ask[1] == {"translatedText": "SHORT."}
    assert ask[2] == {"translatedText": ["LONG ENOUG", "SHORT."], "truncated": [True, False]}


def test_deepl(client):
    answer = client.post("/v2/translate", json={"text": TEXTS, "source_lang": "EN", "target_lang": "DE"})
    assert [one.get("truncated") for one in answer.json()["translations"]] == [True, None]


def test_google(client):
    answer = client.post("/language/translate/v2", json={"q": TEXTS, "source": "en", "target": "de"})
    assert [one.get("truncated") for one in answer.json()["data"]["translations"]] == [True, None]


def test_azure(client):
    query = {"api-version": "3.0", "from": "en", "to": "de"}
    answer = client.post("/translate", params=query, json=[{"Text": text} for text in TEXTS])
    assert [one["translations"][0].get("truncated") for one in answer.json()] == [True, None]
