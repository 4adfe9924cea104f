"""The compiled functions of engine.cpp: built once for each class of processors, and kept in a cache folder."""

from __future__ import annotations

import ctypes
import hashlib
import os
import platform
import shutil
import subprocess
import tempfile
from ctypes import POINTER, c_float, c_int, c_int32, c_int64, c_void_p
from pathlib import Path
from typing import Any, NamedTuple

from model.decoding import NoEngine

SOURCES = Path(__file__).parent
CACHE_VARIABLE = "DRAGOMAN_CACHE"
FLAGS = ("-std=c++20", "-O3", "-ffp-contract=fast", "-fno-math-errno", "-fPIC", "-shared")


class Processors(NamedTuple):
    """A class of processors that one build serves."""

    name: str
    features: frozenset[str]  # what they have, in the system's words
    flags: tuple[str, ...]  # what the compiler may use


_AVX2 = frozenset({"avx2", "fma", "f16c", "bmi2", "movbe", "abm"})
_AVX512 = _AVX2 | {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"}
CLASSES = (  # the best first; an image can hold all of them, wherever it was built
    Processors("avx512-vnni", _AVX512 | {"avx512_vnni"}, ("-march=x86-64-v4", "-mavx512vnni")),
    Processors("avx2-vnni", _AVX2 | {"avx_vnni"}, ("-march=x86-64-v3", "-mavxvnni")),
    Processors("avx512", _AVX512, ("-march=x86-64-v4",)),
    Processors("avx2", _AVX2, ("-march=x86-64-v3",)),
)


class NoNativeEngine(NoEngine):
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
        *((name, c_int32) for name in ("beam", "n_best", "min_length", "max_length", "look_ahead")),
        *((name, c_float) for name in ("length_penalty", "margin")),
    ]


def load_library() -> ctypes.CDLL:
    """The library for this processor, compiled now if the cache has none; raises NoNativeEngine."""
    processors = this_processor()
    path = library_path(processors)
    if not path.exists():
        compile_library(processors)
    try:
        library = ctypes.CDLL(str(path))
    except OSError as error:
        raise NoNativeEngine(f"{path.name} cannot be loaded: {error}") from error
    return _declared(library)


def is_compiled() -> bool:
    """Whether `load_library` would find the library ready."""
    return library_path(this_processor()).exists()


def this_processor() -> Processors:
    """The best class that the processor belongs to; for others than those of CLASSES one of its own."""
    features = frozenset(_features().split())
    for processors in CLASSES:
        if processors.features <= features:
            return processors
    own = hashlib.sha256(" ".join(sorted(features)).encode()).hexdigest()[:8]
    return Processors(f"{platform.machine()}-{own}", features, ("-march=native",))


def library_path(processors: Processors) -> Path:
    """Where the library for them is or would be; another version of the sources has another name."""
    digest = hashlib.sha256(" ".join((*FLAGS, *processors.flags)).encode())
    for source in sorted([*SOURCES.glob("*.hpp"), *SOURCES.glob("*.cpp")]):
        digest.update(source.read_bytes())
    return cache_folder() / f"engine-{processors.name}-{digest.hexdigest()[:12]}.so"


def cache_folder() -> Path:
    """$DRAGOMAN_CACHE, or a folder of the user's."""
    default = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "dragoman"
    return Path(os.environ.get(CACHE_VARIABLE) or default)


def compile_library(processors: Processors) -> None:
    """Compile engine.cpp for them, whole or not at all; raises NoNativeEngine."""
    compiler = os.environ.get("CXX") or shutil.which("g++") or shutil.which("clang++")
    if not compiler:
        raise NoNativeEngine("there is no C++ compiler (g++, clang++ or $CXX)")
    path = library_path(processors)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=path.parent) as place:
            made = Path(place) / path.name
            command = [compiler, *FLAGS, *processors.flags, str(SOURCES / "engine.cpp"), "-o", str(made)]
            subprocess.run(command, check=True, capture_output=True, text=True)
            made.replace(path)
    except OSError as error:
        raise NoNativeEngine(f"the engine cannot be compiled into {path.parent}: {error}") from error
    except subprocess.CalledProcessError as error:
        raise NoNativeEngine(f"{compiler} failed: {error.stderr[-500:]}") from error


def _features() -> str:
    """Of the processor, as the system names them."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return " ".join(os.uname())
    found = next((line for line in lines if line.startswith(("flags", "Features"))), "")
    return found.partition(":")[2]


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
