"""Requests in the shape in which well-known applications send them, and what each of them insists on in the answer.

The shapes are facts of those applications; texts and keys are this project's own.
"""

import json
import re

import pytest

from service.keys import hash_of

ENGLISH = "The next train leaves from platform three."
GERMAN = "Der nächste Zug fährt von Gleis drei."
JSON = {"Content-Type": "application/json"}


def send(client, method, path, *, body=None, form=None, headers=None):
    """As bytes: nothing about the request is left to the library that sends it."""
    if body is not None:
        content = json.dumps(body, ensure_ascii=False).encode()
        return client.request(method, path, content=content, headers=JSON | (headers or {}))
    headers = {"Content-Type": "application/x-www-form-urlencoded"} | (headers or {})
    return client.request(method, path, content=form, headers=headers if form is not None else None)


class TestMastodon:
    """Reads `targets` of every language; texts and what is detected have to be lists; knows 429, and 403 as a quota."""

    def test_it_learns_the_directions(self, client):
        for language in send(client, "GET", "/languages").json():
            assert {"code", "targets"} <= set(language)

    @pytest.mark.parametrize("key", [None, ""])
    def test_it_translates_a_post_of_unknown_language(self, client, key):
        texts = [f"<p>{GERMAN}</p>", "Zug", ""]
        body = {"q": texts, "source": "auto", "target": "en", "format": "html", "api_key": key}
        answer = send(client, "POST", "/translate", body=body).json()
        assert isinstance(answer["translatedText"], list) and len(answer["translatedText"]) == 3
        assert answer["translatedText"][0] == f"<p>{GERMAN.upper()}</p>"
        assert answer["detectedLanguage"][0]["language"] == "de"

    def test_older_versions_send_one_text_and_read_one(self, client):
        body = {"q": ENGLISH, "source": "en", "target": "de", "format": "html", "api_key": None}
        assert send(client, "POST", "/translate", body=body).json()["translatedText"] == ENGLISH.upper()

    def test_it_tells_a_quota_from_haste(self, make_client, translator):
        body = {"q": [ENGLISH], "source": "en", "target": "de", "format": "html", "api_key": "k"}
        poor = make_client(translator, api_keys=f"m={hash_of('k')}", characters_per_month=5)
        assert send(poor, "POST", "/translate", body=body).status_code == 403
        slow = make_client(translator, requests_per_minute=1)
        statuses = [send(slow, "POST", "/translate", body=body).status_code for _ in range(2)]
        assert statuses == [200, 429]


class TestWeblateWithLibreTranslate:
    """Sends up to 20 texts with its placeholders as [X12X]; 401, 403, 429, 456 or 503 would switch it off."""

    def test_it_translates_a_batch_by_index(self, client):
        texts = [f"Platform {number} is [X{number}X]closed[X{number + 1}X]." for number in range(20)]
        body = {"api_key": "", "q": texts, "source": "en", "target": "de"}
        answer = send(client, "POST", "/translate", body=body).json()
        assert len(answer["translatedText"]) == 20
        for text, translated in zip(texts, answer["translatedText"], strict=True):
            assert sorted(re.findall(r"\[X\d+X\]", translated)) == sorted(re.findall(r"\[X\d+X\]", text))

    def test_a_language_that_is_not_there_does_not_switch_it_off(self, client):
        body = {"api_key": "", "q": ["a"], "source": "en", "target": "xx"}
        assert send(client, "POST", "/translate", body=body).status_code == 400


DEEPL_KEY = {"Authorization": "DeepL-Auth-Key this-projects-own"}


