"""Better translations that clients suggest, kept for the operator to read: never used by themselves."""

from __future__ import annotations

from service.errors import TooMuch
from service.keys import Account
from service.languages import Direction
from service.storage import Storage
from service.usage import now

MAX_BYTES = 64 << 20  # of the file that holds them
_NAME = "suggestions"


class Suggestions:
    def __init__(self, storage: Storage) -> None:
        self._storage = storage

    def add(self, account: Account, text: str, translation: str, direction: Direction) -> None:
        """One line of JSON; raises TooMuch when the file is full, so that nobody can fill a disk."""
        if self._storage.lines_size(_NAME) > MAX_BYTES:
            raise TooMuch("There is no room for more suggestions.")
        source, target = direction
        self._storage.append(
            _NAME,
            {
                "time": now().isoformat(timespec="seconds"),
                "account": account.name,
                "source": source,
                "target": target,
                "text": text,
                "translation": translation,
            },
        )
