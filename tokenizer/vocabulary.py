"""Pieces by their ids, and back from ids to text: what every tokenizer is, however it cuts text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from operator import index
from typing import SupportsIndex

SPACE_MARK = "\u2581"  # how SentencePiece writes a space inside a piece


class Vocabulary:
    """The pieces in the order of their ids.

    `bytes_of` has the ids that stand for one byte of UTF-8, `controls` those that stand for no text at all, and `tags`
    for each language the one that asks for it.
    """

    def __init__(
        self,
        pieces: Sequence[str],
        *,
        bytes_of: Mapping[int, int],
        controls: Iterable[int],
        tags: Mapping[str, int],
        pad_id: int,
        unk_id: int,
        bos_id: int,
        eos_id: int,
    ) -> None:
        self.size = len(pieces)
        self.pad_id, self.unk_id, self.bos_id, self.eos_id = pad_id, unk_id, bos_id, eos_id
        self.languages: tuple[str, ...] = tuple(tags)
        self._piece_of, self._byte_of = pieces, bytes_of
        self._controls, self._tags = frozenset(controls), tags

    def decode(self, ids: Iterable[SupportsIndex]) -> str:
        """The text of `ids`: control ids are skipped, a character that lacks some of its bytes is dropped."""
        return self._join(self._known(ids)).removeprefix(" ")

    def pieces(self, ids: Iterable[SupportsIndex]) -> list[str]:
        """The pieces of `ids` as SentencePiece writes them, for people: ▁ is a space, <0x41> a byte."""
        return [self._piece_of[i] for i in self._known(ids)]

    def target_tag(self, language: str) -> int:
        """Id of the control piece that asks for `language`; KeyError naming the languages there are."""
        try:
            return self._tags[language]
        except KeyError:
            known = ", ".join(self.languages)
            raise KeyError(f"no target tag for {language!r}; this tokenizer has {known}") from None

    def source_prefix(self, language: str) -> tuple[int, ...]:
        """The ids that a source starts with to ask for `language`; KeyError naming the languages there are."""
        return (self.target_tag(language),)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(size={self.size}, languages={self.languages})"

    def _join(self, ids: Iterable[int]) -> str:
        parts: list[str] = []
        run = bytearray()
        for i in ids:
            if (byte := self._byte_of.get(i)) is not None:
                run.append(byte)
                continue
            if run:
                parts.append(run.decode(errors="ignore"))
                run.clear()
            if i not in self._controls:
                parts.append(self._piece_of[i].replace(SPACE_MARK, " "))
        parts.append(run.decode(errors="ignore"))
        return "".join(parts)

    def _known(self, ids: Iterable[SupportsIndex]) -> Iterator[int]:
        for i in map(index, ids):  # any kind of integer becomes an int, which the tables are keyed by
            if not 0 <= i < self.size:
                raise ValueError(f"no piece has the id {i}; ids are 0 to {self.size - 1}")
            yield i
