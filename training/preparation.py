"""From a corpus to a run's data: cleaned, split without leaks, with a tokenizer learnt on the training part."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

from rich.console import Console

from tokenizer import Tokenizer
from tokenizer.train import train_tokenizer
from training.corpora.augment import augment
from training.corpora.cleaning import CleaningReport, CleaningRules, clean
from training.corpora.corpus import Corpus
from training.corpora.pairs import CorpusError, Pair
from training.corpora.shelf import sha256_of
from training.corpora.split import split, text_key
from training.recipes import Recipe

PARTS = ("train", "validation", "test")
FACTS = "corpus.json"


@dataclass(frozen=True)
class RunData:
    """What a run trains and is measured on. Pairs are (source, target) as the corpus has them."""

    languages: tuple[str, str]
    train: list[Pair]
    validation: list[Pair]
    test: list[Pair]
    tokenizer: Tokenizer
    facts: dict[str, Any]  # corpus, licence, attribution, numbers of pairs, checksums

    def oriented(self, pairs: Sequence[Pair], direction: tuple[str, str]) -> list[Pair]:
        """The pairs in a direction: as they are, or turned round."""
        if direction == self.languages:
            return list(pairs)
        if direction == self.languages[::-1]:
            return [Pair(pair.target, pair.source) for pair in pairs]
        raise CorpusError(f"the corpus is {' and '.join(self.languages)}, not {' to '.join(direction)}")


def prepare(
    recipe: Recipe,
    corpus: Corpus,
    folder: Path,
    console: Console,
    *,
    tokenizer: bytes | None = None,
    old_pairs: Sequence[Pair] = (),
) -> None:
    """Writes `folder`: train, validation and test as aligned files, and tokenizer.model. All of it or nothing.

    Without a `tokenizer` one is learnt. `old_pairs` are added to the training part, but for those that share a text
    with a held-out one.
    """
    languages = (corpus.source_language, corpus.target_language)
    for direction in recipe.directions:
        if set(direction) != set(languages):
            raise CorpusError(f"{corpus.name} is {'–'.join(languages)}, the recipe asks for {direction}")
    parts = _cleaned_parts(recipe, corpus, console)
    if old_pairs:
        held_out = {
            text_key(text) for part in ("validation", "test") for pair in parts[part] for text in pair
        }
        added = [pair for pair in old_pairs if held_out.isdisjoint(map(text_key, pair))]
        console.print(
            f"{len(added):,} old pairs join the training part; {len(old_pairs) - len(added):,} share a text with a "
            "held-out pair and are left out"
        )
        parts["train"] += added
    if tokenizer is None:
        console.print("learning the tokenizer on the training part …")
        tokenizer = train_tokenizer(
            tokenizer_lines(parts["train"], recipe),
            size=recipe.model.vocabulary_size,
            languages=recipe.languages,
            coverage=recipe.character_coverage,
        )
    unfinished = folder.with_name(folder.name + ".tmp")
    shutil.rmtree(unfinished, ignore_errors=True)
    unfinished.mkdir(parents=True)
    for part, pairs in parts.items():
        for language, side in zip(languages, zip(*pairs, strict=True), strict=True):
            text = "".join(f"{line}\n" for line in side)
            (unfinished / f"{part}.{language}").write_text(text, encoding="utf-8", newline="\n")
    (unfinished / "tokenizer.model").write_bytes(tokenizer)
    facts = {
        "corpus": corpus.name,
        "licence": corpus.licence,
        "attribution": corpus.attribution,
        "languages": languages,
        "pairs": {part: len(pairs) for part, pairs in parts.items()},
        "sha256": {path.name: sha256_of(path) for path in sorted(unfinished.iterdir())},
    }
    (unfinished / FACTS).write_text(json.dumps(facts, indent=2) + "\n")
    unfinished.replace(folder)


def load_run_data(folder: Path) -> RunData:
    """What `prepare` wrote; CorpusError when a file of it is missing or not the one that was written."""
    try:
        facts = json.loads((folder / FACTS).read_text())
        for name, expected in facts["sha256"].items():
            if sha256_of(folder / name) != expected:
                raise CorpusError(f"{folder / name}: changed since the run began, which it must not")
    except (OSError, ValueError, KeyError) as error:
        raise CorpusError(f"{folder}: not the data of a run: {error}") from error
    first, second = facts["languages"]
    languages = (first, second)
    parts = {part: _read_aligned(folder / part, languages) for part in PARTS}
    tokenizer = Tokenizer((folder / "tokenizer.model").read_bytes())
    return RunData(languages, **parts, tokenizer=tokenizer, facts=facts)


def tokenizer_lines(pairs: Sequence[Pair], recipe: Recipe) -> Iterator[str]:
    """Both sides of the pairs as training will show them: capitals and copied strings need pieces too."""
    random = Random(f"{recipe.seed} tokenizer")
    for pair in pairs:
        yield from augment(pair, random, recipe.augment, lambda: random.choice(pairs))


def _cleaned_parts(recipe: Recipe, corpus: Corpus, console: Console) -> dict[str, list[Pair]]:
    rules = CleaningRules(source_language=corpus.source_language, target_language=corpus.target_language)
    report = CleaningReport()
    if corpus.is_split:  # its makers chose the held-out sets: those are taken untouched
        parts = {part: list(corpus.read(part)) for part in ("validation", *_tests(corpus)[:1])}
        train = list(clean(corpus.read("train"), rules, report))
        console.print(report.table(f"Cleaning {corpus.name}, training part"))
        return {"train": train, "validation": parts["validation"], "test": parts[_tests(corpus)[0]]}
    pairs = list(clean(corpus.read(), rules, report))
    console.print(report.table(f"Cleaning {corpus.name}"))
    result = split(pairs, validation=recipe.held_out, test=recipe.held_out, seed=recipe.seed)
    console.print(
        f"split: {len(result.train):,} train, {len(result.validation):,} validation, {len(result.test):,} test; "
        f"{result.set_aside:,} siblings of held-out pairs set aside; overlap {result.overlap}"
    )
    return {part: getattr(result, part) for part in PARTS}


def _tests(corpus: Corpus) -> list[str]:
    return [part for part in corpus.parts if part.startswith("test")]


def _read_aligned(stem: Path, languages: tuple[str, str]) -> list[Pair]:
    sides = [
        stem.with_name(f"{stem.name}.{language}").read_bytes().decode().split("\n")[:-1]
        for language in languages
    ]
    return [Pair(*sides_of_line) for sides_of_line in zip(*sides, strict=True)]
