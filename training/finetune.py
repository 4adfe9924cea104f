"""A trained model and somebody's own translations into a run that goes on from the one with the others.

What the model could do before is measured beside what it can do after, on its old test set as well: gains on the
new text are easily paid for with losses on all other.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from random import Random

import torch
from rich.console import Console

from model.config import ModelConfig
from model.directory import load_translator
from model.translator import Translator
from tokenizer import Tokenizer
from training.corpora.cleaning import CleaningReport, CleaningRules, clean
from training.corpora.corpus import WHOLE, Corpus, open_corpus
from training.corpora.pairs import CorpusError, Pair
from training.corpora.split import text_key
from training.custom import choices_table, report_prepared
from training.preparation import FACTS, load_run_data
from training.recipes import Recipe
from training.run_folder import begin, refuse_begun
from training.scoring.evaluation_set import read_evaluation_set
from training.sizing import completed, tuning_choices, tuning_schedule
from training.start import keep_model, keep_old_test
from training.survey import survey

SAMPLE = 1000  # pairs in which characters that the tokenizer does not know are counted
MANY_BYTES = 0.05  # share of pieces that are bytes, from which on a tokenizer suits a text badly


@dataclass(frozen=True)
class Old:
    """What the model learnt from before, and was tested on; pairs are in the order of the new corpus."""

    name: str = ""
    test: Sequence[Pair] = ()
    train: Iterable[Pair] = ()
    share: float = 0.0  # of the training pairs that are to be old ones


def begin_finetune(
    folder: Path,
    start: Path,
    corpus: Corpus,
    settings: Mapping[str, str],
    console: Console,
    *,
    old: Old,
    directions: Sequence[tuple[str, str]],
    device: torch.device,
) -> None:
    """Make a run's folder that holds the model `start` and the corpus.

    CorpusError: the model does not translate so, or the corpus is broken or too small. ValueError: `settings` would
    change the shape of the model. ModelDirectoryError: `start` is no model or damaged.
    """
    refuse_begun(folder)
    translator = load_translator(start, device="cpu", dtype="float32")
    directions = served(translator, directions)
    tokenizer = own_tokenizer(translator)
    found = survey(corpus)
    found.show(console)
    console.print(spelling(tokenizer, corpus))
    test = without_texts_of(old.test, corpus)
    if old.test:
        console.print(
            f"old test: {len(test):,} of {len(old.test):,} pairs; the others have a text of your corpus"
        )
    old_pairs = drawn(old.train, round(found.pairs * old.share / (1 - old.share)), test)
    recipe, choices = completed(
        Recipe(
            name=folder.name,
            corpus=corpus.name,
            directions=tuple(directions),
            model=translator.model.config,
        ),
        tuning_choices(found, translator.model.config, translator.longest, len(directions), len(old_pairs)),
        tuning_schedule,
        settings,
    )
    _keep_shape(recipe.model, translator.model.config)
    console.print(choices_table(recipe, choices, settings))
    recipe = replace(recipe, started_from=keep_model(folder, start))
    keep_old_test(folder, old.name, (corpus.source_language, corpus.target_language), test)
    begin(
        folder,
        recipe,
        corpus,
        console,
        device=device,
        tokenizer=tokenizer.model,
        old_pairs=old_pairs,
    )
    report_prepared(folder, console, device=device)


def open_old(
    folder: Path | None, test: tuple[Path, Path] | None, share: float, languages: tuple[str, str]
) -> Old:
    """The old data in a run's folder or a corpus folder, and the old test set in two files; each may be missing.

    Without `test` a run's own test part is taken, or that of a corpus that its makers split.
    """
    if not 0.0 <= share < 1.0:
        raise CorpusError(f"--old-share is {share}, allowed: 0 … below 1")
    old = _open_folder(folder, languages) if folder else Old()
    if test:
        texts = read_evaluation_set(*test)
        pairs = [Pair(*pair) for pair in zip(texts.sources, texts.references, strict=True)]
        old = replace(old, name=f"old test {test[0].name}", test=pairs)
    return replace(old, share=share if folder else 0.0)


def served(translator: Translator, directions: Sequence[tuple[str, str]]) -> Sequence[tuple[str, str]]:
    """Those of the directions that the model has; CorpusError if the first is not one of them."""
    if directions[0] not in translator.directions:
        known = ", ".join(f"{source} → {target}" for source, target in translator.directions)
        raise CorpusError(
            f"{translator.name} translates {known}; the corpus is {' → '.join(directions[0])}. Fine-tuning improves "
            "what a model can do and teaches it no new language"
        )
    return [direction for direction in directions if direction in translator.directions]


def own_tokenizer(translator: Translator) -> Tokenizer:
    """The model's, if it is of the kind that training knows; CorpusError for a model from elsewhere."""
    if isinstance(translator.tokenizer, Tokenizer):
        return translator.tokenizer
    raise CorpusError(
        f"{translator.name} has a tokenizer for each of its languages, as models from elsewhere do; only models that "
        "were trained here, with one for all, can be fine-tuned"
    )


