"""A picture's bars are as high as its figures, and what was not measured has none."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from benchmarks.charts import COLOURS, Bar, Panel, panel, scale, short
from benchmarks.plots import decode_picture, http_picture, write_picture

ROOT = Path(__file__).parents[2]


def heights(parts: list[str], colour: str) -> list[float]:
    found = (re.search(rf'height="([\d.]+)" fill="{colour}"', part) for part in parts)
    return [float(match[1]) for match in found if match]


def test_bars_are_as_high_as_their_figures() -> None:
    bars = [[Bar(50.0), Bar(100.0)], [Bar(25.0), Bar(None)]]
    parts = panel(Panel("title", "ms", ["1", "8"], bars), 0, 0, 300, 250)
    low, high = heights(parts, COLOURS[0])
    (other,) = heights(parts, COLOURS[1])
    assert high == pytest.approx(2 * low, abs=0.2)
    assert other == pytest.approx(low / 2, abs=0.2)


@pytest.mark.parametrize("most", [0.013, 0.9, 1.0, 4.75, 7.0, 99, 100, 355, 9999, 29_237])
def test_an_axis_has_few_round_numbers_and_room_for_the_most(most: float) -> None:
    ticks = scale(most)
    assert ticks[0] == 0
    assert ticks[-1] >= most
    assert 3 <= len(ticks) <= 7


def test_an_axis_without_anything_is_an_axis() -> None:
    assert scale(0.0) == [0.0, 1.0]


def test_numbers_are_short() -> None:
    assert [short(value) for value in (0.0, 3.14159, 355, 999, 1234, 29_237)] == [
        "0", "3.14", "355", "1k", "1.2k", "29.2k"
    ]  # fmt: skip


def http_report() -> dict[str, Any]:
    def figures(value: float | None) -> dict[str, Any]:
        spread = value and [value * 0.9, value * 1.1]
        return {
            "requests_per_second": value,
            "p95_ms": value,
            "spread": {"requests_per_second": spread, "p95_ms": spread},
        }

    loads = [
        {
            "decoding": decoding,
            "sentences": 1,
            "clients": clients,
            "ours": figures(200.0),
            "theirs": figures(None),
        }
        for decoding in ("greedy", "beam 4")
        for clients in (1, 32)
    ]
    return {
        "machine": "commit & machine",
        "turns": 3,
        "engines": {"ours": "native int8", "theirs": "CTranslate2 int8, 2 × 1"},
        "loads": loads,
    }


def decode_report() -> dict[str, Any]:
    engines = {
        "this project, native int8": {"pieces_per_second": 200.0, "seconds": [1.0, 1.1, 0.9]},
        "CTranslate2 int8, 2 × 1": {"pieces_per_second": 100.0, "seconds": [2.0]},
        "ratio": 2.0,
    }
    latencies = {"this project": {"p50_ms": 1.0, "p95_ms": 2.0}, "ratio": 0.5}
    names = ("greedy", "greedy, 64", "beam 4", "beam 4, 64")
    return {"machine": "m", "sentences": 1000, "one sentence, greedy": latencies} | dict.fromkeys(
        names, engines
    )


def words(svg: str) -> list[str]:
    return [
        element.text or "" for element in ElementTree.fromstring(svg).iter() if element.tag.endswith("text")
    ]


def test_the_picture_of_http_names_both_servers_units_and_axes() -> None:
    said = words(http_picture(http_report()))
    assert {"Dragoman, native int8", "FastAPI around CTranslate2 int8, 2 × 1", "requests/s", "ms"} <= set(
        said
    )
    assert said.count("clients") == 4
    assert said.count("–") == 2 * 2 * 2  # theirs, which answered nothing


def test_the_picture_of_decoding_has_a_panel_for_each_way_and_none_for_latencies() -> None:
    said = words(decode_picture(decode_report()))
    assert said.count("pieces/s") == 4
    assert "beam 4, 64 sentences" in said
    assert "greedy, 1,000 sentences" in said
    assert "Dragoman, native int8" in said


@pytest.mark.parametrize("make", [http_report, decode_report])
def test_a_report_on_disk_is_drawn_by_the_command(make, tmp_path: Path) -> None:
    report, picture = tmp_path / "report.json", tmp_path / "picture.svg"
    report.write_text(json.dumps(make()))
    command = [sys.executable, "-m", "benchmarks.plots", str(report), str(picture)]
    subprocess.run(command, cwd=ROOT, check=True, timeout=120)
    assert words(picture.read_text(encoding="utf-8"))


def test_a_picture_can_be_a_png(tmp_path: Path) -> None:
    pytest.importorskip("resvg_py", reason="needs what `make install-exchange` installs")
    write_picture(tmp_path / "picture.png", http_picture(http_report()))
    assert (tmp_path / "picture.png").read_bytes().startswith(b"\x89PNG")
