"""The primer: a small English–German corpus that the project writes itself, for a first training in minutes.

Each text occurs once on its side, so each sentence has one right translation in both directions, and every
word of the held-out sentences occurs in training.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from random import Random

from training.corpora.pairs import Pair
from training.corpora.shelf import FileRecord, describe, unfinished
from training.primer.templates import TEMPLATES

PRIMER = "primer"


def write_primer(folder: Path, *, seed: int = 0, pairs: int = 6000, held_out: int = 300) -> None:
    """Writes the corpus folder: train, and `held_out` pairs each in validation and test."""
    train, validation, test = primer(seed=seed, pairs=pairs, held_out=held_out)
    parts = {"train": train, "validation": validation, "test": test}
    with unfinished(folder) as place:
        for part, content in parts.items():
            for language, side in (("en", 0), ("de", 1)):
                text = "".join(f"{pair[side]}\n" for pair in content)
                (place / f"{part}.{language}").write_text(text, encoding="utf-8", newline="\n")
        names = {part: [f"{part}.en", f"{part}.de"] for part in parts}
        describe(
            place,
            name=PRIMER,
            source_language="en",
            target_language="de",
            licence="the licence of this project",
            attribution="Written by training/primer.py",
            parts=names,
            texts={},
            files=[
                FileRecord(name, f"training/primer.py, seed {seed}")
                for both in names.values()
                for name in both
            ],
        )


def primer(*, seed: int, pairs: int, held_out: int) -> tuple[list[Pair], list[Pair], list[Pair]]:
    """(train, validation, test), the same for the same seed. Raises ValueError if `held_out` is too large."""
    if not 0 < held_out <= pairs // 10:
        raise ValueError(f"held_out is {held_out}; 1 … {pairs // 10} of {pairs} pairs may be held out twice")
    random = Random(seed)
    templates, weights = zip(*TEMPLATES, strict=True)
    everything: dict[str, str] = {}
    targets: set[str] = set()
    while len(everything) < pairs:
        (template,) = random.choices(templates, weights)
        source, target = template(random)
        if source not in everything and target not in targets:
            everything[source] = target
            targets.add(target)
    train = [Pair(*pair) for pair in everything.items()]
    words = Counter(word for pair in train for word in _vocabulary(pair))
    validation: list[Pair] = []
    test: list[Pair] = []
    kept: list[Pair] = []
    for pair in train:
        chosen = next((part for part in (test, validation) if len(part) < held_out), kept)
        # Three other sentences keep each of its words.
        if chosen is not kept and all(words[word] > 3 for word in _vocabulary(pair)):
            words.subtract(_vocabulary(pair))
            chosen.append(pair)
        else:
            kept.append(pair)
    return kept, validation, test


def _vocabulary(pair: Pair) -> set[str]:
    return {word.strip(".,?") for side in pair for word in side.split()}
