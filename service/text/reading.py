"""How a client wants its texts to be read: what is markup, where sentences end, which words are settled."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Markup = Literal["text", "html", "xml"]
Sentences = Literal["1", "0", "nonewlines"]


@dataclass(frozen=True, kw_only=True)
class Reading:
    """The defaults are those of a plain text. Tags are named as they are written; in HTML in small letters."""

    markup: Markup = "text"
    # "1": at stops and line breaks; "0": at line breaks alone, since none may be lost; "nonewlines": at stops and
    # blank lines alone, as fits text that was wrapped.
    sentences: Sentences = "1"
    ignore_tags: frozenset[str] = frozenset()  # these stay as they are, with all they hold
    splitting_tags: frozenset[str] = frozenset()  # a sentence never goes across these
    non_splitting_tags: frozenset[str] = frozenset()  # a sentence may go across these, whatever is usual
    # XML: an element that holds no text of its own, only elements, keeps its children apart.
    finds_outline: bool = True
    terms: Mapping[str, str] = field(default_factory=dict)  # how these are to be translated


PLAIN = Reading()
