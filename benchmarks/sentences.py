"""Sentences to translate, none twice, so that no memory of answers can help: those of the primer, or of a file.

Those with digits come apart: the service watches over numbers and tries again where a translation has lost one, so it
does more with them than a server that does not look.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

from training.primer.templates import TEMPLATES


class Sentences:
    """English sentences, the same for the same seed; or the lines of a file, in another order each time round."""

    def __init__(self, *, seed: int = 0, file: Path | None = None) -> None:
        def source(seed: int, wanted: Callable[[str], bool]) -> Iterator[str]:
            return _of_file(file, seed, wanted) if file else _of_primer(seed, wanted)

        self._plain = source(seed, lambda sentence: not has_digit(sentence))
        self._with_numbers = source(seed + 1, has_digit)

    def take(self, count: int) -> list[str]:
        """The next `count`, without digits."""
        return [next(self._plain) for _ in range(count)]

    def take_with_numbers(self, count: int) -> list[str]:
        """The next `count` with digits."""
        return [next(self._with_numbers) for _ in range(count)]

    def texts(self, count: int, sentences: int) -> list[str]:
        """`count` texts of so many sentences each, without digits, with a blank between them."""
        return [" ".join(self.take(sentences)) for _ in range(count)]


def has_digit(sentence: str) -> bool:
    return any(map(str.isdigit, sentence))


def _of_primer(seed: int, wanted: Callable[[str], bool]) -> Iterator[str]:
    random = Random(seed)
    templates, weights = zip(*TEMPLATES, strict=True)
    given: set[str] = set()
    while True:
        (template,) = random.choices(templates, weights)
        sentence = template(random).source
        if wanted(sentence) and sentence not in given:
            given.add(sentence)
            yield sentence


def _of_file(file: Path, seed: int, wanted: Callable[[str], bool]) -> Iterator[str]:
    """ValueError where it has none that are wanted."""
    random = Random(seed)
    stripped = map(str.strip, file.read_text(encoding="utf-8").splitlines())
    lines = [line for line in dict.fromkeys(stripped) if line and wanted(line)]
    if not lines:
        raise ValueError(f"{file} has no sentences, of those with digits or of those without")
    while True:
        random.shuffle(lines)
        yield from lines
