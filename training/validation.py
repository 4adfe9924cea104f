"""How good the averaged weights are: loss, and BLEU of what the Translator makes of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

import torch

from model.search import DecodingOptions
from model.texts import translate_corpus_lines
from model.transformer import Transformer
from model.translator import Translator
from training.batches import collate, encode_example, fits, pack
from training.corpora.pairs import Pair
from training.preparation import RunData
from training.recipes import Recipe
from training.scoring.metrics import Scores, score
from training.trainer import Trainer

Item = TypeVar("Item")

GREEDY = DecodingOptions(strategy="greedy")  # while training; the test at the end uses the default beam
SAMPLES = 3


@dataclass(frozen=True)
class Sample:
    """One validation sentence, to see with one's own eyes what the numbers mean."""

    source: str
    translation: str
    reference: str


@dataclass(frozen=True)
class Validation:
    """One validation of all directions."""

    loss: float  # nats per target piece, smoothed labels, no dropout
    bleu: dict[str, float]  # of each direction, named like "en-de"
    samples: list[Sample]
    skipped: int  # pairs too long for training, left out of the loss

    @property
    def mean_bleu(self) -> float:
        """What the best checkpoint is chosen by."""
        return sum(self.bleu.values()) / len(self.bleu)


def translator_of(model: Transformer, recipe: Recipe, data: RunData) -> Translator:
    """Weights of a run behind the door that the service uses too."""
    return Translator(
        model,
        data.tokenizer,
        name=recipe.name,
        directions=recipe.directions,
        longest=recipe.max_length,
    )


def validate(trainer: Trainer, averaged: Transformer, data: RunData) -> Validation:
    """Loss on the whole validation part, BLEU and samples on sentences from all over it.

    `averaged` are the trainer's averaged weights, whole even where the trainer's are sharded.
    """
    recipe = trainer.recipe
    translator = translator_of(averaged, recipe, data)
    bleu, samples = {}, []
    loss, pieces, skipped = 0.0, 0, 0
    for direction in recipe.directions:
        pairs = data.oriented(data.validation, direction)
        of_direction = _loss(trainer, averaged, data, pairs, direction[1])
        loss, pieces, skipped = loss + of_direction[0], pieces + of_direction[1], skipped + of_direction[2]
        measured = spread(pairs, recipe.validation_sentences)
        texts, scores = translate_and_score(translator, measured, direction, GREEDY)
        bleu["-".join(direction)] = scores.bleu
        samples += [
            Sample(pair.source, text, pair.target)
            for pair, text in spread(list(zip(measured, texts, strict=True)), SAMPLES)
        ]
    return Validation(loss / pieces, bleu, samples, skipped)


def spread(items: Sequence[Item], count: int) -> list[Item]:
    """Up to `count` items at even distances: corpora are often sorted by length, so their head is no sample."""
    step = max(1, len(items) // count)
    return list(items[::step][:count])


def translate_and_score(
    translator: Translator, pairs: Sequence[Pair], direction: tuple[str, str], options: DecodingOptions
) -> tuple[list[str], Scores]:
    """The sources' translations, made as `training.evaluate` makes them, and what the references say of them."""
    lines = translate_corpus_lines(translator, [pair.source for pair in pairs], *direction, options)
    texts = [line.text for line in lines]
    return texts, score(texts, [pair.target for pair in pairs], target_language=direction[1])


@torch.inference_mode()
def _loss(
    trainer: Trainer, averaged: Transformer, data: RunData, pairs: Sequence[Pair], target_language: str
) -> tuple[float, int, int]:
    """Summed loss, target pieces, pairs left out because they are too long."""
    examples = [encode_example(pair, data.tokenizer, target_language) for pair in pairs]
    fitting = [example for example in examples if fits(example, trainer.recipe.max_length)]
    batches = [
        collate(batch, trainer.recipe.model.pad_id) for batch in pack(fitting, trainer.recipe.batch_tokens)
    ]
    total = sum(trainer.loss(batch, averaged).item() for batch in batches)
    return total, sum(batch.target_pieces for batch in batches), len(examples) - len(fitting)
