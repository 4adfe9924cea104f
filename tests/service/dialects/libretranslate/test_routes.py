"""LibreTranslate's dialect, as its clients speak it."""

import json
import re

import pytest

FIELDS = {"q": "Über 1 + 1 & mehr", "source": "de", "target": "en"}
JSON = {"Content-Type": "application/json"}


def post(client, **fields):
    return client.post("/translate", json={"source": "en", "target": "de"} | fields)


def test_a_text_gets_exactly_a_translated_text(client):
    assert post(client, q="Hi.").json() == {"translatedText": "HI."}


def test_a_list_gets_a_list_with_empty_and_blank_items_kept(client):
    assert post(client, q=["Hello.", "", "   ", "World."]).json() == {
        "translatedText": ["HELLO.", "", "   ", "WORLD."]
    }
    assert post(client, q=[]).json() == {"translatedText": []}
    assert post(client, q=[""]).json() == {"translatedText": [""]}


def test_alternatives_come_when_asked_for_besides_the_best(client):
    assert post(client, q="Hi.", alternatives=2).json() == {
        "translatedText": "HI.",
        "alternatives": ["HI.!", "HI.!!"],
    }
    assert post(client, q=["Hi.", "7"], alternatives=1).json()["alternatives"] == [["HI.!"], []]
    assert "alternatives" not in post(client, q="Hi.", alternatives=0).json()


def test_json_both_forms_and_the_query_alone_give_the_same(client):
    answers = [
        client.post("/translate", json=FIELDS),
        client.post("/translate", data=FIELDS),
        client.post("/translate", files={name: (None, value) for name, value in FIELDS.items()}),
        client.post("/translate", params=FIELDS),
        client.post("/translate", params={"source": "de", "target": "en"}, data={"q": FIELDS["q"]}),
    ]
    assert [answer.json() for answer in answers] == [{"translatedText": "ÜBER 1 + 1 & MEHR"}] * 5


def test_a_plus_is_a_blank_and_its_code_a_plus(client):
    body = "q=a+b%2Bc&source=en&target=de"
    headers = {"Content-Type": "application/x-www-form-urlencoded; charset=UTF-8"}
    assert client.post("/translate", content=body, headers=headers).json() == {"translatedText": "A B+C"}


def test_raw_utf8_in_a_form_is_read_as_such(client):
    headers = {"Content-Type": "application/x-www-form-urlencoded"}
    body = "q=Grüße&source=de&target=en".encode()
    assert client.post("/translate", content=body, headers=headers).json() == {"translatedText": "GRÜSSE"}
    assert (
        client.post("/translate", content=body.decode().encode("latin-1"), headers=headers).status_code == 400
    )


def test_a_repeated_q_in_a_form_is_a_list(client):
    answer = client.post("/translate", data={"q": ["a", "b"], "source": "en", "target": "de"})
    assert answer.json() == {"translatedText": ["A", "B"]}


def test_line_breaks_of_forms_become_what_was_typed_and_those_of_json_stay(client):
    fields = {"q": "a\r\nb", "source": "en", "target": "de"}
    assert client.post("/translate", data=fields).json() == {"translatedText": "A\nB"}
    assert client.post("/translate", json=fields).json() == {"translatedText": "A\r\nB"}


