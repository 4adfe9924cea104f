"""DeepL's dialect, as its libraries and others speak it."""

import re

import pytest

ENGLISH, GERMAN = "Where is the next train station?", "Ich habe heute leider keine Zeit für dich."
PAIR = {"source_lang": "EN", "target_lang": "DE"}


def post(client, **fields):
    return client.post("/v2/translate", json=PAIR | fields)


def test_each_text_gets_exactly_a_language_and_a_text(client):
    answer = post(client, text=["Hi.", "", "World."])
    assert answer.json() == {
        "translations": [{"detected_source_language": "EN", "text": text} for text in ("HI.", "", "WORLD.")]
    }
    assert re.fullmatch(r"[0-9a-f]{16}", answer.headers["X-Trace-ID"])


def test_billed_characters_and_the_model_come_when_asked_for(client, translator):
    [translation] = post(client, text=["Häuser 😀"], show_billed_characters=True).json()["translations"]
    assert translation["billed_characters"] == 8
    for model_type, strategy in [("latency_optimized", "greedy"), ("prefer_quality_optimized", "beam")]:
        translator.forget()
        [translation] = post(client, text=["Hi."], model_type=model_type).json()["translations"]
        assert translation["model_type_used"] == model_type.removeprefix("prefer_")
        assert {options.strategy for options in translator.options} == {strategy}


def test_json_both_forms_and_the_query_give_the_same(client):
    fields = {**PAIR, "text": ["a+b", "c&d"]}
    multipart = [(name, (None, value)) for name, value in [*PAIR.items(), ("text", "a+b"), ("text", "c&d")]]
    answers = [
        client.post("/v2/translate", json=fields),
        client.post("/v2/translate", data=fields),
        client.post("/v2/translate", files=multipart),
        client.post("/v2/translate", params=fields),
        client.get("/v2/translate", params=fields),
        client.post(
            "/v2/translate", json=fields, headers={"Content-Type": "application/json; charset=utf-8"}
        ),
    ]
    assert [[one["text"] for one in answer.json()["translations"]] for answer in answers] == [
        ["A+B", "C&D"]
    ] * len(answers)


def test_a_missing_source_is_told_from_each_text(client):
    answer = client.post("/v2/translate", json={"text": [ENGLISH, GERMAN, "12345"], "target_lang": "EN-GB"})
    translations = answer.json()["translations"]
    assert [one["detected_source_language"] for one in translations] == ["EN", "DE", "EN"]
    assert [one["text"] for one in translations] == [ENGLISH, GERMAN.upper(), "12345"]


@pytest.mark.parametrize("target", ["EN", "en", "EN-US", "en-gb", "EN_GB", " EN-US "])
def test_targets_are_read_with_and_without_region(client, target):
    answer = client.post("/v2/translate", data={"text": "gut", "source_lang": "de", "target_lang": target})
    assert answer.json()["translations"][0]["text"] == "GUT"


def test_what_clients_send_besides_is_no_obstacle(client):
    form = {
        **PAIR,
        "text": "a",
        "formality": "default ",
        "split_sentences": "nonewlines",
        "preserve_formatting": "1",
        "outline_detection": "0",
        "show_billed_characters": "1",
        "context": "about trains",
        "glossary_id": "",
        "tag_handling_version": "v2",
    }
    assert client.post("/v2/translate", data=form).status_code == 200
    values = {"formality": "prefer_more", "split_sentences": 0, "tag_handling": None, "source_lang": None}
    assert post(client, text=["a"], **values).status_code == 200


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({}, "Parameter 'text' not specified."),
        ({"text": ["a"], "target_lang": ""}, "Parameter 'target_lang' not specified."),
        (
            {"text": ["a"], "target_lang": "ZZ"},
            "Value for 'target_lang' not supported: ZZ; supported: DE, EN-GB",
        ),
        (
            {"text": ["a"], "source_lang": "ZZ"},
            "Value for 'source_lang' not supported: ZZ; supported: DE, EN.",
        ),
        ({"text": 5}, "must be a list of strings, not a number"),
        ({"text": ["a", None]}, "item 1 must be a string, not null"),
        ({"text": ["a"], "target_lang": 7}, "target_lang"),
        ({"text": ["a"], "formality": "more"}, "'formality' is not supported"),
        ({"text": ["a"], "formality": "rude"}, "formality"),
        ({"text": ["a"], "split_sentences": "2"}, "split_sentences"),
        ({"text": ["a"], "style_id": "x"}, "'style_id' is not supported by this service."),
        ({"text": ["a"], "custom_instructions": ["be kind"]}, "'custom_instructions' is not supported"),
    ],
)
def test_errors_are_one_message(client, fields, said):
    response = post(client, **fields)
    assert response.status_code == 400
    assert list(response.json()) == ["message"]
    assert said in response.json()["message"]


def test_too_much_is_413(make_client, translator):
    client = make_client(translator, max_text_characters=5, max_texts=2)
    for texts in (["123456"], ["a", "b", "c"]):
        response = post(client, text=texts)
        assert (response.status_code, list(response.json())) == (413, ["message"])


def test_a_broken_body_is_a_400(client):
    headers = {"Content-Type": "application/json"}
    for body in (b"{", b"[]", b'{"text": ["a"], "text": []}', b'{"text": NaN}', b'{"text": ["\\ud800"]}'):
        response = client.post("/v2/translate", content=body, headers=headers)
        assert (response.status_code, list(response.json())) == (400, ["message"])
    response = client.post("/v2/translate", content=b"x", headers={"Content-Type": "text/plain"})
    assert (response.status_code, list(response.json())) == (415, ["message"])


