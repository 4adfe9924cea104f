"""Files in LibreTranslate's dialect: refused in its words, fetched by a link that nobody can guess."""

import re

import pytest

from service.keys import hash_of
from service.uploads import safe_name

PAIR = {"source": "en", "target": "de"}


def send(client, content=b"Hello.\r\n\r\n  A dog.\n", name="letter.txt", **fields):
    return client.post("/translate_file", data=PAIR | fields, files={"file": (name, content)})


def test_a_file_comes_back_as_its_text_does_by_translate(client):
    url = send(client).json()["translatedFileUrl"]
    assert re.fullmatch(r"http://testserver/download_file/[0-9a-f]{32}\.txt", url)
    fetched = client.get(url)
    assert fetched.content == b"HELLO.\r\n\r\n  A DOG.\n"
    text = {"q": "Hello.\r\n\r\n  A dog.\n"} | PAIR
    assert client.post("/translate", json=text).json()["translatedText"] == fetched.content.decode()
    assert client.get(url).content == fetched.content  # as often as its receiver likes
    assert fetched.headers["Content-Disposition"] == "attachment; filename*=UTF-8''letter.txt"


def test_the_source_may_be_detected(client):
    url = send(client, b"Ich habe heute leider keine Zeit.", source="auto", target="en").json()
    assert client.get(url["translatedFileUrl"]).text == "ICH HABE HEUTE LEIDER KEINE ZEIT."


def test_equal_languages_give_the_very_bytes_back(client, translator):
    content = b"<p>a &amp; b</p >\r\n"
    translator.forget()
    url = send(client, content, "a.html", target="en").json()["translatedFileUrl"]
    assert client.get(url).content == content
    assert translator.decoded == []


@pytest.mark.parametrize(
    ("name", "kept"),
    [
        ("../../../..pwn.txt", "pwn.txt"),
        ("..\\..\\pwn.txt", "pwn.txt"),
        ("/etc/pwn", "pwn.txt"),
        ("a\u0000.txt", "a.txt"),
        ("CON", "CON.txt"),
        ("", "document.txt"),
        ("..", "document.txt"),
        ("x" * 300 + ".txt", "x" * 100 + ".txt"),
        ('a";\r\nX-Evil: 1.txt', "a_X-Evil_ 1.txt"),
        ("Grüße 漢.txt", "Grüße 漢.txt"),
        ("a\u202etxt.exe", "a_txt.exe"),
    ],
)
def test_a_name_is_no_path_and_no_header(name, kept):
    assert safe_name(name) == kept


def test_the_result_is_called_as_the_file_was(client):
    url = send(client, name="../Grüße.txt").json()["translatedFileUrl"]
    header = client.get(url).headers["Content-Disposition"]
    assert header == "attachment; filename*=UTF-8''Gr%C3%BC%C3%9Fe.txt"


@pytest.mark.parametrize(
    "name", ["0" * 32 + ".txt", "..%2f..%2fetc%2fpasswd", "%2e%2e%5c", "x", "../../etc/passwd", ""]
)
def test_what_is_not_there_is_a_404_in_json(client, name):
    response = client.get(f"/download_file/{name}")
    assert response.status_code == 404
    assert "error" in response.json()


def test_what_is_wrong_is_said_in_the_words_that_clients_know(make_client, translator):
    client = make_client(translator, max_file_bytes=4096)
    unknown = send(client, name="virus.exe")
    assert unknown.status_code == 400
    assert unknown.json()["error"].startswith("exe format is not supported")
    missing = client.post("/translate_file", data=PAIR, files={"other": ("a.txt", b"x")})
    for response in (
        missing,
        client.post("/translate_file", data=PAIR),
        client.post("/translate_file", json=PAIR),
    ):
        assert (response.status_code, response.json()) == (
            400,
            {"error": "Invalid request: missing file parameter"},
        )
    assert send(client, target="zz").json()["error"].startswith("zz is not supported")
    assert send(client, target="").json() == {"error": "Invalid request: missing target parameter"}
    assert send(client, b"\xff\xfa").status_code == 400
    assert send(client, b"not a zip", "a.docx").status_code == 400
    assert send(client, b"x" * 10_000).status_code == 413
    assert send(client, b"BOOM.").status_code == 500


def test_a_file_may_be_longer_than_other_bodies(make_client, translator):
    client = make_client(translator, max_body_bytes=1024, max_file_bytes=100_000)
    line = b"Hello.\n"
    assert send(client, line * 1000).status_code == 200
    body = {"q": line.decode() * 1000} | PAIR
    assert client.post("/translate", json=body).status_code == 413


def test_settings_name_the_kinds_of_files(client):
    settings = client.get("/frontend/settings").json()
    assert settings["filesTranslation"] is True
    assert {".txt", ".html", ".docx", ".srt", ".po"} <= set(settings["supportedFilesFormat"])


def test_the_link_has_the_proxys_scheme_and_prefix(make_client, translator):
    client = make_client(translator)
    client.base_url = "https://example.org"
    url = send(client).json()["translatedFileUrl"]
    assert url.startswith("https://example.org/download_file/")


def test_files_need_the_key_and_their_links_do_not(make_client, translator):
    client = make_client(translator, api_keys=f"a={hash_of('k')}", characters_per_month=30)
    assert send(client).status_code == 400
    assert send(client, api_key="x").status_code == 403
    url = send(client, api_key="k").json()["translatedFileUrl"]
    assert client.get(url).status_code == 200
    refused = send(client, api_key="k")
    assert (refused.status_code, "left this month" in refused.json()["error"]) == (403, True)
