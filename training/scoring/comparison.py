"""Two evaluations side by side: only if they measured the same thing."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

# What has to be equal in two reports, or their scores have nothing to say about each other.
IDENTITY = ("source_language", "target_language", "reference_sha256", "metric")
# What may differ, and is worth a word when it does.
CIRCUMSTANCES = ("model", "decoding", "dtype", "source_sha256")


class NotComparable(ValueError):
    """The earlier report is of another reference or another metric; the message has every difference."""


def read_report(path: Path) -> dict[str, Any]:
    """The report in a file that holds what an evaluation printed: the object on its last line."""
    lines = path.read_text(encoding="utf-8").rstrip().rsplit("\n", 1)
    try:
        report = json.loads(lines[-1])
    except ValueError as error:
        raise ValueError(f"{path}: its last line is no JSON object ({error})") from None
    missing = {"bleu", "chrf", *IDENTITY} - (report.keys() if isinstance(report, dict) else set())
    if missing:
        raise ValueError(f"{path}: no report of training.evaluate: it lacks {', '.join(sorted(missing))}")
    return dict(report)


def refuse_unlike(path: Path, earlier: dict[str, Any], now: dict[str, Any]) -> None:
    """Raises NotComparable unless both measure the same."""
    if found := list(_differences(earlier, now, IDENTITY)):
        raise NotComparable(
            f"{path} cannot be compared with this evaluation, which differs in " + "; ".join(found)
        )


def compare(path: Path, earlier: dict[str, Any], now: dict[str, Any]) -> dict[str, Any]:
    """Gains of `now` over `earlier`, and the circumstances in which they differ."""
    return {
        "report": str(path),
        "bleu": now["bleu"] - earlier["bleu"],
        "chrf": now["chrf"] - earlier["chrf"],
        "differences": list(_differences(earlier, now, CIRCUMSTANCES)),
    }


def _differences(earlier: dict[str, Any], now: dict[str, Any], keys: tuple[str, ...]) -> Iterator[str]:
    for key in keys:
        old, new = earlier.get(key), now.get(key)
        if isinstance(old, dict) and isinstance(new, dict):
            for part, value in _differences_in(old, new):
                yield f"{key}.{part}: {value}"
        elif old != new:
            yield f"{key}: {old} there, {new} here"


def _differences_in(old: dict[str, Any], new: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for part in sorted(old.keys() | new.keys()):
        if old.get(part) != new.get(part):
            yield part, f"{old.get(part)} there, {new.get(part)} here"
