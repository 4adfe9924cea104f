"""A sentence and its translation: the one thing that every stage of the data path hands to the next."""

from typing import NamedTuple


class Pair(NamedTuple):
    source: str
    target: str


class CorpusError(ValueError):
    """A corpus that cannot be used as it is. The message names the file, the place and the cure."""
