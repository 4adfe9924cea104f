"""The real server on real sockets: clients that leave, dawdle, crowd, or send too much."""

import concurrent.futures
import contextlib
import json
import socket
import threading
import time

import httpx2
import pytest


def request(body, path="/v1/translate/greedy", extra=""):
    content = json.dumps({"source": "en", "target": "de"} | body).encode()
    head = f"POST {path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n{extra}"
    return f"{head}Content-Length: {len(content)}\r\n\r\n".encode() + content


def dial(address, content=b""):
    connection = socket.create_connection(address, timeout=20)
    connection.sendall(content)
    return connection


def is_closed_within(connection, seconds):
    connection.settimeout(seconds)
    try:
        while connection.recv(65536):
            pass
    except TimeoutError:
        return False
    except ConnectionError:
        pass
    return True


@pytest.mark.parametrize("path", ["/v1/translate/greedy", "/translate"])
def test_clients_that_hang_up_leave_the_queue_and_are_not_decoded(serve, translator, until, path):
    server = serve(translator)
    address, batcher = server.address, server.batcher
    name = "q" if path == "/translate" else "text"
    translator.is_decoding.clear()
    translator.gate.clear()
    held = dial(address, request({name: "Held."}, path))
    assert translator.is_decoding.wait(10)
    leavers = [dial(address, request({name: f"Leaver {n}."}, path)) for n in range(30)]
    stays = dial(address, request({name: "Stays."}, path, "Connection: close\r\n"))
    until(lambda: len(batcher.queue) == 31)
    for leaver in leavers:
        leaver.close()
    until(lambda: len(batcher.queue) == 1)
    translator.gate.set()
    assert b" 200 " in stays.recv(65536)
    assert sorted(translator.decoded) == ["Held.", "Stays."]
    held.close()
    stays.close()


def test_a_retry_of_a_text_of_5000_characters_joins_the_running_job_one_decode(serve, translator, until):
    """A client whose time is up asks again, before or after it hangs up: what was done is not done again."""
    server = serve(translator)
    text = " ".join(f"This is sentence number {n} of a text that somebody needs." for n in range(90))
    assert len(text) > 5000 and text.count(".") == 90
    translator.is_decoding.clear()
    translator.gate.clear()
    asking = request({"text": text}, extra="Connection: close\r\n")
    first = dial(server.address, asking)
    assert translator.is_decoding.wait(10)
    retry = dial(server.address, asking)
    until(lambda: len(server.batcher._unfinished) == 2)
    first.close()
    until(lambda: len(server.batcher._unfinished) == 1)
    translator.gate.set()
    answer = b""
    while chunk := retry.recv(65536):
        answer += chunk
    retry.close()
    assert json.loads(answer.partition(b"\r\n\r\n")[2])["translation"]["text"] == text.upper()
    with dial(server.address, asking) as late:
        assert b" 200 " in late.recv(65536)
    assert len(translator.decoded) == len(set(translator.decoded)) == 90


def test_health_answers_at_once_while_the_model_works(serve, translator):
    address = serve(translator).address
    translator.gate.clear()
    busy = [dial(address, request({"text": "Long. " * 500})) for _ in range(8)]
    times = []
    with httpx2.Client(base_url=f"http://{address[0]}:{address[1]}") as client:
        for _ in range(50):
            started = time.perf_counter()
            assert client.get("/health/live").status_code == 200
            times.append(time.perf_counter() - started)
    translator.gate.set()
    for connection in busy:
        connection.close()
    assert sorted(times)[-2] < 0.5


def test_every_client_of_a_crowd_gets_its_own_answer(serve, translator):
    address = serve(translator).address
    threads_before = threading.active_count()

    def talk(number):
        with httpx2.Client(base_url=f"http://{address[0]}:{address[1]}", timeout=30) as client:
            for turn in range(5):
                mark = f"Parcel {number} {turn} has arrived. " * (1 + 7 * turn)
                text = mark.strip() if turn % 2 else [mark.strip(), "Hello."]
                answer = client.post("/v1/translate", json={"text": text, "source": "en", "target": "de"})
                assert answer.status_code == 200
                translations = answer.json().get("translations") or [answer.json()["translation"]]
                assert translations[0]["text"] == mark.strip().upper()

    with concurrent.futures.ThreadPoolExecutor(20) as pool:
        for outcome in [pool.submit(talk, number) for number in range(20)]:
            outcome.result()
    assert threading.active_count() <= threads_before + 1  # the cutter, which starts with the first text
    assert max(len(batch) for batch in translator.batches) > 1


def test_dawdlers_are_closed_by_their_deadline_and_others_are_served(serve, translator):
    address = serve(translator, head_seconds=0.5, body_seconds=0.5).address
    silent = [dial(address) for _ in range(10)]
    slow_head = [dial(address, b"POST /v1/translate HTTP/1.1\r\nSlow: ") for _ in range(10)]
    slow_body = [dial(address, request({"text": "Hello."})[:-5]) for _ in range(10)]
    after_one = dial(address, request({"text": "Hello."}))
    assert b" 200 " in after_one.recv(65536)
    after_one.sendall(b"POST /v1/tr")
    drips_until = time.monotonic() + 0.3
    while time.monotonic() < drips_until:
        for connection in [*slow_head, *slow_body]:
            connection.sendall(b"x")
        time.sleep(0.1)
        with dial(address, request({"text": "Meanwhile."}, extra="Connection: close\r\n")) as normal:
            assert b" 200 " in normal.recv(65536)
    for connection in [*silent, *slow_head, after_one, *slow_body]:
        assert is_closed_within(connection, 5)
        connection.close()


