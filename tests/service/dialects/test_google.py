"""Google's dialect, as its client for basic translation speaks it."""

import pytest

PATH = "/language/translate/v2"
GERMAN = "Ich habe heute leider keine Zeit für dich."
# What the client for Python sends, nulls and all.
NULLS: dict[str, object] = {"cid": [], "format": None, "model": None}


def test_texts_are_translated_and_their_language_told(client):
    body = {"target": "de", "q": ["Where is the next train station?", GERMAN], "source": None} | NULLS
    answer = client.post(f"{PATH}?prettyPrint=false", json=body).json()
    assert answer["data"]["translations"] == [
        {"translatedText": "WHERE IS THE NEXT TRAIN STATION?", "detectedSourceLanguage": "en"},
        {"translatedText": GERMAN, "detectedSourceLanguage": "de"},
    ]
    named = client.post(PATH, json={"target": "de", "q": "Hi.", "source": "en"}).json()
    assert named == {"data": {"translations": [{"translatedText": "HI."}]}}


def test_a_query_is_enough(client):
    answer = client.get(PATH, params={"q": ["a", "b"], "source": "en", "target": "de", "format": "text"})
    assert [one["translatedText"] for one in answer.json()["data"]["translations"]] == ["A", "B"]


def test_languages_are_told_of_each_text(client):
    [[first], [second]] = client.post(f"{PATH}/detect", json={"q": [GERMAN, "1"]}).json()["data"][
        "detections"
    ]
    assert first["language"] == "de" and 0.9 < first["confidence"] <= 1
    assert (second["language"], second["confidence"]) == ("en", 0)


def test_languages_have_names_when_a_language_for_them_is_named(client):
    listed = client.get(f"{PATH}/languages", params={"target": "en"}).json()["data"]["languages"]
    assert listed == [{"language": "de", "name": "German"}, {"language": "en", "name": "English"}]
    assert client.get(f"{PATH}/languages").json()["data"]["languages"][0] == {"language": "de"}


@pytest.mark.parametrize(
    "body", [{"target": "de"}, {"q": "a"}, {"q": 5, "target": "de"}, {"q": "a", "target": "zz"}]
)
def test_errors_have_a_code_a_message_and_a_condition(client, body):
    response = client.post(PATH, json=body)
    error = response.json()["error"]
    assert (response.status_code, error["code"], error["status"]) == (400, 400, "INVALID_ARGUMENT")
    assert isinstance(error["message"], str)