def test_what_clients_send_besides_is_no_obstacle(client):
    fields = {"api_key": "", "secret": None, "apiKey": "x", "format": "", "alternatives": None}
    assert post(client, q="Hi.", **fields).json() == {"translatedText": "HI."}
    assert client.post("/translate", data=FIELDS | {"format": "text", "alternatives": "1"}).status_code == 200


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"q": None}, "Invalid request: missing q parameter"),
        ({"q": "a", "target": None}, "Invalid request: missing target parameter"),
        ({"q": 5}, "q: must be a string or a list of strings, not a number"),
        ({"q": {"a": 1}}, "not an object"),
        ({"q": ["a", None]}, "item 1 must be a string, not null"),
        ({"q": "a", "source": 7}, "source"),
        ({"q": "a", "source": "zz"}, "zz is not supported"),
        ({"q": "a", "format": "xml"}, "format: Input should be 'text' or 'html'"),
        ({"q": "a", "glossary": {"a": 1}}, "glossary.a"),
        ({"q": "a", "alternatives": "many"}, "Invalid request: alternatives parameter is not a number"),
        ({"q": "a", "alternatives": -1}, "Invalid request: alternatives parameter must be >= 0"),
        ({"q": "a", "alternatives": 17}, "Invalid request: alternatives parameter must be <= 16"),
    ],
)
def test_errors_are_one_text(client, fields, said):
    response = post(client, **fields)
    assert response.status_code == 400
    assert list(response.json()) == ["error"]
    assert said in response.json()["error"]


def test_the_texts_that_clients_look_for(make_client, translator):
    client = make_client(translator, max_text_characters=5)
    response = post(client, q="123456")
    assert response.status_code == 400
    assert response.json()["error"] == "Invalid request: request (6) exceeds text limit (5)"


@pytest.mark.parametrize(
    ("content_type", "status"),
    [
        ("text/plain", 415),
        (None, 415),
        ("application/json; charset=iso-8859-1", 415),
        ("application/xml", 415),
    ],
)
def test_other_kinds_of_body_are_refused_in_json(client, content_type, status):
    headers = {"Content-Type": content_type} if content_type else {}
    response = client.post("/translate", content=b'{"q":"a","source":"en","target":"de"}', headers=headers)
    assert (response.status_code, list(response.json())) == (status, ["error"])


@pytest.mark.parametrize(
    "content_type",
    ["application/json;charset=utf-8", "Application/JSON", 'application/json; charset="UTF-8"'],
)
def test_a_charset_or_other_case_of_json_is_json(client, content_type):
    body = b'{"q":"\xc3\xa4","source":"en","target":"de"}'
    assert client.post("/translate", content=body, headers={"Content-Type": content_type}).json() == {
        "translatedText": "Ä"
    }


def test_languages_answers_get_and_post_with_names_and_targets(client):
    expected = [
        {"code": "de", "name": "German", "targets": ["de", "en"]},
        {"code": "en", "name": "English", "targets": ["de", "en"]},
    ]
    assert client.get("/languages").json() == client.post("/languages").json() == expected


def test_get_translate_is_405_in_the_same_shape(client):
    response = client.get("/translate")
    assert (response.status_code, list(response.json())) == (405, ["error"])
    assert response.headers["Allow"] == "POST"


def test_a_broken_multipart_is_a_400(client):
    headers = {"Content-Type": "multipart/form-data"}
    assert client.post("/translate", content=b"--x", headers=headers).status_code == 400
    headers = {"Content-Type": "multipart/form-data; boundary=x"}
    assert client.post("/translate", content=b"junk", headers=headers).status_code == 400


ENGLISH, GERMAN = "Where is the next train station?", "Ich habe heute leider keine Zeit für dich."


def test_auto_tells_the_language_of_each_text(client):
    answer = post(client, q=GERMAN, source="auto", target="en").json()
    assert answer["detectedLanguage"]["language"] == "de"
    assert answer["translatedText"] == GERMAN.upper()
    answer = post(client, q=[ENGLISH, GERMAN, "😀", ""], source="AUTO", target="de").json()
    assert [one["language"] for one in answer["detectedLanguage"]] == ["en", "de", "en", "en"]
    assert [one["confidence"] for one in answer["detectedLanguage"]][2:] == [0, 0]
    assert answer["translatedText"] == [ENGLISH.upper(), GERMAN, "😀", ""]
    assert post(client, q=[], source="auto").json() == {"translatedText": [], "detectedLanguage": []}


@pytest.mark.parametrize("format", ["text", "html"])
def test_a_text_that_is_in_the_wanted_language_comes_back_as_it_is(client, translator, format):
    text = f"{GERMAN}  \t<b>x</b> &amp; y\n"
    for source in ("auto", "de", "DE-at"):
        assert (
            post(client, q=text, source=source, target="de", format=format).json()["translatedText"] == text
        )
    assert translator.decoded == []