def test_a_slow_body_is_told_408(serve, translator, send):
    address = serve(translator, body_seconds=0.2).address
    answer = send(address, request({"text": "Hello."})[:-5])
    assert b" 408 " in answer and b"request_timeout" in answer


def test_a_client_that_never_reads_is_cut_off(serve, translator):
    address = serve(
        translator, reply_seconds=0.5, max_text_characters=3_000_000, max_body_bytes=8_000_000
    ).address
    connection = socket.socket()
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    connection.connect(address)
    connection.settimeout(20)
    text = "1" * 2_900_000
    connection.sendall(request({"text": [text, text]}, extra="Connection: close\r\n"))
    time.sleep(2)
    connection.settimeout(5)
    received = 0
    with pytest.raises(ConnectionError):
        while chunk := connection.recv(1 << 20):
            received += len(chunk)
        raise ConnectionError("ended early") if received < 2 * len(text) else AssertionError("all was sent")
    connection.close()


def test_a_body_far_over_the_limit_is_told_413_by_a_real_client(serve, translator):
    address = serve(translator, max_body_bytes=10_000).address
    with httpx2.Client(base_url=f"http://{address[0]}:{address[1]}") as client:
        for content in (b"x" * 3_000_000, iter([b"x" * 10_000] * 300)):
            answer = client.post(
                "/v1/translate", content=content, headers={"Content-Type": "application/json"}
            )
            assert (answer.status_code, answer.json()["error"]["code"]) == (413, "too_much")
        assert client.get("/health/live").status_code == 200


def test_a_client_that_sends_all_before_it_reads_still_sees_the_413(serve, translator, send):
    address = serve(translator, max_body_bytes=10_000).address
    head = b"POST /v1/translate HTTP/1.1\r\nHost: x\r\n"
    declared = head + b"Content-Length: 8000000\r\n\r\n" + b"x" * 8_000_000
    chunked = head + b"Transfer-Encoding: chunked\r\n\r\n" + b"20000\r\n" + b"x" * 0x20000 + b"\r\n"
    chunked += (b"20000\r\n" + b"x" * 0x20000 + b"\r\n") * 60 + b"0\r\n\r\n"
    for request_bytes in (declared, chunked):
        answer = send(address, request_bytes)
        assert b" 413 " in answer and b"too_much" in answer


@pytest.mark.parametrize(
    "text",
    ["a" * 100_000, "_" * 100_000, "漢" * 50_000, "https://h.example/" + "x" * 20_000],
    ids=["a", "underscore", "han", "address"],
)
def test_one_endless_word_is_refused_at_once_or_answered_with_the_limit_raised(serve, translator, text):
    address = serve(translator, max_text_characters=200_000).address
    ask = {"text": text, "source": "en", "target": "de"}
    with httpx2.Client(base_url=f"http://{address[0]}:{address[1]}", timeout=30) as client:
        started = time.perf_counter()
        answer = client.post("/v1/translate", json=ask)
        assert time.perf_counter() - started < 2
        assert answer.status_code in (200, 413)
        if answer.status_code == 200:
            # An address comes back as it is, a word as the translator says it.
            wanted = text if "://" in text else text.upper()
            assert answer.json()["translation"]["text"] == wanted


@pytest.mark.parametrize(
    "nonsense",
    [
        b"\r\n\r\n",
        b"\x16\x03\x01\x02\x00\r\n\r\n",
        b"GET\r\n\r\n",
        b"POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
        b"POST / HTTP/1.1\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        b"POST / HTTP/1.1\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nabcdef",
        b"GET /health/live HTTP/1.1\r\nX : y\r\n\r\n",
    ],
)
def test_what_is_no_http_gets_a_400_in_json_or_nothing(serve, translator, send, nonsense):
    answer = send(serve(translator, head_seconds=1).address, nonsense)
    assert answer == b"" or (b" 400 " in answer and b"application/json" in answer)


@pytest.mark.parametrize("head", [b"GET /", b"GET / HTTP/1.1\r\nX: ", b"GET / HTTP/1.1\r\nHost: x\r\n"])
def test_an_endless_head_is_refused_long_before_its_deadline(serve, translator, head):
    sent = 0
    with dial(serve(translator).address, head) as connection, contextlib.suppress(ConnectionError):
        while sent < 20_000_000:
            connection.sendall((b"a: b\r\n" if head.endswith(b"\n") else b"aaaaaa") * 4096)
            sent += 6 * 4096
    assert sent < 20_000_000


def test_a_client_that_would_rather_speak_http_2_is_answered_in_http_1(serve, translator):
    """Java's client offers it with every first request; each is answered, on the same connection."""
    address = serve(translator).address
    offer = "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAEAAEAAAAIAAAAB\r\n"
    connection = dial(address)
    for _ in range(3):
        connection.sendall(request({"text": "Hello."}, extra=offer))
        assert b'"HELLO."' in connection.recv(65536)
    connection.close()


def test_pipelined_requests_are_answered_in_their_order(serve, translator, send):
    address = serve(translator).address
    texts = [f"Number {n}." for n in range(5)]
    requests = b"".join(request({"text": text}) for text in texts[:-1])
    answer = send(address, requests + request({"text": texts[-1]}, extra="Connection: close\r\n"))
    places = [answer.index(f'"{text.upper()}"'.encode()) for text in texts]
    assert places == sorted(places)


def test_other_spellings_of_a_path_are_not_the_path(serve, translator, send):
    address = serve(translator).address
    for path in ("//translate", "/translate/", "/TRANSLATE", "/v1//translate", "/v1/translate/../translate"):
        answer = send(address, request({"text": "a"}, path, "Connection: close\r\n"))
        assert b" 404 " in answer and b"not_found" in answer
