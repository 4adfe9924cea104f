"""64-bit hashes of text, and a set of them that is small enough for millions of sentences."""

from __future__ import annotations

from array import array
from hashlib import blake2b


def hash_of(text: str) -> int:
    """1 … 2⁶⁴ − 1, the same in every process (Python's own `hash` is not)."""
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "little") or 1


class HashSet:
    """A set of non-zero 64-bit numbers in 16 to 32 bytes each; Python's `set` takes about 70.

    Open addressing with linear probing. The numbers are hashes already, so their low bits choose the slot.
    """

    def __init__(self) -> None:
        self._slots = array("Q", bytes(8 * 1024))
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def add(self, number: int) -> bool:
        """True when the number was not there before."""
        if 2 * self._count >= len(self._slots):
            self._grow()
        slot = self._slot_of(number)
        if self._slots[slot]:
            return False
        self._slots[slot] = number
        self._count += 1
        return True

    def _slot_of(self, number: int) -> int:
        """Where the number is, or the empty slot where it would go."""
        last = len(self._slots) - 1
        slot = number & last
        while self._slots[slot] and self._slots[slot] != number:
            slot = (slot + 1) & last
        return slot

    def _grow(self) -> None:
        old = self._slots
        self._slots = array("Q", bytes(16 * len(old)))
        for number in old:
            if number:
                self._slots[self._slot_of(number)] = number
