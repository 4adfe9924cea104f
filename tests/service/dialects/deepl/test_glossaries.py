"""Glossaries of one dictionary under /v2, of several under /v3; the libraries' JSON and forms."""

import pytest

ONE = {
    "name": "Trains",
    "source_lang": "EN",
    "target_lang": "de",
    "entries_format": "tsv",
    "entries": "rail\tGleis",
}


@pytest.fixture
def glossary(client):
    response = client.post("/v2/glossaries", json=ONE)
    assert response.status_code == 201
    return response.json()


def test_a_glossary_is_made_listed_read_and_deleted(client, glossary):
    assert (glossary["name"], glossary["ready"], glossary["entry_count"]) == ("Trains", True, 1)
    assert (glossary["source_lang"], glossary["target_lang"]) == ("en", "de")
    assert glossary["creation_time"].endswith("Z") and "." in glossary["creation_time"]
    path = f"/v2/glossaries/{glossary['glossary_id']}"
    assert client.get("/v2/glossaries").json() == {"glossaries": [glossary]}
    assert client.get(path).json() == glossary
    entries = client.get(f"{path}/entries", headers={"Accept": "text/tab-separated-values"})
    assert entries.text == "rail\tGleis"
    assert entries.headers["Content-Type"].startswith("text/tab-separated-values")
    deleted = client.delete(path)
    assert (deleted.status_code, deleted.content) == (204, b"")
    for gone in (client.get(path), client.get(f"{path}/entries"), client.delete(path)):
        assert (gone.status_code, list(gone.json())) == (404, ["message"])


def test_a_form_and_csv_make_the_same(client):
    form = client.post("/v2/glossaries", data=ONE).json()
    csv = ONE | {"entries_format": "csv", "entries": '"rail","Gleis",en,de\r\n\r\n'}
    for made in (form, client.post("/v2/glossaries", json=csv).json()):
        assert client.get(f"/v2/glossaries/{made['glossary_id']}/entries").text == "rail\tGleis"


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"name": " "}, "name"),
        ({"name": None}, "name"),
        ({"source_lang": "ZZ"}, "source_lang"),
        ({"target_lang": "en"}, "no translating from EN to en"),
        ({"entries_format": "xml"}, "tsv or csv, not xml"),
        ({"entries": ""}, "at least one term"),
        ({"entries": "rail"}, "line 1: must be a term and its translation, not 1 columns"),
        ({"entries": "a\tb\n\na\tc"}, "line 3: a is there already"),
        ({"entries": "a\t"}, "line 1: a term or its translation is empty"),
        ({"entries": "a\tb\u2028"}, "line 1: a term"),
        ({"entries": "a\x07\tb"}, "control character"),
        ({"entries": "a" * 1025 + "\tb"}, "more than 1024 bytes"),
        ({"entries": {"a": "b"}}, "entries must be a string, not an object"),
    ],
)
def test_what_is_wrong_is_named(client, fields, said):
    response = client.post("/v2/glossaries", json=ONE | fields)
    if fields.get("entries") == "a\tb\u2028":
        assert response.status_code == 201  # white space around a term is no part of it
        return
    assert response.status_code == 400
    assert said in response.json()["message"]


def test_several_dictionaries_are_changed_one_by_one(client):
    reverse = {"source_lang": "DE", "target_lang": "EN", "entries": "Gleis\trail", "entries_format": "tsv"}
    forward = {name: value for name, value in ONE.items() if name != "name"}
    made = client.post("/v3/glossaries", json={"name": "m", "dictionaries": [forward, reverse]})
    assert made.status_code == 201
    path = f"/v3/glossaries/{made.json()['glossary_id']}"
    assert [one["entry_count"] for one in made.json()["dictionaries"]] == [1, 1]

    more = forward | {"entries": "rail\tSchiene\ntrain\tZug"}
    patched = client.patch(path, json={"name": "n", "dictionaries": [more]}).json()
    assert (patched["name"], patched["dictionaries"][0]["entry_count"]) == ("n", 2)
    pair = {"source_lang": "EN", "target_lang": "DE"}
    [dictionary] = client.get(f"{path}/entries", params=pair).json()["dictionaries"]
    assert dictionary["entries"] == "rail\tSchiene\ntrain\tZug"

    put = client.put(f"{path}/dictionaries", json=forward)
    assert put.json() == {"source_lang": "en", "target_lang": "de", "entry_count": 1}
    assert client.get(f"/v2/glossaries/{made.json()['glossary_id']}").status_code == 404
    assert client.delete(f"{path}/dictionaries", params=pair).status_code == 204
    assert client.delete(f"{path}/dictionaries", params=pair).status_code == 404
    assert client.get(f"{path}/entries", params=pair).json() == {"dictionaries": []}
    assert client.get(path).json()["dictionaries"][0]["source_lang"] == "de"
    assert client.delete(path).status_code == 204
    assert client.get("/v3/glossaries").json() == {"glossaries": []}


def test_dictionaries_come_as_numbered_form_fields_too(client):
    form = {"name": "m"}
    for number, entries in enumerate(("a\tb", "b\ta")):
        source, target = ("en", "de") if number == 0 else ("de", "en")
        form |= {
            f"dictionaries[{number}].source_lang": source,
            f"dictionaries[{number}].target_lang": target,
            f"dictionaries[{number}].entries": entries,
            f"dictionaries[{number}].entries_format": "tsv",
        }
    made = client.post("/v3/glossaries", data=form)
    assert [one["source_lang"] for one in made.json()["dictionaries"]] == ["en", "de"]
    assert client.post("/v3/glossaries", data={"name": "m"}).status_code == 400
    assert client.post("/v3/glossaries", json={"name": "m", "dictionaries": "x"}).status_code == 400


def test_pairs_are_the_directions_of_the_model(client):
    assert client.get("/v2/glossary-language-pairs").json() == {
        "supported_languages": [
            {"source_lang": "de", "target_lang": "en"},
            {"source_lang": "en", "target_lang": "de"},
        ]
    }
