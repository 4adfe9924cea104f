"""The compiled library: made once, for this processor, or not at all."""

from pathlib import Path

import pytest

from model.native import library
from model.native.library import CACHE_VARIABLE, NoNativeEngine, load_library


def test_it_is_compiled_once(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CXX", "/no/compiler/is/asked")
    load_library()
    assert len(list(cache.glob("*.so"))) == 1


def test_another_processor_compiles_its_own(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(library, "_processor", lambda: "another")
    monkeypatch.setenv("CXX", "/no/compiler/is/there")
    with pytest.raises(NoNativeEngine, match="cannot be compiled"):
        load_library()


def test_without_a_compiler_the_reason_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path))
    monkeypatch.delenv("CXX", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(NoNativeEngine, match="no C\\+\\+ compiler"):
        load_library()


def test_a_compiler_that_fails_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path))
    monkeypatch.setenv("CXX", "false")
    with pytest.raises(NoNativeEngine, match="false failed"):
        load_library()
    assert list(tmp_path.iterdir()) == []


def test_a_cache_that_cannot_be_written_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path / "file" / "folder"))
    with pytest.raises(NoNativeEngine, match="folder"):
        load_library()
