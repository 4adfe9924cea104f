"""What all scripts for clients in Python share: where the services are, and how to say what came of a call."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from importlib.metadata import version
from typing import Any

SERVICE, LOCKED, KEY = sys.argv[1:4]


class Report:
    """Collects what each call gave, and prints it at the end."""

    def __init__(self, distribution: str, *, named: str = "") -> None:
        self._report: dict[str, Any] = {"client": named or f"{distribution} {version(distribution)} (Python)"}

    def call(self, name: str, work: Callable[[], Any]) -> Any:
        """The value of `work`, or what it raised as text: "TypeOfError: message"."""
        try:
            value = work()
        except Exception as error:
            value = f"{type(error).__name__}: {error}"
        self._report[name] = value
        return value

    def print(self) -> None:
        json.dump(self._report, sys.stdout, default=str)
