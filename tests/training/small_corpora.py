"""Small corpora in the forms that users have them, out of the project's own sentences."""

from __future__ import annotations

from pathlib import Path

from training.corpora.pairs import Pair
from training.primer.write import primer

EN_DE = ["--source-language", "en", "--target-language", "de"]


def sentences(pairs: int, *, seed: int = 3) -> list[Pair]:
    return primer(seed=seed, pairs=max(20, pairs + pairs // 4), held_out=1)[0][:pairs]


def write_corpus(folder: Path, *, pairs: int, seed: int = 3) -> list[str]:
    """A table of so many pairs, as the arguments that name it."""
    path = folder / f"mine-{seed}.tsv"
    path.write_text("".join(f"{a}\t{b}\n" for a, b in sentences(pairs, seed=seed)), encoding="utf-8")
    return ["--corpus", str(path), *EN_DE]
