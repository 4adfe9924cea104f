"""Keys are kept as hashes, are required as soon as there is one, and are told in each dialect's own way."""

import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from service.errors import MissingKey, WrongKey
from service.keys import Account, UnusableKeys, hash_of, load_accounts, make_key
from service.settings import Settings

KEY = make_key()
KEYS = f"weblate={hash_of(KEY)}"
PAIR = {"source": "en", "target": "de"}
HEAD = {"part": "cross", "layer": 0, "head": 0}


@pytest.fixture
def locked(make_client, translator):
    return make_client(translator, api_keys=KEYS)


def test_without_keys_everybody_is_anonymous_whatever_they_send():
    accounts = load_accounts(Settings(characters_per_month=5))
    for key in (None, "", "anything", ["x"], 7):
        assert accounts.of(key) == Account("anonymous", 5, 0)


def test_a_key_opens_its_account_and_nothing_else_does():
    key: object
    accounts = load_accounts(Settings(api_keys=f" {KEYS} , b={hash_of('other')}"))
    assert (accounts.of(KEY).name, accounts.of("other").name) == ("weblate", "b")
    for key in (None, ""):
        with pytest.raises(MissingKey):
            accounts.of(key)
    for key in (
        KEY.swapcase(),
        KEY + "\0",
        KEY + " ",
        "null",
        " ",
        [KEY],
        {"a": KEY},
        7,
        hash_of(KEY),
        "\ud800",
    ):
        with pytest.raises(WrongKey):
            accounts.of(key)
    assert KEY not in repr(accounts)


def test_a_file_gives_each_key_its_limits(tmp_path):
    file = tmp_path / "keys.toml"
    file.write_text(
        f'[a]\nsha256 = "{hash_of("one").upper()}"\ncharacters_per_month = 0\n'
        f'[b]\nsha256 = "{hash_of("two")}"\nrequests_per_minute = 3\n'
    )
    accounts = load_accounts(Settings(keys_file=str(file), characters_per_month=100, requests_per_minute=50))
    assert accounts.of("one") == Account("a", 0, 50)
    assert accounts.of("two") == Account("b", 100, 3)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a = 1", "a must be a table"),
        ("[a]\nsha256 = 'abc'", "64 hexadecimal digits"),
        (f"[a]\nsha256 = '{'0' * 64}'\nlimit = 1", "'limit' is none of"),
        (f"[a]\nsha256 = '{'0' * 64}'\nrequests_per_minute = -1", "must be a whole number"),
        (f"[a]\nsha256 = '{'0' * 64}'\nrequests_per_minute = true", "must be a whole number"),
        (f"[a]\nsha256 = '{'0' * 64}'\n[b]\nsha256 = '{'0' * 64}'", "a has the same one"),
        (f"['a b']\nsha256 = '{'0' * 64}'", "is no name for a key"),
        (f"[anonymous]\nsha256 = '{'0' * 64}'", "is no name for a key"),
        ("[a", "keys.toml"),
    ],
)
def test_keys_that_cannot_be_used_are_refused_with_the_reason(tmp_path, text, said):
    file = tmp_path / "keys.toml"
    file.write_text(text)
    with pytest.raises(UnusableKeys, match=said):
        load_accounts(Settings(keys_file=str(file)))


def test_a_missing_file_is_refused_by_name(tmp_path):
    with pytest.raises(UnusableKeys, match=r"none\.toml"):
        load_accounts(Settings(keys_file=str(tmp_path / "none.toml")))


def test_the_command_makes_lines_for_the_file_and_shows_the_key_once(tmp_path):
    made = subprocess.run(
        [sys.executable, "-m", "service.keys", "weblate", "a.b"],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=True,
    )
    file = tmp_path / "keys.toml"
    file.write_text(made.stdout)
    assert set(tomllib.loads(made.stdout)) == {"weblate", "a.b"}
    keys = [line.rpartition(" ")[2] for line in made.stderr.splitlines()]
    assert [load_accounts(Settings(keys_file=str(file))).of(key).name for key in keys] == ["weblate", "a.b"]
    assert not any(key in made.stdout for key in keys)


@pytest.mark.parametrize("key", ["", None])
def test_libretranslate_is_told_400_without_a_key(locked, key):
    refused = locked.post("/translate", json={"q": "Hi.", "api_key": key} | PAIR)
    message = {"error": "Please contact the server operator to get an API key"}
    assert (refused.status_code, refused.json()) == (400, message)


@pytest.mark.parametrize("key", [KEY.swapcase(), "null", KEY + "\0", [KEY], 7])
def test_libretranslate_is_told_403_for_a_wrong_key(locked, key):
    for path in ("/translate", "/detect"):
        refused = locked.post(path, json={"q": "Hi.", "api_key": key} | PAIR)
        assert (refused.status_code, refused.json()) == (403, {"error": "Invalid API key"})