def test_what_has_no_letter_comes_back_as_it_is_and_asks_no_model(client, translator):
    texts = ["|", "-", "...", "？！", "—", "•", "* * *", "12345", "3.14", "1. ", "::", "#", "😀", "(1)"]
    assert post(client, q=texts).json()["translatedText"] == texts
    assert translator.decoded == []


def test_confidence_is_a_whole_number_on_the_wire(client):
    bodies = [
        client.post("/translate", json={"q": ENGLISH, "source": "auto", "target": "de"}).text,
        client.post("/detect", json={"q": ENGLISH}).text,
        client.post("/detect", json={"q": "12345"}).text,
    ]
    for body in bodies:
        assert re.search(r'"confidence":\d+[,}]', body), body


def test_detect_ranks_the_served_languages_only(client):
    ranked = client.post("/detect", data={"q": GERMAN}).json()
    assert ranked[0]["language"] == "de"
    assert {one["language"] for one in ranked} <= {"de", "en"}
    confidences = [one["confidence"] for one in ranked]
    assert confidences == sorted(confidences, reverse=True)
    for nothing in ("", "12345", "😀", "Где ближайший вокзал?"):
        assert client.post("/detect", json={"q": nothing}).json() == [{"confidence": 0, "language": "en"}]


def test_frontend_settings_has_what_clients_require(make_client, translator):
    settings = make_client(translator, max_text_characters=77).get("/frontend/settings").json()
    assert settings["charLimit"] == 77
    assert settings["apiKeys"] is settings["keyRequired"] is settings["suggestions"] is False
    assert settings["language"] == {
        "source": {"code": "en", "name": "English"},
        "target": {"code": "de", "name": "German"},
    }
    assert isinstance(settings["frontendTimeout"], int)


def test_suggestions_are_refused_until_they_are_switched_on(client, make_client, translator, tmp_path):
    suggestion = {"q": "Hi.", "s": "Hallo.", "source": "EN", "target": "de"}
    refused = client.post("/suggest", json=suggestion)
    assert (refused.status_code, refused.json()) == (
        403,
        {"error": "Suggestions are disabled on this server."},
    )
    open_client = make_client(translator, suggestions="on", state_folder=str(tmp_path))
    assert open_client.post("/suggest", data=suggestion).json() == {"success": True}
    [line] = (tmp_path / "suggestions.jsonl").read_text().splitlines()
    kept = json.loads(line)
    assert (kept["text"], kept["translation"], kept["source"]) == ("Hi.", "Hallo.", "en")
    missing = open_client.post("/suggest", json={"q": "a", "source": "en", "target": "de"})
    assert missing.json() == {"error": "Invalid request: missing s parameter"}


def test_the_title_of_the_spec_is_the_operators_choice(client, make_client, translator):
    spec = client.get("/spec").json()
    assert spec["info"]["title"] == "Dragoman"
    assert {"/translate", "/detect", "/languages"} <= set(spec["paths"])
    assert not any(path.startswith(("/v1", "/v2")) for path in spec["paths"])
    renamed = make_client(translator, spec_title="LibreTranslate").get("/spec").json()
    assert renamed["info"]["title"] == "LibreTranslate" and renamed["info"]["version"]


def test_html_stays_html_and_text_stays_text(client):
    q = "<p>a &lt;script&gt; <b>c</b></p>"
    assert post(client, q=q, format="html").json() == {"translatedText": "<p>A &lt;script&gt; <b>C</b></p>"}
    same = post(client, q=q, format="html", target="en").json()["translatedText"]
    assert same == q


def test_terms_of_a_glossary_are_said_as_it_says(client):
    answer = post(client, q=["My dog.", "My dogs."], glossary={"dog": "Wauwau"}).json()
    assert answer["translatedText"] == ["MY Wauwau.", "MY DOGS."]
