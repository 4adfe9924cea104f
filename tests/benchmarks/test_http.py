"""The benchmark as it is called, with few requests; and that it measures nothing where answers are wrong."""

from __future__ import annotations

import json
import subprocess
import sys
from argparse import Namespace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from benchmarks.servers import ServerFailed, running, service
from service.settings import parse_settings

ROOT = Path(__file__).parents[2]
FORWARD = ("en", "de")


def test_as_a_script_it_does_not_hide_pythons_http() -> None:
    pytest.importorskip("ctranslate2", reason="needs what `make install-exchange` installs")
    command = [sys.executable, "benchmarks/http.py", "--help"]
    shown = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert shown.returncode == 0, shown.stderr


def test_no_script_beside_it_looks_for_modules_in_its_own_folder() -> None:
    scripts = {path.name: path.read_text(encoding="utf-8") for path in (ROOT / "benchmarks").glob("*.py")}
    place = "    sys.path[0] = str(Path(__file__).parents[1])\n"
    replaces = {name for name, source in scripts.items() if place in source}
    assert (
        replaces
        == {name for name, source in scripts.items() if "sys.path" in source}
        >= {"decode.py", "http.py"}
    )


def test_a_server_that_ends_is_an_error_with_its_status() -> None:
    with (
        pytest.raises(ServerFailed, match="theirs ended with status 3"),
        running("theirs", ["-c", "raise SystemExit(3)"], direction=FORWARD),
    ):
        pass


def test_the_service_is_called_with_settings_that_it_has(tmp_path: Path) -> None:
    _, _, *arguments = service(tmp_path, "--max-text-characters", "5")
    settings = parse_settings(arguments, {})
    assert (settings.max_text_characters, settings.cache_sentences) == (5, 0)


@pytest.mark.parametrize("liar", ["ours", "theirs"])
def test_nothing_is_measured_where_an_answer_is_not_the_engines_own(small_model, exported, liar) -> None:
    from benchmarks.answers import Wrong, check
    from benchmarks.opponent import Opponent
    from model.directory import load_translator
    from model.search import DecodingOptions
    from model.texts import translate_texts

    translator = load_translator(small_model, device="cpu")
    engine = Opponent(exported, kind="float32", workers=1, threads=1, tokenizer=translator.tokenizer)
    last = "Good night!"
    texts = ["Good morning!", "The last ship is late.", last]

    def ours(text: str, decoding: dict[str, Any], direction: Any) -> str:
        return translate_texts(translator, [text], "en", "de", DecodingOptions(**decoding))[0].text

    def theirs(text: str, decoding: dict[str, Any], direction: Any) -> str:
        ids = translator.prepare(text, *direction).ids
        return engine.translate([engine.spell(ids)], decoding.get("beam_size", 1))[0]

    def lie(text: str, decoding: dict[str, Any], direction: Any) -> str:
        said = (ours if liar == "ours" else theirs)(text, decoding, direction)
        return f"{said}." if text == last and "beam_size" in decoding else said

    servers: Any = {"ours": SimpleNamespace(translate=ours), "theirs": SimpleNamespace(translate=theirs)}
    options = Namespace(model=small_model, quantization="float32", direction=FORWARD)
    check(servers, exported, texts, options)
    servers[liar].translate = lie
    with pytest.raises(Wrong, match=f"{liar}, beam 4: 'Good night!'"):
        check(servers, exported, texts, options)


@pytest.mark.slow
def test_one_command_measures_both_servers(small_model: Path, tmp_path: Path) -> None:
    pytest.importorskip("ctranslate2", reason="needs what `make install-exchange` installs")
    picture = tmp_path / "picture.svg"
    command = [
        sys.executable,
        "benchmarks/http.py",
        "--model",
        str(small_model),
        "--json",
        "--plot",
        str(picture),
    ]
    short = ["--turns", "1", "--scale", "0.005", "--clients", "1", "32", "--quantization", "float32"]
    done = subprocess.run([*command, *short], cwd=ROOT, capture_output=True, text=True, timeout=900)
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    measured = [(load["decoding"], load["sentences"], load["clients"]) for load in report["loads"]]
    assert measured == [(how, size, n) for how in ("greedy", "beam 4") for size in (1, 40) for n in (1, 32)]
    assert [load["clients"] for load in report["with_numbers"]] == [1, 1]
    for load in report["loads"] + report["with_numbers"]:
        for who in ("ours", "theirs"):
            one = load[who]
            assert one["errors"] == {}
            assert one["answered"] == load["requests"] >= load["clients"]
            assert 0 < one["p50_ms"] <= one["p95_ms"] <= one["p99_ms"]
            assert 0 < one["generator_cpu"] < 1
            assert (
                one["server_cpu_ms"] > 0 or load["requests"] < 32
            )  # it is counted in hundredths of a second
    for who in ("ours", "theirs"):
        memory = report["memory"][who]
        assert 20 < memory["first_mb"] <= memory["peak_mb"]
        assert report["start"][who]["seconds"] > 0
        for beside in report["beside_a_document"]:
            assert beside[who]["busy"]["errors"] == {}
            assert beside[who]["busy"]["answered"] == beside[who]["idle"]["answered"] > 0
    assert len(report["ratios"]) == 10
    assert all(cast(float, ratio["ratio"]) > 0 for ratio in report["ratios"])
    assert "clients" in picture.read_text(encoding="utf-8")