def test_a_key_is_read_wherever_its_clients_put_it(locked):
    answers = [
        locked.post("/translate", json={"q": "Hi.", "api_key": KEY} | PAIR),
        locked.post("/translate", json={"q": "Hi.", "apiKey": KEY} | PAIR),
        locked.post("/translate", data={"q": "Hi.", "api_key": KEY} | PAIR),
        locked.post("/translate", params={"q": "Hi.", "api_key": KEY} | PAIR),
        locked.post("/detect", data={"q": "Hi.", "api_key": KEY}),
        locked.post("/v1/translate", json={"text": "Hi."} | PAIR, headers={"Authorization": f"Bearer {KEY}"}),
        *(
            locked.get("/v2/languages", headers={"Authorization": f"{scheme} {KEY}"})
            for scheme in ("DeepL-Auth-Key", "deepl-auth-key")
        ),
        locked.get("/v2/usage", params={"auth_key": KEY}),
        locked.post("/v2/translate", data={"text": "Hi.", "target_lang": "DE", "auth_key": KEY}),
    ]
    assert [answer.status_code for answer in answers] == [200] * len(answers)


def test_every_path_that_works_for_somebody_wants_the_key(locked):
    spoofed = {"Origin": "http://testserver", "Referer": "http://testserver/", "Authorization": "Basic eDp5"}
    requests: list[tuple[str, str, dict[str, Any], int]] = [
        ("POST", "/translate", {"json": {"q": "Hi."} | PAIR}, 400),
        ("POST", "/detect", {"json": {"q": "Hi."}}, 400),
        ("POST", "/translate_file", {"files": {"file": ("a.txt", b"Hi.")}, "data": PAIR}, 400),
        ("POST", "/v1/translate", {"json": {"text": "Hi."} | PAIR}, 401),
        ("POST", "/v1/translate/beam", {"json": {"text": "Hi."} | PAIR}, 401),
        ("POST", "/v1/inspect", {"json": {"text": "Hi."} | PAIR}, 401),
        ("POST", "/v1/inspect/head", {"json": {"text": "Hi.", "head": HEAD} | PAIR}, 401),
        ("POST", "/v2/translate", {"json": {"text": ["Hi."], "target_lang": "DE"}}, 403),
        ("GET", "/v2/translate", {"params": {"text": "Hi.", "target_lang": "DE"}}, 403),
        ("GET", "/v2/usage", {}, 403),
        ("GET", "/v2/languages", {}, 403),
        ("GET", "/v2/glossaries", {}, 403),
        ("POST", "/v3/glossaries", {"json": {"name": "x"}}, 403),
        ("POST", "/v2/document", {"files": {"file": ("a.txt", b"Hi.")}, "data": {"target_lang": "DE"}}, 403),
        ("POST", "/v2/document/x", {"json": {"document_key": "x"}}, 403),
        ("POST", "/language/translate/v2", {"json": {"q": "Hi.", "target": "de"}}, 401),
        ("POST", "/translate?api-version=3.0&to=de", {"json": [{"Text": "Hi."}]}, 401),
    ]
    for method, path, arguments, status in requests:
        answer = locked.request(method, path, headers=spoofed, **arguments)
        assert answer.status_code == status, path
        assert set(answer.json()) in ({"error"}, {"message"})


@pytest.mark.parametrize("method", ["HEAD", "OPTIONS", "GET", "PUT"])
@pytest.mark.parametrize("path", ["/translate", "/v2/translate", "/v1/translate", "/translate/"])
def test_no_other_method_or_spelling_gets_around_the_key(locked, translator, method, path):
    answer = locked.request(method, path, params={"q": "Hi.", "text": "Hi.", "target_lang": "DE"} | PAIR)
    assert answer.status_code in (400, 403, 404, 405)
    assert translator.decoded == []


def test_what_is_for_everybody_stays_so(locked):
    for path in ("/health", "/languages", "/frontend/settings", "/spec", "/v1/models", "/"):
        assert locked.get(path).status_code == 200
    assert locked.get("/frontend/settings").json()["keyRequired"] is True


def test_an_account_sees_its_own_glossaries_and_usage_only(make_client, translator):
    one, two = make_key(), make_key()
    client = make_client(translator, api_keys=f"one={hash_of(one)},two={hash_of(two)}")
    first, second = ({"Authorization": f"DeepL-Auth-Key {key}"} for key in (one, two))
    body = {"name": "g", "source_lang": "EN", "target_lang": "DE", "entries": "a\tb"}
    path = f"/v2/glossaries/{client.post('/v2/glossaries', json=body, headers=first).json()['glossary_id']}"
    client.post("/v2/translate", json={"text": ["Hello."], "target_lang": "DE"}, headers=first)
    assert client.get(path, headers=first).status_code == 200
    assert (
        client.get(path, headers=second).status_code == client.delete(path, headers=second).status_code == 404
    )
    assert client.get("/v2/glossaries", headers=second).json() == {"glossaries": []}
    assert client.get("/v2/usage", headers=first).json()["character_count"] == 6
    assert client.get("/v2/usage", headers=second).json()["character_count"] == 0
