"""A caller may ask so often; who that is cannot be made up."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from service.errors import TooManyRequests
from service.rates import Rates, network_of


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_a_burst_is_allowed_and_the_next_is_told_when_to_come_back():
    clock = Clock()
    rates = Rates(clock=clock)
    assert [rates.take("a", 10).remaining for _ in range(10)] == list(range(9, -1, -1))
    with pytest.raises(TooManyRequests) as caught:
        rates.take("a", 10)
    assert caught.value.retry_after_seconds == 6
    rates.take("b", 10)
    clock.now = 6.0
    rates.take("a", 10)
    with pytest.raises(TooManyRequests):
        rates.take("a", 10)


@given(st.lists(st.floats(0, 30), min_size=1, max_size=60), st.integers(1, 20))
@example([0.0, 0.0, 0.0, 0.0, 1.00001, 0.0], 1)
def test_no_minute_holds_more_than_twice_the_limit(waits, limit):
    clock = Clock()
    rates = Rates(clock=clock)
    taken = []
    for wait in waits:
        clock.now += wait
        try:
            rates.take("a", limit)
        except TooManyRequests as refusal:
            assert refusal.retry_after_seconds is not None
            clock.now += refusal.retry_after_seconds
            rates.take("a", limit)  # it was told the truth
        taken.append(clock.now)
    assert all(sum(start <= then < start + 60 for then in taken) <= 2 * limit for start in taken)


def test_only_so_many_callers_are_remembered():
    rates = Rates(max_callers=100)
    for number in range(1000):
        rates.take(str(number), 5)
    assert len(rates) == 100


@pytest.mark.parametrize(
    ("address", "caller"),
    [
        ("192.0.2.7", "192.0.2.7"),
        ("2001:db8::1", "2001:db8::/64"),
        ("2001:db8::ffff:1", "2001:db8::/64"),
        ("::ffff:192.0.2.7", "192.0.2.7"),
        ("", "unknown"),
        ("nonsense\n", "unknown"),
    ],
)
def test_a_subscriber_is_one_caller(address, caller):
    assert network_of(address) == caller


def test_the_pace_is_seen_and_too_fast_is_429_in_every_dialect(make_client, translator):
    client = make_client(translator, requests_per_minute=3)
    text = {"q": "Hi.", "source": "en", "target": "de"}
    left = [client.post("/translate", json=text).headers["RateLimit-Remaining"] for _ in range(3)]
    assert left == ["2", "1", "0"]
    refused = client.post("/translate", json=text)
    assert (refused.status_code, refused.json()) == (429, {"error": "Slowdown: 3 per 1 minute"})
    assert int(refused.headers["Retry-After"]) == 20
    assert (refused.headers["RateLimit-Limit"], refused.headers["RateLimit-Remaining"]) == ("3", "0")
    deepl = client.post("/v2/translate", json={"text": ["Hi."], "target_lang": "DE"})
    assert (deepl.status_code, list(deepl.json())) == (429, ["message"])
    own = client.post("/v1/translate", json={"text": "Hi.", "source": "en", "target": "de"})
    assert (own.status_code, own.json()["error"]["code"]) == (429, "too_many_requests")
    for path in ("/frontend/settings", "/languages", "/health", "/v1/models", "/v2/usage"):
        assert client.get(path).status_code == 200


def test_headers_that_name_other_addresses_change_nothing(make_client, translator):
    client = make_client(translator, requests_per_minute=2)
    text = {"q": "Hi.", "source": "en", "target": "de"}
    statuses = []
    for number in range(4):
        made_up = f"198.51.100.{number}"
        headers = {"X-Forwarded-For": made_up, "Forwarded": f"for={made_up}", "X-Real-IP": made_up}
        statuses.append(client.post("/translate", json=text, headers=headers).status_code)
    assert statuses == [200, 200, 429, 429]
