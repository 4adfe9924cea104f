"""Each layer of the onion does its one thing."""

import asyncio
from typing import Any

import pytest

from service.errors import QueueFull
from service.middleware import BodyLimit, RequestLimit, onion
from service.settings import Settings

SCOPE = {"type": "http", "method": "POST", "path": "/v1/translate", "headers": []}


def run(layer, messages, scope=SCOPE):
    """What the layer sends to a client whose messages come one by one, None standing for silence."""
    sent = []
    coming = iter(messages)

    async def receive():
        message = next(coming, None)
        if message is None:
            await asyncio.Event().wait()
        return message

    async def send(message):
        sent.append(message)

    asyncio.run(layer(scope, receive, send))
    return sent


async def echo(scope, receive, send):
    """Answers with the body that reaches it."""
    message = await receive()
    assert not message["more_body"]
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": message["body"]})


def part(body, *, more=True):
    return {"type": "http.request", "body": body, "more_body": more}


def test_the_onion_is_in_its_order():
    layers: list[Any] = [layer.cls for layer in onion(Settings())]
    assert [layer.__name__ for layer in layers] == [
        "AccessLog",
        "SecurityHeaders",
        "CORSMiddleware",
        "LimitHeaders",
        "ErrorBoundary",
        "RequestLimit",
        "RequestLimit",
        "BodyLimit",
    ]


def test_a_body_in_parts_arrives_whole():
    layer = BodyLimit(echo, max_bytes=4, seconds=5)
    assert run(layer, [part(b"ab"), part(b"cd", more=False)])[1]["body"] == b"abcd"


def test_a_chunked_body_over_the_limit_is_413_and_the_connection_ends():
    start, body = run(
        BodyLimit(echo, max_bytes=4, seconds=5), [part(b"abc"), part(b"de"), part(b"f", more=False)]
    )
    assert start["status"] == 413
    assert (b"connection", b"close") in start["headers"]
    assert b"4 bytes" in body["body"]


def test_a_declared_length_over_the_limit_is_413():
    scope = SCOPE | {"headers": [(b"content-length", b"5"), (b"expect", b"100-continue")]}
    assert run(BodyLimit(echo, max_bytes=4, seconds=5), [], scope)[0]["status"] == 413


def test_a_body_that_never_ends_is_408(monkeypatch):
    assert run(BodyLimit(echo, max_bytes=4, seconds=0.05), [part(b"a"), None])[0]["status"] == 408


def test_a_client_that_leaves_in_the_middle_of_its_body_gets_nothing():
    assert run(BodyLimit(echo, max_bytes=4, seconds=5), [part(b"a"), {"type": "http.disconnect"}]) == []


def test_requests_beyond_the_limit_are_refused_until_one_ends():
    async def scenario():
        gate = asyncio.Event()

        async def wait(scope, receive, send):
            await gate.wait()

        layer: Any = RequestLimit(wait, max_requests=2)
        tasks = [asyncio.create_task(layer(SCOPE, None, None)) for _ in range(2)]
        await asyncio.sleep(0)
        with pytest.raises(QueueFull):
            await layer(SCOPE, None, None)
        reading = asyncio.create_task(layer(SCOPE | {"method": "GET"}, None, None))
        gate.set()
        await asyncio.gather(*tasks, reading)
        await layer(SCOPE, None, None)

    asyncio.run(scenario())


def test_a_body_over_the_limit_is_413_in_each_dialect(make_client, translator):
    client = make_client(translator, max_body_bytes=1024)
    for path, shape in (("/v1/translate", dict), ("/translate", str)):
        for content in (b"x" * 2000, iter([b"x" * 1000] * 3)):
            response = client.post(path, content=content, headers={"Content-Type": "application/json"})
            assert response.status_code == 413
            assert isinstance(response.json()["error"], shape)
    assert translator.decoded == []


def test_other_origins_may_call_and_read_what_they_need(client):
    headers = {"Origin": "https://reader.example"}
    preflight = client.options(
        "/translate",
        headers=headers
        | {
            "Access-Control-Request-Method": "POST",
            "Access-Control-Request-Headers": "Content-Type, Authorization",
        },
    )
    assert preflight.status_code == 200
    assert preflight.headers["Access-Control-Allow-Origin"] == "*"
    refused = client.post("/translate", headers=headers)
    assert (refused.status_code, refused.headers["Access-Control-Allow-Origin"]) == (400, "*")


def test_origins_can_be_named(make_client, translator):
    client = make_client(translator, cors_origins="https://a.example, https://b.example")
    for origin, allowed in [("https://b.example", "https://b.example"), ("https://c.example", None)]:
        response = client.get("/languages", headers={"Origin": origin})
        assert response.headers.get("Access-Control-Allow-Origin") == allowed


def test_every_answer_has_an_id_of_its_own(client):
    ids = {
        client.get(path).headers["X-Request-ID"] for path in ["/health/live", "/nowhere", "/languages"] * 2
    }
    assert len(ids) == 6
