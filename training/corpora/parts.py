"""Corpora into the parts of a run: cleaned, divided without leaks, streamed through the disk.

Text never piles up in memory: of each pair there are 24 bytes of hashes until the parts are drawn, and 16 to 32 that
tell duplicates (1 GB for 20 million pairs).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from training.corpora.cleaning import CleaningReport, CleaningRules, clean, drop_duplicates
from training.corpora.corpus import WHOLE, Corpus
from training.corpora.hashes import HashSet
from training.corpora.pairs import CorpusError, Pair
from training.corpora.readers import ReadingReport
from training.corpora.rows import PairWriter, StoredPairs, remove_pairs
from training.corpora.split import TEST, TRAIN, VALIDATION, PairHashes, assign, hashes_of_texts

PARTS = ("train", "validation", "test")
PART_OF = {TRAIN: "train", VALIDATION: "validation", TEST: "test"}

Writers = Mapping[str, PairWriter]


@dataclass
class Contribution:
    """What one corpus gave to a run. Whatever was read is in one of the counts."""

    name: str
    reading: ReadingReport = field(default_factory=ReadingReport)
    cleaning: CleaningReport = field(default_factory=CleaningReport)
    pairs: Counter[str] = field(default_factory=Counter)  # by part
    set_aside: int = 0  # in no part, since they share a text with a held-out pair
    overlap: int = (
        0  # trained on although they do: the corpus came with its parts, which are kept as they are
    )


def write_parts(
    corpora: Sequence[Corpus],
    folder: Path,
    *,
    held_out: int,
    seed: int,
    old_pairs: Iterable[Pair] = (),
) -> list[Contribution]:
    """Writes train, validation and test into the folder, the corpora one after the other, and `old_pairs` at the end
    of the training part.

    Where corpora come with parts, their validation and first test parts are taken untouched, and nothing else is held
    out; otherwise `held_out` pairs each are drawn from all corpora together. Either way a pair that shares a text with
    a held-out pair of any other corpus is not trained on. Raises CorpusError where nothing is left of a corpus.
    """
    languages = (corpora[0].source_language, corpora[0].target_language)
    contributions = [Contribution(corpus.name) for corpus in corpora]
    with ExitStack() as stack:
        writers = {part: stack.enter_context(PairWriter(folder / part, languages)) for part in PARTS}
        if any(corpus.is_split for corpus in corpora):
            _keep_parts(corpora, languages, contributions, writers)
        else:
            _draw_parts(corpora, languages, contributions, writers, folder, held_out=held_out, seed=seed)
        for contribution in contributions:
            if not contribution.pairs["train"]:
                raise CorpusError(
                    f"{contribution.name}: none of its pairs is left to be trained on; {contribution.set_aside:,} "
                    "share a text with a held-out pair"
                )
    if old_pairs:
        contributions.append(_add_old_pairs(old_pairs, folder, languages))
    return contributions


def _draw_parts(
    corpora: Sequence[Corpus],
    languages: tuple[str, str],
    contributions: Sequence[Contribution],
    writers: Writers,
    folder: Path,
    *,
    held_out: int,
    seed: int,
) -> None:
    seen, hashes = HashSet(), PairHashes()
    for corpus, contribution in zip(corpora, contributions, strict=True):
        with PairWriter(folder / f"cleaned-{corpus.name}", languages) as cleaned:
            for pair in _cleaned(corpus, WHOLE, languages, contribution, seen):
                cleaned.append(pair)
                hashes.add(pair)
    del seen
    assignment = assign(hashes, validation=held_out, test=held_out, seed=seed)
    contributions[0].overlap = assignment.overlap  # none, by construction; but counted afresh
    sets = assignment.sets
    start = 0
    for corpus, contribution in zip(corpora, contributions, strict=True):
        stem = folder / f"cleaned-{corpus.name}"
        pairs = StoredPairs(stem, languages)
        for pair, chosen in zip(pairs, sets[start : start + len(pairs)].tobytes(), strict=True):
            part = PART_OF.get(chosen)
            if part is None:
                contribution.set_aside += 1
            else:
                writers[part].append(pair)
                contribution.pairs[part] += 1
        start += len(pairs)
        remove_pairs(stem, languages)


def _keep_parts(
    corpora: Sequence[Corpus],
    languages: tuple[str, str],
    contributions: Sequence[Contribution],
    writers: Writers,
) -> None:
    held_out: list[set[int]] = []
    for corpus, contribution in zip(corpora, contributions, strict=True):
        texts: set[int] = set()
        for part, its_name in _held_out_parts(corpus).items():
            for pair in _oriented(corpus, corpus.read(its_name), languages):
                writers[part].append(pair)
                contribution.pairs[part] += 1
                texts.update(hashes_of_texts(pair))
        held_out.append(texts)
    seen = HashSet()
    for number, (corpus, contribution) in enumerate(zip(corpora, contributions, strict=True)):
        others = set[int]().union(*held_out[:number], *held_out[number + 1 :])
        part = "train" if corpus.is_split else WHOLE
        for pair in _cleaned(corpus, part, languages, contribution, seen):
            hashes = hashes_of_texts(pair)
            if not others.isdisjoint(hashes):
                contribution.set_aside += 1
                continue
            contribution.overlap += not held_out[number].isdisjoint(hashes)
            writers["train"].append(pair)
            contribution.pairs["train"] += 1


def _add_old_pairs(old_pairs: Iterable[Pair], folder: Path, languages: tuple[str, str]) -> Contribution:
    held_out = {
        text
        for part in ("validation", "test")
        for pair in StoredPairs(folder / part, languages)
        for text in hashes_of_texts(pair)
    }
    contribution = Contribution("old pairs")
    with PairWriter(folder / "train", languages, goes_on=True) as writer:
        for pair in old_pairs:
            if held_out.isdisjoint(hashes_of_texts(pair)):
                writer.append(pair)
                contribution.pairs["train"] += 1
            else:
                contribution.set_aside += 1
    return contribution


def _cleaned(
    corpus: Corpus, part: str, languages: tuple[str, str], contribution: Contribution, seen: HashSet
) -> Iterator[Pair]:
    pairs = _oriented(corpus, corpus.read(part, report=contribution.reading), languages)
    if corpus.is_clean:
        return drop_duplicates(pairs, contribution.cleaning, seen)
    rules = CleaningRules(source_language=languages[0], target_language=languages[1])
    return clean(pairs, rules, contribution.cleaning, seen)


def _oriented(corpus: Corpus, pairs: Iterable[Pair], languages: tuple[str, str]) -> Iterable[Pair]:
    if (corpus.source_language, corpus.target_language) == languages:
        return pairs
    return (Pair(pair.target, pair.source) for pair in pairs)


def _held_out_parts(corpus: Corpus) -> dict[str, str]:
    """Part of the run → part of the corpus."""
    if not corpus.is_split:
        return {}
    tests = [part for part in corpus.parts if part.startswith("test")]
    if not tests or "validation" not in corpus.parts or "train" not in corpus.parts:
        raise CorpusError(
            f"{corpus.name} has the parts {', '.join(corpus.parts)}; wanted: train, validation and one test… or more, "
            f"or only {WHOLE}"
        )
    return {"validation": "validation", "test": tests[0]}
