"""The compiled library: made once, for this processor, or not at all."""

import platform
from pathlib import Path

import pytest

from model.native import library
from model.native.library import (
    CACHE_VARIABLE,
    NoNativeEngine,
    compile_library,
    library_path,
    load_library,
    this_processor,
)


def test_it_is_compiled_once(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = library_path(this_processor()).stat().st_mtime_ns
    monkeypatch.setenv("CXX", "/no/compiler/is/asked")
    load_library()
    assert library_path(this_processor()).stat().st_mtime_ns == made
    assert library_path(this_processor()).parent == cache


def test_another_processor_compiles_its_own(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(library, "_features", lambda: "something else")
    monkeypatch.setenv("CXX", "/no/compiler/is/there")
    with pytest.raises(NoNativeEngine, match="cannot be compiled"):
        load_library()


@pytest.mark.parametrize("processors", library.CLASSES, ids=lambda one: one.name)
def test_a_processor_gets_the_best_class_that_it_belongs_to(
    processors: library.Processors, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(library, "_features", lambda: " ".join(processors.features))
    assert this_processor() == processors


@pytest.mark.slow
@pytest.mark.skipif(platform.machine() != "x86_64", reason="these are classes of x86-64")
@pytest.mark.parametrize("processors", library.CLASSES, ids=lambda one: one.name)
def test_every_class_compiles_anywhere(processors: library.Processors) -> None:
    compile_library(processors)
    assert library_path(processors).exists()


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
