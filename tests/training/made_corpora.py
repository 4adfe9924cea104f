"""Corpora that tests write for themselves."""

from pathlib import Path

from training.corpora.corpus import Corpus, open_corpus
from training.corpora.pairs import Pair
from training.corpora.shelf import FileRecord, describe

LANGUAGES = ("en", "de")


def sentences(first: int, last: int, kind: str = "boat") -> list[Pair]:
    return [
        Pair(f"The {kind} number {number} is green.", f"Das Boot der Art {kind}, {number}, ist grün.")
        for number in range(first, last)
    ]


def whole(folder: Path, name: str, pairs: list[Pair], languages: tuple[str, str] = LANGUAGES) -> Corpus:
    """A corpus in one part, described as `training.fetch` describes one."""
    return divided(folder, name, {"all": pairs}, languages)


def divided(
    folder: Path, name: str, parts: dict[str, list[Pair]], languages: tuple[str, str] = LANGUAGES
) -> Corpus:
    place = folder / name
    place.mkdir(parents=True)
    for part, pairs in parts.items():
        rows = "".join(f"{pair.source}\t{pair.target}\n" for pair in pairs)
        (place / f"{part}.tsv").write_text(rows, encoding="utf-8")
    describe(
        place,
        name=name,
        source_language=languages[0],
        target_language=languages[1],
        licence=f"licence of {name}",
        attribution="",
        parts={part: [f"{part}.tsv"] for part in parts},
        texts={},
        files=[FileRecord(f"{part}.tsv", "made by a test") for part in parts],
    )
    return open_corpus(place)
