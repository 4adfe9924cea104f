"""Figures are medians of the turns, percentiles are numpy's, ratios are of what they say."""

from __future__ import annotations

import json
from random import Random
from typing import Any

import numpy as np
import pytest

from benchmarks.http_report import ratios, summary, table
from benchmarks.load import Outcome


def outcome(latencies: list[float], seconds: float = 2.0, **errors: int) -> Outcome:
    return Outcome(
        seconds=seconds,
        cpu_seconds=seconds / 10,
        latencies=latencies,
        errors=errors,
        server_cpu_seconds=0.5 * seconds,
    )


def drawn(seed: int, count: int = 237) -> list[float]:
    random = Random(seed)
    return [random.expovariate(20) for _ in range(count)]


@pytest.mark.parametrize("percentile", [50, 95, 99])
def test_percentiles_of_one_turn_are_those_of_numpy(percentile: int) -> None:
    latencies = drawn(1)
    expected = 1000 * np.percentile(np.array(latencies), percentile)
    assert summary([outcome(latencies)])[f"p{percentile}_ms"] == pytest.approx(expected)


def test_figures_are_medians_of_the_turns_with_the_least_and_the_most() -> None:
    turns = [drawn(seed) for seed in range(3)]
    found = summary([outcome(turn, seconds) for turn, seconds in zip(turns, (1.0, 4.0, 2.0), strict=True)])
    assert found["requests_per_second"] == 237 / 2
    assert found["spread"]["requests_per_second"] == [237 / 4, 237]
    of_turns = sorted(1000 * np.percentile(turn, 95) for turn in turns)
    assert found["p95_ms"] == pytest.approx(of_turns[1])
    assert found["spread"]["p95_ms"] == pytest.approx([of_turns[0], of_turns[2]])
    assert found["generator_cpu"] == pytest.approx(0.1)
    assert found["server_cpu_ms"] == pytest.approx(1000 * 0.5 * 7 / (3 * 237))


def test_answers_and_errors_of_all_turns_are_counted() -> None:
    found = summary([outcome([0.1, 0.2], closed=1), outcome([0.1], closed=2, timeout=1), outcome([])])
    assert (found["answered"], found["errors"]) == (3, {"closed": 3, "timeout": 1})


def test_where_nothing_was_answered_there_is_no_latency() -> None:
    found = summary([outcome([], closed=4)])
    assert (found["requests_per_second"], found["p95_ms"], found["spread"]["p95_ms"]) == (0, None, None)
    json.dumps(found, allow_nan=False)


def load(clients: int, ours: list[float], theirs: list[float], sentences: int = 1) -> dict[str, Any]:
    return {
        "decoding": "greedy",
        "sentences": sentences,
        "clients": clients,
        "requests": len(ours),
        "ours": summary([outcome(ours, 1.0)]),
        "theirs": summary([outcome(theirs, 2.0)]),
    }


def report(*loads: dict[str, Any]) -> dict[str, Any]:
    idle, busy = summary([outcome([0.010] * 5)]), summary([outcome([0.025] * 5)])
    pair = {"idle": idle, "busy": busy}
    sizes = {"first_mb": 300.0, "last_mb": 301.0, "peak_mb": 310.0, "errors": {}}
    whole = {
        "machine": "a machine",
        "sentences": "sentences of the primer",
        "turns": 1,
        "engines": {"ours": "native int8", "theirs": "CTranslate2 int8"},
        "loads": list(loads),
        "with_numbers": [],
        "beside_a_document": [{"decoding": "greedy", "document": 500, "ours": pair, "theirs": pair}],
        "memory": {"requests": [1000, 5000], "ours": sizes, "theirs": sizes},
        "start": {
            "ours": {"seconds": 2.0, "no_cache_seconds": 3.0, "compiled_seconds": 30.0},
            "theirs": {"seconds": 1.0},
        },
    }
    return whole | {"ratios": ratios(whole)}


def test_ratios_are_of_32_clients_and_one() -> None:
    found = report(load(1, [0.010] * 9, [0.020] * 9), load(32, [0.050] * 90, [0.060] * 90))["ratios"]
    assert {(ratio["what"], ratio["of"]): ratio["ratio"] for ratio in found} == {
        ("requests a second, 32 clients, greedy", "ours / theirs"): 2.0,
        ("p95 of 32 clients / p50 of one, greedy", "ours"): 5.0,
        ("p95 of 32 clients / p50 of one, greedy", "theirs"): 3.0,
        ("p95 beside a document of 500 sentences / idle p50, greedy", "ours"): 2.5,
        ("p95 beside a document of 500 sentences / idle p50, greedy", "theirs"): 2.5,
    }


def test_a_ratio_that_was_not_measured_is_left_out() -> None:
    one_alone = report(load(1, [0.01], [0.01]), load(32, [0.01], [0.01], sentences=40))
    assert all("document" in ratio["what"] for ratio in one_alone["ratios"])
    nothing_answered = report(load(1, [], [0.01]), load(32, [0.01], []))["ratios"]
    assert not [ratio for ratio in nothing_answered if ratio["what"].startswith("requests a second")]


def test_the_table_tells_errors_by_their_kind() -> None:
    one = load(32, [0.01], [0.02])
    one["theirs"] = summary([outcome([0.02], **{"status 503": 7})])
    text = table(report(one))
    assert "| greedy | 1 | 32 | ours | 1.0 (1.0 … 1.0) | 10 | 10 | 10 | 500 | 0 |" in text
    assert "7 × status 503" in text
    rows = [line for line in text.splitlines() if line.startswith("| greedy")]
    assert {line.count("|") for line in rows} == {11}
