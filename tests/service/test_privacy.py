"""What users write is never written down, whatever becomes of it."""

import logging
import re

import pytest

MARK = "Zxqvkw"


@pytest.fixture
def everything(caplog):
    """All that any logger says, down to DEBUG, as text."""
    caplog.set_level(logging.DEBUG)
    for name in list(logging.root.manager.loggerDict):
        caplog.set_level(logging.DEBUG, logger=name)

    def read() -> str:
        formatter = logging.Formatter("%(name)s %(levelname)s %(message)s %(args)s")
        clients = ("httpx", "httpcore")  # what the test sends with, and no part of the service
        return "\n".join(
            formatter.format(record) for record in caplog.records if not record.name.startswith(clients)
        )

    return read


def test_texts_stay_out_of_the_logs_on_every_path(make_client, translator, everything, until):
    client = make_client(translator, max_text_characters=100, max_body_bytes=4096)
    pair = {"source": "en", "target": "de"}
    for path, name in (("/v1/translate", "text"), ("/translate", "q")):
        sent: dict[int, dict] = {
            200: {"json": {name: f"{MARK} here."} | pair},
            400: {"json": {name: f"{MARK} here.", "source": MARK, "target": "de", MARK: MARK}},
            413: {"json": {name: MARK * 100} | pair},
            415: {"content": MARK, "headers": {"Content-Type": "text/plain"}},
            500: {"json": {name: f"{MARK} BOOM."} | pair},
        }
        for status, request in sent.items():
            if path == "/translate" and status == 413:
                status = 400  # as LibreTranslate's clients expect
            assert client.post(path, **request).status_code == status
        assert client.post(path, content=MARK * 1000).status_code == 413
        broken = f'{{"{name}": "{MARK}\\udc00"}}'
        for body in (f'{{"{name}": "{MARK}" {MARK}', broken, f"[{MARK}"):
            assert (
                client.post(path, content=body, headers={"Content-Type": "application/json"}).status_code
                == 400
            )
    client.post("/translate", data={"q": MARK} | pair)
    client.post("/translate", files={"q": (None, MARK)})
    client.post("/translate", params={"q": MARK} | pair)
    assert client.get(f"/{MARK}", params={"q": MARK}, headers={"User-Agent": MARK}).status_code == 404
    assert client.get(f"/static/{MARK}").status_code == 404
    assert client.request(MARK.upper(), "/").status_code == 405
    assert client.get("/v1/models", params={"q": MARK}).status_code == 200
    send_everywhere_else(client)
    assert client.post("/v1/translate", json={"text": f"{MARK} FATAL"} | pair).status_code == 503

    said = everything()
    assert "service.access INFO POST /v1/translate 200" in said
    assert "service.access INFO GET (unknown) 404" in said
    assert "SystemExit at" in said and "RuntimeError at" in said
    assert MARK.lower() not in said.lower()


def test_a_scanner_adds_no_names_to_the_log(client, everything):
    """Whoever counts by what the log calls a request counts a handful, whatever is asked for."""
    for number in range(300):
        client.get(f"/{number}/admin.php", headers={"Host": f"host{number}.example"})
        client.get(f"/download_file/{number}")
        client.request(f"ODD{number}", "/translate")
        client.post("/translate", json={"q": "Hi.", "source": f"x{number}", "target": "de"})
    lines = re.findall(r"service\.access INFO (\S+ \S+ \d+)", everything())
    assert len(lines) >= 1200 and len(set(lines)) <= 6, set(lines)


def send_everywhere_else(client):
    """The mark in every field of every other path, where it is accepted and where it is not."""
    entries = {"source_lang": "en", "target_lang": "de", "entries": f"{MARK}\t{MARK}"}
    glossary = client.post("/v2/glossaries", json=entries | {"name": MARK}).json()["glossary_id"]
    translate = {"text": [f"{MARK} here.", f"<b>{MARK}"], "source_lang": "en", "target_lang": "de"}
    for more in (
        {},
        {"glossary_id": glossary},
        {"tag_handling": "xml"},
        {"tag_handling": MARK},
        {"source_lang": MARK},
    ):
        client.post(
            "/v2/translate", json=translate | more, headers={"Authorization": f"DeepL-Auth-Key {MARK}"}
        )
    client.post("/v2/glossaries", json=entries | {"name": MARK, "entries": MARK})
    client.patch(f"/v3/glossaries/{glossary}", json={"name": MARK * 2})
    client.get(f"/v2/glossaries/{MARK}")
    client.delete(f"/v2/glossaries/{glossary}")
    for name in (f"{MARK}.txt", f"{MARK}.{MARK}", f"{MARK}.docx"):
        files = {"file": (name, f"{MARK} BOOM".encode())}
        client.post("/translate_file", files=files, data={"source": "en", "target": "de"})
        client.post("/v2/document", files=files, data={"target_lang": "DE"})
    client.post(f"/v2/document/{MARK}", json={"document_key": MARK})
    client.get(f"/download_file/{MARK}.txt")
    client.post("/detect", json={"q": MARK, "api_key": MARK})
    client.post("/suggest", json={"q": MARK, "s": MARK, "source": "en", "target": "de"})
    client.post("/language/translate/v2", json={"q": MARK, "target": MARK})
    client.post("/translate", params={"api-version": MARK, "to": MARK}, json=[{"Text": MARK}])


def test_an_unexpected_failure_is_logged_by_place_only(make_client, translator, monkeypatch, everything):
    def fail(text, *_):
        raise ValueError(f"cannot cope with {text}")

    client = make_client(translator)
    monkeypatch.setattr(translator, "prepare", fail)
    assert (
        client.post("/v1/translate", json={"text": MARK, "source": "en", "target": "de"}).status_code == 500
    )
    assert "ValueError at" in everything()
    assert MARK not in everything()
