"""Where a model runs and in which type, decided at start."""

from __future__ import annotations

import time

import torch

DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16}
WORTH_IT = 1.3  # a narrower type must be this many times as fast


def choose_device(name: str) -> torch.device:
    """`auto` takes a CUDA device if there is one. ValueError for a device that is not there."""
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    if name.partition(":")[0] not in ("cpu", "cuda"):
        raise ValueError(f"device {name!r} is not known; allowed: auto, cpu, cuda")
    try:
        device = torch.device(name)
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError) as error:
        raise ValueError(f"device {name!r} cannot be used ({error}); allowed: auto, cpu, cuda") from error
    return device


def choose_dtype(name: str, device: torch.device, *, rows: int = 64, width: int = 256) -> torch.dtype:
    """PyTorch's. `auto` is bfloat16 where products of `rows` × `width` matrices are clearly faster, else float32.

    Measured, not read off a flag: some processors have the instructions and are slower with them.
    """
    if name == "auto":
        if device.type == "cpu":
            seconds = {dtype: _seconds(dtype, device, rows, width) for dtype in DTYPES.values()}
            faster = seconds[torch.float32] > WORTH_IT * seconds[torch.bfloat16]
            return torch.bfloat16 if faster else torch.float32
        return torch.bfloat16 if torch.cuda.is_bf16_supported() else torch.float32
    if name == "int8":  # is the native engine's: PyTorch holds the weights that it packs
        return torch.float32
    if name not in DTYPES:
        raise ValueError(f"dtype {name!r} is not known; allowed: auto, {', '.join(DTYPES)}, int8")
    return DTYPES[name]


def _seconds(dtype: torch.dtype, device: torch.device, rows: int, width: int) -> float:
    """The quickest of some products: what else the machine does only ever adds time."""
    left = torch.ones(rows, width, dtype=dtype, device=device)
    right = torch.ones(width, 4 * width, dtype=dtype, device=device)
    times = []
    for _ in range(20):
        started = time.perf_counter()
        left @ right
        times.append(time.perf_counter() - started)
    return min(times)