def spelling(tokenizer: Tokenizer, corpus: Corpus) -> str:
    """How well the model's pieces suit the corpus, in a sentence for each language."""
    pairs = list(islice(corpus.read(), SAMPLE))
    sentences = []
    for side, language in enumerate((corpus.source_language, corpus.target_language)):
        pieces = [piece for pair in pairs for piece in tokenizer.pieces(tokenizer.encode(pair[side]))]
        share = sum(piece.startswith("<0x") for piece in pieces) / max(1, len(pieces))
        letters = sum(len(pair[side]) for pair in pairs) / max(1, len(pieces))
        sentences.append(f"{language}: {letters:.1f} letters a piece, {share:.1%} of the pieces are bytes")
        if share > MANY_BYTES:
            sentences.append(
                f"the model's tokenizer does not know many of the characters of your {language} text"
            )
    return "; ".join(sentences)


def without_texts_of(test: Sequence[Pair], corpus: Corpus) -> list[Pair]:
    """The test pairs that share no text with the corpus: on the others the model would be tested on what it learnt."""
    keys = {text_key(text) for pair in test for text in pair}
    met = {key for pair in corpus.read() for key in map(text_key, pair) if key in keys} if keys else set()
    return [pair for pair in test if met.isdisjoint(map(text_key, pair))]


def drawn(pairs: Iterable[Pair], count: int, test: Sequence[Pair], *, seed: int = 1) -> list[Pair]:
    """`count` of the pairs, each as likely as any other, none with a text of the test. One pass, `count` in memory."""
    random = Random(seed)
    keys = {text_key(text) for pair in test for text in pair}
    kept: list[Pair] = []
    allowed = (pair for pair in pairs if keys.isdisjoint(map(text_key, pair))) if count else iter(())
    for number, pair in enumerate(allowed):
        if number < count:
            kept.append(pair)
        elif (place := random.randrange(number + 1)) < count:
            kept[place] = pair
    return kept


def _open_folder(folder: Path, languages: tuple[str, str]) -> Old:
    place = folder / "data" if (folder / "data" / FACTS).exists() else folder
    if (place / FACTS).exists():
        data = load_run_data(place)
        name = f"old test of {data.facts['corpus']}"
        return Old(name, data.oriented(data.test, languages), data.oriented(data.train, languages))
    corpus = open_corpus(folder)
    test = next((part for part in corpus.parts if part.startswith("test")), None)
    return Old(
        f"old test of {corpus.name}",
        [_oriented(pair, corpus, languages) for pair in corpus.read(test)] if test else (),
        (_oriented(pair, corpus, languages) for pair in _cleaned(corpus)),
    )


def _cleaned(corpus: Corpus) -> Iterable[Pair]:
    rules = CleaningRules(source_language=corpus.source_language, target_language=corpus.target_language)
    return clean(corpus.read("train" if corpus.is_split else WHOLE), rules, CleaningReport())


def _oriented(pair: Pair, corpus: Corpus, languages: tuple[str, str]) -> Pair:
    own = (corpus.source_language, corpus.target_language)
    if set(own) != set(languages):
        raise CorpusError(f"{corpus.name} is {' and '.join(own)}, not {' and '.join(languages)}")
    return pair if own == languages else Pair(pair.target, pair.source)


def _keep_shape(model: ModelConfig, start: ModelConfig) -> None:
    if replace(model, dropout=start.dropout) != start:
        raise ValueError(
            "fine-tuning keeps the shape of the model; of --set model.…, only model.dropout may change"
        )
