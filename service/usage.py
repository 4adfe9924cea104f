"""How many characters each account has had translated this month (UTC)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime

from service.errors import QuotaExceeded
from service.keys import Account
from service.storage import Storage

_NAME = "usage"


def now() -> datetime:
    return datetime.now(UTC)


class Usage:
    """Counts characters of source text by account. It is saved when told to, so that no request waits for a disk."""

    def __init__(self, storage: Storage, *, clock: Callable[[], datetime] = now) -> None:
        self._storage = storage
        self._clock = clock
        kept = storage.read(_NAME) or {}
        self._month: str = kept.get("month", "")
        self._characters: dict[str, int] = dict(kept.get("characters", {}))
        self._is_saved = True

    def __repr__(self) -> str:
        return f"<Usage {self._month}: {sum(self._characters.values())} characters>"

    def of(self, account: Account) -> int:
        """Characters in this month so far."""
        self._turn_page()
        return self._characters.get(account.name, 0)

    def check(self, account: Account, characters: int) -> None:
        """Raise QuotaExceeded if so much is not left."""
        used, limit = self.of(account), account.characters_per_month
        if limit and used + characters > limit:
            raise QuotaExceeded(
                f"This request has {characters} characters; {max(0, limit - used)} of {limit} are left this month."
            )

    @contextmanager
    def charging(self, account: Account, characters: int) -> Iterator[None]:
        """Charge for work inside; what fails is given back. Raises QuotaExceeded before anything is done."""
        self.check(account, characters)
        self._add(account, characters)
        try:
            yield
        except BaseException:
            self._add(account, -characters)
            raise

    def save(self) -> None:
        """Write down what has changed since the last time."""
        if not self._is_saved:
            self._is_saved = True  # first: what is added meanwhile is saved the next time
            self._storage.write(_NAME, {"month": self._month, "characters": dict(self._characters)})

    def _add(self, account: Account, characters: int) -> None:
        self._characters[account.name] = max(0, self.of(account) + characters)
        self._is_saved = False

    def _turn_page(self) -> None:
        moment = self._clock()
        month = f"{moment.year}-{moment.month:02}"
        if month != self._month:
            self._month, self._characters = month, {}
