"""The compiled functions of engine.cpp, built once for each processor and kept in a cache folder."""

from __future__ import annotations

import ctypes
import hashlib
import os
import shutil
import subprocess
import tempfile
from ctypes import POINTER, c_float, c_int, c_int32, c_int64, c_void_p
from pathlib import Path
from typing import Any

SOURCES = Path(__file__).parent
CACHE_VARIABLE = "DRAGOMAN_CACHE"
FLAGS = ("-std=c++20", "-O3", "-march=native", "-ffp-contract=fast", "-fno-math-errno", "-fPIC", "-shared")


class NoNativeEngine(RuntimeError):
    """The native engine cannot be used here; the message says why, and PyTorch does the work instead."""


class Shape(ctypes.Structure):
    """The numbers of a config, in the order of `struct Shape` in model.hpp."""

    _fields_ = [
        *((name, c_int32) for name in ("vocabulary", "width", "heads", "groups", "inner")),
        *((name, c_int32) for name in ("encoder_layers", "decoder_layers")),
        *((name, c_int32) for name in ("is_rotary", "is_post_norm", "is_rms", "feed_forward", "precision")),
        ("epsilon", c_float),
    ]


class Options(ctypes.Structure):
    """How to decode a sentence, in the order of `struct Options` in search.hpp."""

    _fields_ = [
        *((name, c_int32) for name in ("beam", "n_best", "min_length", "max_length")),
        ("length_penalty", c_float),
    ]


def load_library() -> ctypes.CDLL:
    """The library for this processor, compiled now if the cache has none; raises NoNativeEngine."""
    path = cache_folder() / f"engine-{_fingerprint()}.so"
    if not path.exists():
        compile_library(path)
    try:
        library = ctypes.CDLL(str(path))
    except OSError as error:
        raise NoNativeEngine(f"{path.name} cannot be loaded: {error}") from error
    return _declared(library)


def cache_folder() -> Path:
    """$DRAGOMAN_CACHE, or a folder of the user's."""
    default = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "dragoman"
    return Path(os.environ.get(CACHE_VARIABLE) or default)


def compile_library(path: Path) -> None:
    """Compile engine.cpp for this processor, whole or not at all; raises NoNativeEngine."""
    compiler = os.environ.get("CXX") or shutil.which("g++") or shutil.which("clang++")
    if not compiler:
        raise NoNativeEngine("there is no C++ compiler (g++, clang++ or $CXX)")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=path.parent) as place:
            made = Path(place) / path.name
            subprocess.run(
                [compiler, *FLAGS, str(SOURCES / "engine.cpp"), "-o", str(made)],
                check=True,
                capture_output=True,
                text=True,
            )
            made.replace(path)
    except OSError as error:
        raise NoNativeEngine(f"the engine cannot be compiled into {path.parent}: {error}") from error
    except subprocess.CalledProcessError as error:
        raise NoNativeEngine(f"{compiler} failed: {error.stderr[-500:]}") from error


def _fingerprint() -> str:
    """Of sources, flags and processor: what is compiled for another one is never loaded."""
    digest = hashlib.sha256(" ".join(FLAGS).encode())
    for source in sorted([*SOURCES.glob("*.hpp"), *SOURCES.glob("*.cpp")]):
        digest.update(source.read_bytes())
    digest.update(_processor().encode())
    return digest.hexdigest()[:16]


def _processor() -> str:
    """The features of the processor, as the system names them."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return " ".join(os.uname())
    return next((line for line in lines if line.startswith(("flags", "Features"))), " ".join(os.uname()))


def _declared(library: ctypes.CDLL) -> ctypes.CDLL:
    ids, scores, a_number = POINTER(c_int32), POINTER(c_float), POINTER(c_int)
    pointer = c_void_p  # to numbers that the caller keeps until the call returns
    signatures: dict[str, tuple[Any, list[Any]]] = {
        "dragoman_has_int8": (c_int, []),
        "dragoman_model": (c_void_p, [POINTER(Shape), POINTER(c_void_p)]),
        "dragoman_model_free": (None, [c_void_p]),
        "dragoman_start": (c_void_p, [c_void_p, pointer, pointer, c_int]),
        "dragoman_rows": (c_int, [c_void_p]),
        "dragoman_step": (c_int, [c_void_p, pointer, pointer]),
        "dragoman_select": (c_int, [c_void_p, pointer, c_int, c_int]),
        "dragoman_state_free": (None, [c_void_p]),
        "dragoman_session": (c_void_p, [c_void_p, c_int32, c_int32, POINTER(c_int32), c_int]),
        "dragoman_session_add": (
            c_int,
            [c_void_p, POINTER(c_int64), POINTER(c_int64), POINTER(c_int32), POINTER(Options), c_int],
        ),
        "dragoman_session_rows": (c_int, [c_void_p]),
        "dragoman_session_advance": (c_int, [c_void_p, c_int]),
        "dragoman_session_drop": (None, [c_void_p, c_int64]),
        "dragoman_session_take": (c_void_p, [c_void_p, POINTER(c_int64), POINTER(c_int)]),
        "dragoman_hypothesis": (
            None,
            [c_void_p, c_int, POINTER(ids), a_number, POINTER(scores), a_number, scores, a_number],
        ),
        "dragoman_session_free": (None, [c_void_p]),
    }
    for name, (result, arguments) in signatures.items():
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    return library
