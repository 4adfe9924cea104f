"""Glossaries: terms and their translations, by account. Kept in the state folder if there is one."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from service.errors import InvalidValue, NotFound, TooMuch
from service.keys import Account
from service.languages import Direction
from service.storage import Storage
from service.usage import now

MAX_GLOSSARIES = 1000  # of one account
MAX_CHARACTERS = 20_000_000  # of all glossaries together, since they are in memory
_PREFIX = "glossary-"

Entries = Mapping[str, str]  # term: translation


@dataclass(frozen=True)
class Glossary:
    """One dictionary or more, each for a direction."""

    id: str
    account: str
    name: str
    created: datetime
    dictionaries: Mapping[Direction, Entries]

    @property
    def characters(self) -> int:
        return sum(
            len(term) + len(translation)
            for entries in self.dictionaries.values()
            for term, translation in entries.items()
        )

    def renamed(self, name: str) -> Glossary:
        return replace(self, name=name)

    def with_dictionary(self, direction: Direction, entries: Entries) -> Glossary:
        return replace(self, dictionaries={**self.dictionaries, direction: entries})

    def without_dictionary(self, direction: Direction) -> Glossary:
        kept = {key: entries for key, entries in self.dictionaries.items() if key != direction}
        return replace(self, dictionaries=kept)


class Glossaries:
    """All glossaries. Those of another account are as if they were not there."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        kept = [_from_json(storage.read(name)) for name in storage.names(_PREFIX)]
        self._by_id = {glossary.id: glossary for glossary in sorted(kept, key=lambda one: one.created)}

    def __repr__(self) -> str:
        return f"<Glossaries: {len(self._by_id)}>"

    def of(self, account: Account) -> list[Glossary]:
        """Oldest first."""
        return [glossary for glossary in self._by_id.values() if glossary.account == account.name]

    def get(self, account: Account, identity: str) -> Glossary:
        """Raises NotFound."""
        glossary = self._by_id.get(identity)
        if glossary is None or glossary.account != account.name:
            raise NotFound("There is no such glossary.", field="glossary_id")
        return glossary

    def add(self, account: Account, name: str, dictionaries: Mapping[Direction, Entries]) -> Glossary:
        """Raises TooMuch when there are too many."""
        if len(self.of(account)) >= MAX_GLOSSARIES:
            raise TooMuch(f"There are {MAX_GLOSSARIES} glossaries already; delete some.")
        return self.put(Glossary(str(uuid.uuid4()), account.name, name, now(), dictionaries))

    def put(self, glossary: Glossary) -> Glossary:
        """Add it, or replace the one of the same id; raises InvalidValue or TooMuch."""
        if not glossary.name.strip() or len(glossary.name) > 1024:
            raise InvalidValue("name must have 1 to 1024 characters.", field="name")
        others = sum(other.characters for other in self._by_id.values() if other.id != glossary.id)
        if others + glossary.characters > MAX_CHARACTERS:
            raise TooMuch(f"All glossaries together may have {MAX_CHARACTERS} characters; delete some.")
        self._by_id[glossary.id] = glossary
        self._storage.write(_PREFIX + glossary.id, _to_json(glossary))
        return glossary

    def remove(self, account: Account, identity: str) -> None:
        """Raises NotFound."""
        glossary = self.get(account, identity)
        del self._by_id[glossary.id]
        self._storage.delete(_PREFIX + glossary.id)


def _to_json(glossary: Glossary) -> dict[str, Any]:
    return {
        "id": glossary.id,
        "account": glossary.account,
        "name": glossary.name,
        "created": glossary.created.isoformat(),
        "dictionaries": [
            {"source": source, "target": target, "entries": dict(entries)}
            for (source, target), entries in glossary.dictionaries.items()
        ],
    }


def _from_json(kept: dict[str, Any]) -> Glossary:
    return Glossary(
        kept["id"],
        kept["account"],
        kept["name"],
        datetime.fromisoformat(kept["created"]),
        {(one["source"], one["target"]): one["entries"] for one in kept["dictionaries"]},
    )
