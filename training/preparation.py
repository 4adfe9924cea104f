"""From corpora to a run's data: cleaned, split without leaks, with a tokenizer learnt on the training part."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
from rich.console import Console

from tokenizer import Tokenizer
from tokenizer.train import train_tokenizer
from training.corpora.augment import augment
from training.corpora.corpus import Corpus, Mixture
from training.corpora.pairs import CorpusError, Pair
from training.corpora.parts import PARTS, Contribution, write_parts
from training.corpora.rows import StoredIds, StoredPairs, write_ids
from training.corpora.shelf import sha256_of
from training.draws import Draws, shares_of
from training.recipes import Recipe

FACTS = "corpus.json"


@dataclass(frozen=True)
class RunData:
    """What a run trains and is measured on. Pairs are (source, target) in the order of `languages`.

    The training part stays on disk: a pair is read when it is asked for.
    """

    languages: tuple[str, str]
    train: StoredPairs
    train_ids: dict[str, StoredIds]  # by language: the pieces of each text of the training part
    validation: list[Pair]
    test: list[Pair]
    tokenizer: Tokenizer
    facts: dict[str, Any]  # corpora, licence, attribution, numbers of pairs, checksums

    def oriented(self, pairs: Sequence[Pair], direction: tuple[str, str]) -> list[Pair]:
        """The pairs in a direction: as they are, or turned round."""
        if direction == self.languages:
            return list(pairs)
        if direction == self.languages[::-1]:
            return [Pair(pair.target, pair.source) for pair in pairs]
        raise CorpusError(f"the corpus is {' and '.join(self.languages)}, not {' to '.join(direction)}")

    def draws(self, seed: int) -> Draws:
        """Which pairs of the training part come when."""
        return _draws(self.facts["corpora"], seed)

    def count_longer(self, max_length: int) -> int:
        """Training pairs with a side of more than `max_length` pieces, both control ids of an example included."""
        return _count_longer([self.train_ids[language] for language in self.languages], max_length)


def prepare(
    recipe: Recipe,
    corpus: Corpus | Mixture,
    folder: Path,
    console: Console,
    *,
    tokenizer: bytes | None = None,
    old_pairs: Sequence[Pair] = (),
) -> None:
    """Writes `folder`: train, validation and test as aligned files, the training part as ids too, and the tokenizer.
    All of it or nothing, in memory that does not grow with the text.

    Without a `tokenizer` one is learnt. `old_pairs` are added to the training part, but for those that share a text
    with a held-out one.
    """
    mixture = corpus if isinstance(corpus, Mixture) else Mixture((corpus,))
    first = mixture.corpora[0]
    languages = (first.source_language, first.target_language)
    for direction in recipe.directions:
        if set(direction) != set(languages):
            raise CorpusError(f"{first.name} is {'–'.join(languages)}, the recipe asks for {direction}")
    unfinished = folder.with_name(folder.name + ".tmp")
    shutil.rmtree(unfinished, ignore_errors=True)
    unfinished.mkdir(parents=True)
    contributions = write_parts(
        mixture.corpora, unfinished, held_out=recipe.held_out, seed=recipe.seed, old_pairs=old_pairs
    )
    _show(contributions, console)
    corpora = _facts_of(contributions, mixture)
    train = StoredPairs(unfinished / "train", languages)
    if tokenizer is None:
        console.print("learning the tokenizer on the training part …")
        tokenizer = train_tokenizer(
            tokenizer_lines(train, _draws(corpora, recipe.seed), recipe),
            size=recipe.model.vocabulary_size,
            languages=recipe.languages,
            coverage=recipe.character_coverage,
        )
    (unfinished / "tokenizer.model").write_bytes(tokenizer)
    _write_train_ids(unfinished, languages, Tokenizer(tokenizer))
    too_long = _count_too_long(unfinished, languages, Tokenizer(tokenizer), recipe.max_length)
    facts = {
        "corpus": " + ".join(one.name for one in mixture.corpora),
        "licence": _joined(one.licence for one in mixture.corpora),
        "attribution": _joined(one.attribution for one in mixture.corpora),
        "languages": languages,
        "pairs": {part: sum(one.pairs[part] for one in contributions) for part in PARTS},
        "too_long": too_long,
        "corpora": corpora,
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
        first, second = facts["languages"]
        languages = (first, second)
        tokenizer = Tokenizer((folder / "tokenizer.model").read_bytes())
        return RunData(
            languages,
            train=StoredPairs(folder / "train", languages),
            train_ids={
                language: StoredIds(_ids_of(folder, language), tokenizer.size) for language in languages
            },
            validation=list(StoredPairs(folder / "validation", languages)),
            test=list(StoredPairs(folder / "test", languages)),
            tokenizer=tokenizer,
            facts=facts,
        )
    except (OSError, ValueError, KeyError) as error:
        raise CorpusError(f"{folder}: not the data of a run: {error}") from error


def tokenizer_lines(pairs: Sequence[Pair], draws: Draws, recipe: Recipe) -> Iterator[str]:
    """Both sides of the pairs as training will show them: capitals and copied strings need pieces too.

    All pairs, or the first ones that would be trained on where there are more than `tokenizer_pairs`.
    """
    random = Random(f"{recipe.seed} tokenizer")
    sample: Iterable[Pair] = pairs
    if len(pairs) > recipe.tokenizer_pairs:
        sample = (pairs[number] for number in draws.pairs(0, np.arange(recipe.tokenizer_pairs)).tolist())
    for pair in sample:
        yield from augment(pair, random, recipe.augment, lambda: random.choice(pairs))


def _draws(corpora: Sequence[dict[str, Any]], seed: int) -> Draws:
    sizes = tuple(one["pairs"]["train"] for one in corpora)
    weights = [one["weight"] for one in corpora]
    return Draws(sizes, shares_of(sizes, None if None in weights else weights), seed)


def _show(contributions: Sequence[Contribution], console: Console) -> None:
    for one in contributions:
        if one.cleaning.read:
            console.print(one.cleaning.table(f"Cleaning {one.name}"))
        parts = ", ".join(f"{count:,} {part}" for part, count in one.pairs.items())
        console.print(
            f"{one.name}: {parts}; set aside, since they share a text with a held-out pair: {one.set_aside:,}; "
            f"overlap {one.overlap:,}" + (", as its makers divided it" if one.overlap else "")
        )


def _facts_of(contributions: Sequence[Contribution], mixture: Mixture) -> list[dict[str, Any]]:
    """In the order in which the corpora stand in the training part."""
    weights = dict(zip((one.name for one in mixture.corpora), mixture.weights or (), strict=False))
    terms = {one.name: {"licence": one.licence, "attribution": one.attribution} for one in mixture.corpora}
    return [
        {
            "name": one.name,
            "weight": weights.get(one.name),
            **terms.get(one.name, {}),
            "reading": asdict(one.reading),
            "cleaning": one.cleaning.to_json(),
            "pairs": {part: one.pairs[part] for part in PARTS},
            "set_aside": one.set_aside,
            "overlap": one.overlap,
        }
        for one in contributions
    ]


def _write_train_ids(folder: Path, languages: tuple[str, str], tokenizer: Tokenizer) -> None:
    pairs = StoredPairs(folder / "train", languages)
    for side, language in enumerate(languages):
        write_ids(_ids_of(folder, language), (tokenizer.encode(pair[side]) for pair in pairs), tokenizer.size)


def _count_longer(sides: Sequence[StoredIds], max_length: int) -> int:
    blocks = zip(*(side.lengths() for side in sides), strict=True)
    return sum(int((np.maximum(*lengths) + 2 > max_length).sum()) for lengths in blocks)


def _count_too_long(
    folder: Path, languages: tuple[str, str], tokenizer: Tokenizer, max_length: int
) -> dict[str, int]:
    """Pairs of the parts that a training or a validation will leave out. CorpusError where it would be all."""
    counts = {
        "train": _count_longer(
            [StoredIds(_ids_of(folder, language), tokenizer.size) for language in languages], max_length
        ),
        "validation": sum(
            any(len(tokenizer.encode(text)) + 2 > max_length for text in pair)
            for pair in StoredPairs(folder / "validation", languages)
        ),
    }
    for part, count in counts.items():
        if count == (pairs := len(StoredPairs(folder / part, languages))):
            raise CorpusError(
                f"all {pairs:,} pairs of the {part} part are longer than {max_length} pieces, the recipe's max_length: "
                f"{count:,} left out, 0 kept"
            )
    return counts


def _ids_of(folder: Path, language: str) -> Path:
    return folder / f"train.{language}.ids"


def _joined(terms: Iterable[str]) -> str:
    return "; ".join(dict.fromkeys(term for term in terms if term))
