"""Behind a reverse proxy: whom to believe about addresses and schemes, and where everything lies."""

import httpx2
import pytest

TEXT = {"q": "Hi.", "source": "en", "target": "de"}


@pytest.fixture
def connect(serve, translator):
    clients = []

    def open_client(**settings):
        host, port = serve(translator, **settings).address
        clients.append(httpx2.Client(base_url=f"http://{host}:{port}", timeout=20, trust_env=False))
        return clients[-1]

    yield open_client
    for client in clients:
        client.close()


def statuses(client, forwarded):
    return [
        client.post("/translate", json=TEXT, headers={"X-Forwarded-For": value}).status_code
        for value in forwarded
    ]


def test_a_trusted_proxy_tells_addresses_and_the_rightmost_counts(connect):
    client = connect(requests_per_minute=1, trusted_proxies="127.0.0.1")
    made_up = [f"198.51.100.{n}, 203.0.113.7" for n in range(3)]
    assert statuses(client, made_up) == [200, 429, 429]
    assert statuses(client, ["198.51.100.1, 203.0.113.8", "203.0.113.9"]) == [200, 200]
    assert statuses(client, ["2001:db8::1", "2001:db8::2", "2001:db8:0:1::1"]) == [200, 429, 200]


def test_nobody_else_does(connect):
    client = connect(requests_per_minute=1, trusted_proxies="192.0.2.1")
    assert statuses(client, ["203.0.113.7", "203.0.113.8", "203.0.113.9"]) == [200, 429, 429]


def test_junk_in_the_header_is_no_accident(connect):
    client = connect(requests_per_minute=100)
    junk = ["", ",", "a, b", "::::", "203.0.113.7:80:80", "x" * 5000, "[::1]"]
    assert set(statuses(client, junk)) == {200}


@pytest.mark.parametrize(
    ("trusted", "start"), [("127.0.0.1", "https://example.org/"), ("192.0.2.1", "http://example.org/")]
)
def test_links_have_the_scheme_that_a_trusted_proxy_tells(connect, trusted, start):
    client = connect(trusted_proxies=trusted)
    headers = {"Host": "example.org", "X-Forwarded-Proto": "https"}
    answer = client.post(
        "/translate_file",
        data={"source": "en", "target": "de"},
        files={"file": ("a.txt", b"Hi.")},
        headers=headers,
    )
    assert answer.json()["translatedFileUrl"].startswith(f"{start}download_file/")


def test_under_a_prefix_everything_works_and_errors_keep_their_dialect(connect):
    client = connect(root_path="/translator")
    assert client.post("/translate", json=TEXT).json() == {"translatedText": "HI."}
    assert client.get("/v2/languages").status_code == 200
    assert list(client.get("/v2/nowhere").json()) == ["message"]
    assert isinstance(client.get("/translate").json()["error"], str)
    files = {"file": ("a.txt", b"Hi." * 10)}
    link = client.post("/translate_file", data={"source": "en", "target": "de"}, files=files).json()
    assert "/translator/download_file/" in link["translatedFileUrl"]
    assert client.get(link["translatedFileUrl"].partition("/translator")[2]).text == "HI." * 10
