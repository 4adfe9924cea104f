"""Live is constant; ready means that the model has translated and still can."""

import threading

import pytest


def test_live_while_the_model_loads_and_ready_after_it(make_client, translator, until):
    may_load = threading.Event()

    def load():
        assert may_load.wait(20)
        return translator

    client = make_client(load, wait=False)
    assert client.get("/health/live").json() == {"status": "ok"}
    ready = client.get("/health/ready")
    assert (ready.status_code, ready.json()["error"]["code"]) == (503, "not_ready")
    assert int(ready.headers["Retry-After"]) >= 1
    for path, body in [
        ("/v1/translate", {"text": "a", "source": "en", "target": "de"}),
        ("/translate", {"q": "a", "source": "en", "target": "de"}),
        ("/languages", None),
    ]:
        early = client.post(path, json=body)
        assert (early.status_code, "error" in early.json(), early.headers["Retry-After"]) == (503, True, "1")
    may_load.set()
    until(lambda: client.get("/health/ready").status_code == 200)
    assert client.get("/health/ready").json() == {"status": "ready", "model": "upper"}


def test_a_dead_worker_is_not_ready_but_live(client, until):
    response = client.post("/v1/translate", json={"text": "FATAL", "source": "en", "target": "de"})
    assert (response.status_code, response.json()["error"]["code"]) == (503, "worker_died")
    ready = client.get("/health/ready")
    assert (ready.status_code, ready.json()["error"]["code"]) == (503, "worker_died")
    assert ready.headers["Retry-After"]
    assert client.get("/health/live").status_code == 200


@pytest.mark.parametrize("path", ["/health", "/health/live", "/health/ready"])
def test_health_asks_the_model_nothing(client, translator, path):
    assert client.get(path).status_code == 200
    assert translator.decoded == []
    assert client.post(path).status_code == 405
