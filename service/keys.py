"""API keys: who calls, and what the caller may do. `python -m service.keys NAME` makes a key.

Only hashes are kept. A plain SHA-256 is enough for what `make_key` makes: 256 random bits cannot be guessed,
however fast one guesses; and looking a hash up tells nobody by its timing how much of a key was right.
"""

from __future__ import annotations

import hashlib
import re
import secrets
import sys
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from service.errors import MissingKey, WrongKey
from service.settings import Settings

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_HASH = re.compile(r"[0-9a-f]{64}")
_LIMITS = ("characters_per_month", "requests_per_minute")


class UnusableKeys(ValueError):
    """The keys that the operator gave cannot be used; the message says where and why."""


@dataclass(frozen=True)
class Account:
    """A caller. A limit of 0 is no limit."""

    name: str
    characters_per_month: int
    requests_per_minute: int


ANONYMOUS = "anonymous"  # the one account where no key is required


class Accounts:
    """The accounts by the hashes of their keys; where there are none, everybody is the anonymous one."""

    def __init__(self, by_hash: Mapping[str, Account], anonymous: Account) -> None:
        self._by_hash = dict(by_hash)
        self._anonymous = anonymous

    def __repr__(self) -> str:
        return f"<Accounts: {', '.join(account.name for account in self._by_hash.values()) or 'no keys'}>"

    @property
    def require_keys(self) -> bool:
        return bool(self._by_hash)

    def of(self, key: object) -> Account:
        """The account of a key as a client sent it; raises MissingKey or WrongKey. '' and null are no key."""
        if not self._by_hash:
            return self._anonymous
        if key is None or key == "":
            raise MissingKey("An API key is required.")
        account = self._by_hash.get(hash_of(key)) if isinstance(key, str) else None
        if account is None:
            raise WrongKey("This API key is not known.")
        return account


def load_accounts(settings: Settings) -> Accounts:
    """Keys from the file and from API_KEYS; raises UnusableKeys."""
    defaults = {name: getattr(settings, name) for name in _LIMITS}
    by_hash: dict[str, Account] = {}
    for name, entry in _entries(settings):
        if not _NAME.fullmatch(name) or name == ANONYMOUS:
            raise UnusableKeys(f"{name!r} is no name for a key: up to 64 letters, digits and . _ -")
        if unknown := set(entry) - {"sha256", *_LIMITS}:
            raise UnusableKeys(f"key {name}: {sorted(unknown)[0]!r} is none of sha256, {', '.join(_LIMITS)}")
        digest = str(entry.get("sha256", "")).lower()
        if not _HASH.fullmatch(digest):
            raise UnusableKeys(
                f"key {name}: sha256 must be 64 hexadecimal digits; see python -m service.keys"
            )
        if digest in by_hash:
            raise UnusableKeys(f"key {name}: {by_hash[digest].name} has the same one")
        if any(name == account.name for account in by_hash.values()):
            raise UnusableKeys(f"the name {name} is given twice")
        limits = {limit: entry.get(limit, default) for limit, default in defaults.items()}
        for limit, value in limits.items():
            if type(value) is not int or value < 0:
                raise UnusableKeys(
                    f"key {name}: {limit} must be a whole number, 0 for no limit, not {value!r}"
                )
        by_hash[digest] = Account(name, **limits)
    return Accounts(by_hash, Account(ANONYMOUS, **defaults))


def hash_of(key: str) -> str:
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()


def make_key() -> str:
    return secrets.token_urlsafe(32)


def _entries(settings: Settings) -> Iterator[tuple[str, Mapping[str, Any]]]:
    if settings.keys_file:
        try:
            document = tomllib.loads(Path(settings.keys_file).read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise UnusableKeys(f"{settings.keys_file}: {error}") from error
        for name, entry in document.items():
            if not isinstance(entry, dict):
                raise UnusableKeys(f"{settings.keys_file}: {name} must be a table: [{name}]")
            yield name, entry
    for pair in filter(None, map(str.strip, settings.api_keys.split(","))):
        name, _, digest = pair.partition("=")
        yield name.strip(), {"sha256": digest.strip()}


def main() -> int:
    """Make a key for each name: the key itself is shown once, the lines below it go into the file of keys."""
    names = sys.argv[1:]
    if not names or any(not _NAME.fullmatch(name) for name in names):
        print("usage: python -m service.keys NAME …  (letters, digits and . _ -)", file=sys.stderr)
        return 2
    for name in names:
        key = make_key()
        print(f"# The key of {name}, for its client: {key}", file=sys.stderr)
        print(f'["{name}"]\nsha256 = "{hash_of(key)}"')
    return 0


if __name__ == "__main__":
    sys.exit(main())
