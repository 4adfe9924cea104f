"""Azure's dialect, beside LibreTranslate's on the same paths."""

import pytest

GERMAN = "Ich habe heute leider keine Zeit für dich."
OLD, NEW = {"api-version": "3.0"}, {"api-version": "2026-06-06"}


def test_version_3_has_its_languages_in_the_query(client):
    answer = client.post(
        "/translate", params=OLD | {"to": ["en", "de"]}, json=[{"Text": GERMAN}, {"text": "1"}]
    )
    first, second = answer.json()
    assert first["detectedLanguage"]["language"] == "de"
    assert first["translations"] == [{"to": "en", "text": GERMAN.upper()}, {"to": "de", "text": GERMAN}]
    assert [one["text"] for one in second["translations"]] == ["1", "1"]
    named = client.post("/translate", params=OLD | {"from": "en", "to": "de"}, json=[{"Text": "Hi."}])
    assert named.json() == [{"translations": [{"to": "de", "text": "HI."}]}]


def test_later_versions_have_targets_for_each_input_and_keep_their_order(client):
    inputs = [
        {"text": "Hi.", "language": "en", "targets": [{"language": "de"}]},
        {"text": GERMAN, "language": "de", "targets": [{"language": "de"}, {"language": "en"}]},
        {"text": GERMAN, "targets": [{"language": "en"}, {"language": "de"}]},
    ]
    answer = client.post("/translate", params=NEW, json={"inputs": inputs}).json()
    assert [[one["language"] for one in item["translations"]] for item in answer["value"]] == [
        ["de"],
        ["de", "en"],
        ["en", "de"],
    ]
    assert answer["value"][0] == {"translations": [{"language": "de", "text": "HI."}]}
    assert answer["value"][1]["translations"][1]["text"] == GERMAN.upper()
    assert answer["value"][2]["detectedLanguage"]["language"] == "de"


def test_languages_have_names_and_a_direction(client):
    listed = client.get("/languages", params=OLD | {"scope": "translation"}).json()["translation"]
    assert listed["de"] == {"name": "German", "nativeName": "German", "dir": "ltr", "models": []}


def test_without_a_version_the_paths_are_libretranslates(client):
    assert client.get("/languages").json()[0]["code"] == "de"
    body = {"q": "Hi.", "source": "en", "target": "de"}
    assert client.post("/translate", json=body).json() == {"translatedText": "HI."}
    assert client.post("/detect", params=OLD, json={"q": "Hi."}).json()[0]["language"]


@pytest.mark.parametrize(
    ("query", "body"),
    [
        (OLD, [{"Text": "a"}]),
        (OLD | {"to": "de"}, [{"Txt": "a"}]),
        (OLD | {"to": "zz"}, [{"Text": "a"}]),
        (NEW, {"inputs": [{"text": "a", "targets": []}]}),
        (NEW, {"inputs": [{"text": "a", "targets": [{"language": "zz"}]}]}),
        (NEW, {}),
        (NEW, "a"),
    ],
)
def test_errors_have_a_code_and_a_message(client, query, body):
    response = client.post("/translate", params=query, json=body)
    assert response.status_code == 400
    assert response.json()["error"]["code"] == 400000
    assert isinstance(response.json()["error"]["message"], str)
    assert response.headers["X-RequestId"] == response.headers["X-Request-ID"]
