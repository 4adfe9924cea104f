"""Shards: pieces of a corpus that is too large for one process, each cleaned by a worker, then made one corpus.

A cleaned shard is a folder with its pairs as aligned text, four hashes of each pair, and its counts. What is a
duplicate and what is held out is decided on the hashes of all shards together: it does not depend on how the corpus was
cut.
"""

from __future__ import annotations

import json
from array import array
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from training.corpora.cleaning import CleaningReport, CleaningRules, clean, hash_of_duplicates
from training.corpora.corpus import Corpus
from training.corpora.hashes import hash_of
from training.corpora.pairs import CorpusError, Pair
from training.corpora.parts import PART_OF, PARTS
from training.corpora.readers import ReadingReport
from training.corpora.rows import STARTS, PairWriter, StoredPairs
from training.corpora.shelf import FileRecord, describe, unfinished
from training.corpora.split import SET_ASIDE, Hashes, assign_hashes, hashes_of_texts

FACTS = "shard.json"
CLEANING = "cleaning.json"
_HASHES = "hashes"  # 64-bit little-endian numbers: of the pair when folded, of both texts' keys, of the pair as it is
_COLUMNS = 4
_DUPLICATE = 255  # beside the numbers of the sets
_FATES = PART_OF | {SET_ASIDE: "set aside", _DUPLICATE: "duplicate"}


@dataclass(frozen=True)
class Shard:
    """One that was cleaned. CorpusError where the folder is none, or not whole."""

    folder: Path

    def __post_init__(self) -> None:
        try:
            self.hashes()
            len(self.pairs())
        except (OSError, ValueError, KeyError) as error:
            raise CorpusError(f"{self.folder}: no cleaned shard, or a damaged one: {error}") from error
        if len(self.hashes()) != len(self.pairs()):
            raise CorpusError(f"{self.folder}: {len(self.pairs()):,} pairs, {len(self.hashes()):,} hashes")

    @property
    def facts(self) -> dict[str, Any]:
        facts: dict[str, Any] = json.loads((self.folder / FACTS).read_text(encoding="utf-8"))
        return facts

    @property
    def languages(self) -> tuple[str, str]:
        first, second = self.facts["languages"]
        return first, second

    def hashes(self) -> Hashes:
        """Of every pair, shape (pairs, 4), mapped from the file."""
        if not (self.folder / _HASHES).stat().st_size:
            return np.empty((0, _COLUMNS), np.uint64)
        return np.memmap(self.folder / _HASHES, "<u8", mode="r").reshape(-1, _COLUMNS)

    def pairs(self) -> StoredPairs:
        return StoredPairs(self.folder / "pairs", self.languages)


def write_shard(corpus: Corpus, folder: Path) -> Shard:
    """Cleans a corpus of one part into the folder, which appears when it is whole."""
    languages = (corpus.source_language, corpus.target_language)
    rules = CleaningRules(source_language=languages[0], target_language=languages[1])
    reading, report = ReadingReport(), CleaningReport()
    with unfinished(folder) as place:
        with PairWriter(place / "pairs", languages) as writer, (place / _HASHES).open("wb") as hashes:
            for pair in clean(corpus.read(report=reading), rules, report):
                writer.append(pair)
                row = (hash_of_duplicates(pair), *hashes_of_texts(pair), hash_of("\n".join(pair)))
                hashes.write(array("Q", row).tobytes())
        facts = {
            "corpus": corpus.name,
            "languages": languages,
            "reading": asdict(reading),
            "cleaning": report.to_json(),
        }
        (place / FACTS).write_text(json.dumps(facts, indent=2) + "\n", encoding="utf-8")
    return Shard(folder)


def merge_shards(
    shards: Sequence[Shard],
    folder: Path,
    *,
    held_out: int,
    seed: int,
    licence: str,
    attribution: str,
) -> dict[str, int]:
    """Writes a corpus folder with a training, validation and test part that share no text; returns the counts.

    Of pairs that differ in case and spaces alone, the first is kept. Only hashes are in memory, never text.
    """
    languages = shards[0].languages
    for shard in shards:
        if shard.languages != languages:
            raise CorpusError(f"{shard.folder} is {shard.languages}, {shards[0].folder} is {languages}")
    hashes = np.concatenate([shard.hashes() for shard in shards])
    first = first_of_each(hashes[:, 0])
    sets = np.full(len(hashes), _DUPLICATE, np.uint8)
    sets[first] = assign_hashes(
        hashes[first, 1:3], hashes[first, 3], validation=held_out, test=held_out, seed=seed
    ).sets
    counts = {"read": len(hashes)}
    del hashes
    with unfinished(folder) as place:
        counts |= _write(shards, sets, place, languages)
        report = {"counts": counts, "shards": {shard.folder.name: shard.facts for shard in shards}}
        (place / CLEANING).write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")
        sides = {part: [f"{part}.{language}" for language in languages] for part in PARTS}
        describe(
            place,
            name=folder.name,
            source_language=languages[0],
            target_language=languages[1],
            licence=licence,
            attribution=attribution,
            parts=sides,
            texts={CLEANING: CLEANING},
            files=[
                FileRecord(name, "merged from cleaned shards")
                for name in [*(name for names in sides.values() for name in names), CLEANING]
            ],
            is_clean=True,
        )
    return counts


def first_of_each(numbers: Hashes) -> NDArray[np.bool_]:
    order = np.argsort(numbers, kind="stable")
    is_first = np.empty(len(numbers), bool)
    ordered = numbers[order]
    is_first[order] = np.append(True, ordered[1:] != ordered[:-1])[: len(ordered)]
    return is_first


def _write(
    shards: Sequence[Shard], sets: NDArray[np.uint8], place: Path, languages: tuple[str, str]
) -> Counter[str]:
    counts: Counter[str] = Counter(dict.fromkeys(_FATES.values(), 0))
    writers = {part: PairWriter(place / part, languages) for part in PARTS}
    for pair, chosen in _routed(shards, sets):
        counts[_FATES[chosen]] += 1
        if chosen in PART_OF:
            writers[PART_OF[chosen]].append(pair)
    for part, writer in writers.items():
        writer.close()
        for language in languages:
            (place / f"{part}.{language}{STARTS}").unlink()
    return counts


def _routed(shards: Sequence[Shard], sets: NDArray[np.uint8]) -> Iterator[tuple[Pair, int]]:
    start = 0
    for shard in shards:
        pairs = shard.pairs()
        yield from zip(pairs, sets[start : start + len(pairs)].tobytes(), strict=True)
        start += len(pairs)