def test_languages_are_sources_unless_targets_are_asked_for_in_whatever_place(client):
    sources = [{"language": "DE", "name": "German"}, {"language": "EN", "name": "English"}]
    assert client.get("/v2/languages").json() == sources
    assert client.get("/v2/languages", params={"type": "source"}).json() == sources
    in_query = client.get("/v2/languages", params={"type": "target"}).json()
    in_body = client.request("GET", "/v2/languages", data={"type": "target"}).json()
    assert in_query == in_body
    assert [language["language"] for language in in_query] == ["DE", "EN-GB", "EN-US"]
    assert {language["supports_formality"] for language in in_query} == {False}
    assert client.get("/v2/languages", params={"type": "x"}).status_code == 400


def test_usage_counts_what_was_translated_and_nothing_else(make_client, translator):
    client = make_client(translator, characters_per_month=20)
    post(client, text=["12345 a", "b"])
    post(client, text=["BOOM"])
    post(client, text=["a"], target_lang="ZZ")
    assert client.get("/v2/usage").json() == {"character_count": 8, "character_limit": 20}
    refused = post(client, text=["0123456789abc"])
    assert refused.status_code == 456
    assert "12 of 20 are left" in refused.json()["message"]
    assert (
        client.post("/translate", json={"q": "0123456789abc", "source": "en", "target": "de"}).status_code
        == 403
    )


def test_without_a_limit_usage_says_a_very_large_one(client):
    assert client.get("/v2/usage").json() == {"character_count": 0, "character_limit": 1_000_000_000_000}


@pytest.fixture
def glossary(client):
    body = {"name": "g", "source_lang": "EN", "target_lang": "DE", "entries": "dog\tWauwau\ncat\tMieze"}
    return client.post("/v2/glossaries", json=body).json()["glossary_id"]


def text_of(response):
    assert response.status_code == 200, response.text
    [translation] = response.json()["translations"]
    return translation["text"]


def test_a_glossary_settles_its_terms(client, glossary):
    assert text_of(post(client, text=["My dog."], glossary_id=glossary)) == "MY Wauwau."
    assert text_of(post(client, text=["My dog."], glossary_ids=[glossary])) == "MY Wauwau."
    other = {"name": "h", "source_lang": "en", "target_lang": "de", "entries": "dog\tHund\ncow\tKuh"}
    second = client.post("/v2/glossaries", json=other).json()["glossary_id"]
    both = {"glossary_ids": f"{glossary},{second}", "text": "My dog and my cow."}
    assert text_of(client.post("/v2/translate", data=PAIR | both)) == "MY Wauwau AND MY Kuh."


@pytest.mark.parametrize(
    ("fields", "status"),
    [
        ({"glossary_id": "none"}, 404),
        ({"glossary_id": "KNOWN", "source_lang": None}, 400),
        ({"glossary_id": "KNOWN", "glossary_ids": ["KNOWN"]}, 400),
        ({"glossary_id": "KNOWN", "source_lang": "DE", "target_lang": "EN-US"}, 404),
        ({"glossary_ids": ["KNOWN"] * 6}, 400),
    ],
)
def test_a_glossary_that_does_not_fit_is_refused(client, glossary, fields, status):
    known = {
        name: [glossary] * len(value) if isinstance(value, list) else glossary if value == "KNOWN" else value
        for name, value in fields.items()
    }
    response = post(client, text=["a"], **known)
    assert (response.status_code, list(response.json())) == (status, ["message"])


def test_tags_are_handled_as_asked(client):
    html = "<p>a <B>b</B> &amp; <code>c</code></p>"
    assert text_of(post(client, text=[html], tag_handling="html")) == "<p>A <B>B</B> &amp; <code>c</code></p>"
    xml = '<s>a <x id="7"></x> <i>b</i></s>'
    assert text_of(post(client, text=[xml], tag_handling="xml")) == '<s>A <x id="7"></x> <i>B</i></s>'
    ignored = "<s>a <keep>b</keep></s>"
    for tags in ("keep,other", ["keep"]):
        answer = post(client, text=[ignored], tag_handling="xml", ignore_tags=tags)
        assert text_of(answer) == "<s>A <keep>b</keep></s>"
    form = PAIR | {"text": ignored, "tag_handling": "xml", "ignore_tags": "a,keep", "outline_detection": "0"}
    assert text_of(client.post("/v2/translate", data=form)) == "<s>A <keep>b</keep></s>"
    broken = post(client, text=["<s>a"], tag_handling="xml")
    assert (broken.status_code, list(broken.json())) == (400, ["message"])


def test_split_sentences_decides_what_is_one_sentence(client, translator):
    heard = {}
    animals = {"1": "dog", "0": "cat", "nonewlines": "owl"}  # what was answered is remembered
    for value, animal in animals.items():
        translator.forget()
        text = f"One {animal}.\nTwo {animal}s. Three {animal}s"
        assert post(client, text=[text], split_sentences=value).status_code == 200
        heard[value] = sorted(set(translator.decoded))
    assert heard["1"] == ["One dog.", "Three dogs", "Two dogs."]
    assert heard["0"] == ["One cat.", "Two cats. Three cats"]
    assert heard["nonewlines"] == ["One owl.", "Three owls", "Two owls."]
