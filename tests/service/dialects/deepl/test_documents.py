"""Documents in DeepL's dialect: taken in, watched, fetched once."""

import io

import pytest

from service.keys import hash_of

TEXT = b"Hello.\n\n  A dog.\n"


def send(client, content=TEXT, name="letter.txt", headers=None, **fields):
    form = {"target_lang": "DE", "source_lang": "EN"} | fields
    return client.post("/v2/document", data=form, files={"file": (name, content)}, headers=headers)


def ask(client, handle, what="", **more):
    body = {"document_key": handle["document_key"]} | more
    return client.post(f"/v2/document/{handle['document_id']}{what}", json=body)


def test_a_document_is_taken_in_watched_and_fetched_once(client, until):
    handle = send(client, formality="default").json()
    assert set(handle) == {"document_id", "document_key"}
    until(lambda: ask(client, handle).json()["status"] == "done")
    assert ask(client, handle).json() == {
        "document_id": handle["document_id"],
        "status": "done",
        "billed_characters": 17,
    }
    fetched = ask(client, handle, "/result")
    assert fetched.content == b"HELLO.\n\n  A DOG.\n"
    assert fetched.headers["Content-Disposition"].endswith("letter.txt")
    for gone in (ask(client, handle, "/result"), ask(client, handle)):
        assert (gone.status_code, list(gone.json())) == (404, ["message"])


def test_a_result_that_is_not_there_yet_is_503(client, translator, until):
    translator.gate.clear()
    handle = send(client).json()
    until(lambda: ask(client, handle).json()["status"] == "translating")
    early = ask(client, handle, "/result")
    assert (early.status_code, early.headers["Retry-After"]) == (503, "1")
    translator.gate.set()
    until(lambda: ask(client, handle).json()["status"] == "done")
    assert ask(client, handle, "/result").status_code == 200


def test_a_form_and_a_query_ask_as_well_as_json(client, until):
    handle = send(client).json()
    key = {"document_key": handle["document_key"]}
    path = f"/v2/document/{handle['document_id']}"
    until(lambda: client.post(path, data=key).json()["status"] == "done")
    assert client.get(path, params=key).json()["status"] == "done"
    assert client.post(f"{path}/result", data=key).content == b"HELLO.\n\n  A DOG.\n"


def test_a_failed_document_says_so_and_has_no_result(client, until):
    handle = send(client, b"BOOM.").json()
    until(lambda: ask(client, handle).json()["status"] == "error")
    status = ask(client, handle).json()
    assert status["error_message"] == "The model failed on this text."
    assert ask(client, handle, "/result").status_code == 404


def test_a_wrong_id_or_key_is_not_there(client):
    handle = send(client).json()
    for wrong in (
        handle | {"document_key": "0" * 64},
        handle | {"document_key": "ä\u2028"},
        handle | {"document_id": "0" * 32},
        handle | {"document_id": "..%2f.."},
    ):
        assert ask(client, wrong).status_code == ask(client, wrong, "/result").status_code == 404
    assert client.post(f"/v2/document/{handle['document_id']}", json={}).status_code == 400


def test_a_glossary_is_used(client, until):
    body = {"name": "g", "source_lang": "EN", "target_lang": "DE", "entries": "dog\tWauwau"}
    glossary = client.post("/v2/glossaries", json=body).json()["glossary_id"]
    handle = send(client, b"A dog.", glossary_id=glossary).json()
    until(lambda: ask(client, handle).json()["status"] == "done")
    assert "Wauwau" in ask(client, handle, "/result").text
    assert send(client, glossary_id="none").status_code == 404
    assert send(client, glossary_id=glossary, source_lang="").status_code == 400


@pytest.mark.parametrize(
    ("content", "fields", "status", "said"),
    [
        (TEXT, {"name": "a.exe"}, 400, "exe format is not supported"),
        (b"\xff\xfa", {}, 400, "UTF-8"),
        (b"no zip", {"name": "a.docx"}, 400, "no"),
        (TEXT, {"target_lang": ""}, 400, "Parameter 'target_lang' not specified."),
        (TEXT, {"target_lang": "ZZ"}, 400, "Value for 'target_lang' not supported: ZZ"),
        (TEXT, {"formality": "more"}, 400, "formality"),
        (TEXT, {"output_format": "docx"}, 400, "docx is not the format of the file; only txt"),
        (TEXT, {"style_id": "x"}, 400, "'style_id' is not supported"),
        (b"x" * 20_000, {}, 413, "limit"),
    ],
)
def test_all_that_can_be_wrong_is_said_at_once(make_client, translator, content, fields, status, said):
    client = make_client(translator, max_file_bytes=10_000)
    response = send(client, content, **fields)
    assert response.status_code == status
    assert said in response.json()["message"]


def test_a_name_without_an_ending_is_plain_text_and_a_given_one_wins(client, until):
    for fields in ({"name": "file"}, {"name": "file", "filename": "page.html"}):
        handle = send(client, b"<b>Hi</b>", **fields).json()
        until(lambda handle=handle: ask(client, handle).json()["status"] == "done")
        result = ask(client, handle, "/result")
        expected = "html" if "filename" in fields else "plain"
        assert result.headers["Content-Type"].startswith(f"text/{expected}")


def test_another_account_sees_nothing_and_a_used_up_quota_is_456(make_client, translator, until):
    keys = f"a={hash_of('one')},b={hash_of('two')}"
    client = make_client(translator, api_keys=keys, characters_per_month=20)
    first, second = ({"Authorization": f"DeepL-Auth-Key {key}"} for key in ("one", "two"))
    assert send(client).status_code == 403
    handle = send(client, headers=first).json()
    path, key = f"/v2/document/{handle['document_id']}", {"document_key": handle["document_key"]}
    until(lambda: client.post(path, json=key, headers=first).json()["status"] == "done")
    assert client.post(path, json=key, headers=second).status_code == 404
    assert client.post(path, json=key).status_code == 403
    assert client.get("/v2/usage", headers=first).json()["character_count"] == 17
    assert send(client, headers=first).status_code == 456


def test_a_large_file_is_read_from_disk_too(make_client, translator):
    client = make_client(translator, max_file_bytes=4 << 20)
    content = io.BytesIO(b"Hello there.\n" * 60_000).getvalue()
    assert send(client, content).status_code == 200