class TestWeblateWithDeepL:
    """Sends escaped XML with <x id> for its placeholders, and codes without a region; keeps what comes back escaped."""

    def test_it_asks_for_languages_in_the_query(self, client):
        for kind in ("source", "target"):
            listed = send(client, "GET", f"/v2/languages?type={kind}", headers=DEEPL_KEY).json()
            assert all(isinstance(one["language"], str) for one in listed)

    @pytest.mark.parametrize("formality", ["default", "default ", "prefer_less"])
    def test_it_translates_with_placeholders(self, client, formality):
        body = {
            "text": ['Open <x id="7"></x> &amp; close &lt;b&gt;'],
            "source_lang": "EN",
            "target_lang": "DE",
            "formality": formality,
            "tag_handling": "xml",
            "ignore_tags": ["x"],
        }
        [translation] = send(client, "POST", "/v2/translate", body=body, headers=DEEPL_KEY).json()[
            "translations"
        ]
        assert '<x id="7"></x>' in translation["text"]
        assert "&amp;" in translation["text"] and "&lt;b&gt;" in translation["text"].lower()

    def test_it_translates_into_english_without_a_region(self, client):
        body = {"text": [GERMAN], "source_lang": "DE", "target_lang": "EN"}
        answer = send(client, "POST", "/v2/translate", body=body, headers=DEEPL_KEY)
        assert answer.json()["translations"][0]["text"] == GERMAN.upper()

    def test_it_keeps_a_glossary(self, client):
        pairs = send(client, "GET", "/v2/glossary-language-pairs", headers=DEEPL_KEY).json()[
            "supported_languages"
        ]
        assert {"source_lang": "en", "target_lang": "de"} in pairs
        body = {
            "name": "weblate:1:en:de:abc",
            "source_lang": "en",
            "target_lang": "de",
            "entries": "train\tBahn",
            "entries_format": "tsv",
        }
        made = send(client, "POST", "/v2/glossaries", body=body, headers=DEEPL_KEY).json()
        [listed] = send(client, "GET", "/v2/glossaries", headers=DEEPL_KEY).json()["glossaries"]
        assert listed == made
        translate = {
            "text": ["My train."],
            "source_lang": "EN",
            "target_lang": "DE",
            "glossary_id": made["glossary_id"],
        }
        answer = send(client, "POST", "/v2/translate", body=translate, headers=DEEPL_KEY)
        assert "Bahn" in answer.json()["translations"][0]["text"]
        gone = send(client, "DELETE", f"/v2/glossaries/{made['glossary_id']}", headers=DEEPL_KEY)
        assert gone.status_code == 204


class TestDiscourse:
    """Detects first; what is detected has to stand in /languages; sends its missing key as a bare name."""

    def test_it_detects_looks_up_and_translates(self, client):
        detected = send(
            client, "POST", "/detect", form=b"q=Der+n%C3%A4chste+Zug+f%C3%A4hrt+von+Gleis+drei.&api_key"
        )
        source = detected.json()[0]["language"]
        languages = {one["code"]: one["targets"] for one in send(client, "GET", "/languages").json()}
        assert "en" in languages[source]
        form = b"q=%3Cp%3EDer+n%C3%A4chste+Zug%3C%2Fp%3E&source=" + source.encode()
        answer = send(client, "POST", "/translate", form=form + b"&target=en&format=html&api_key")
        assert answer.json()["translatedText"] == "<p>DER NÄCHSTE ZUG</p>"


class TestDialect:
    """Knows a server by the title of its /spec, reads settings, and matches texts of errors."""

    @pytest.fixture
    def client(self, make_client, translator):
        return make_client(
            translator, spec_title="LibreTranslate", api_keys=f"d={hash_of('k')}", max_text_characters=100
        )

    def test_it_takes_the_server_for_its_own_kind(self, client):
        assert send(client, "GET", "/spec").json()["info"]["title"] == "LibreTranslate"
        settings = send(client, "GET", "/frontend/settings").json()
        assert settings["charLimit"] == 100
        assert settings["keyRequired"] is settings["apiKeys"] is True
        assert settings["suggestions"] is False
        assert all({"code", "name"} <= set(one) for one in send(client, "GET", "/languages").json())

    def test_it_translates_and_detects_with_its_key(self, client):
        body = {"q": GERMAN, "source": "auto", "target": "en", "api_key": "k"}
        answer = send(client, "POST", "/translate", body=body).json()
        assert answer["translatedText"] == GERMAN.upper()
        assert answer["detectedLanguage"]["language"] == "de"
        detected = send(client, "POST", "/detect", form=b"q=Der+n%C3%A4chste+Zug&api_key=k").json()
        assert {"confidence", "language"} <= set(detected[0])

    @pytest.mark.parametrize(
        ("change", "said"),
        [
            ({"api_key": "x"}, "Invalid API key"),
            ({"target": "xx"}, "is not supported"),
            ({"q": "x" * 101}, "exceeds text limit"),
            ({"q": "BOOM"}, "Cannot translate text"),
        ],
    )
    def test_it_understands_what_is_wrong(self, client, change, said):
        body = {"q": "a", "source": "en", "target": "de", "api_key": "k"} | change
        assert said in send(client, "POST", "/translate", body=body).json()["error"]


class TestWagtailLocalize:
    """Sends lists of HTML and insists on lists of the same length."""

    @pytest.mark.parametrize("texts", [[], ["<b>Train</b> &amp; more"], ["Train", "", "<i>a</i>"]])
    def test_it_gets_as_many_as_it_sent(self, client, texts):
        body = {"q": texts, "source": "en", "target": "de", "format": "html", "api_key": ""}
        answer = send(client, "POST", "/translate", body=body).json()
        assert len(answer["translatedText"]) == len(texts)
        assert "<b>" not in "".join(texts) or "<b>" in answer["translatedText"][0]
