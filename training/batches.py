"""Batches of examples of like length, in an order that depends on the seed and the place alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random
from typing import NamedTuple

import numpy as np
from torch import Tensor

from model.decoding import padded
from tokenizer import Tokenizer
from tokenizer.capitals import is_in_capitals
from training.corpora.augment import augment
from training.corpora.hashes import hash_of
from training.corpora.pairs import Pair
from training.draws import permuted
from training.preparation import RunData
from training.recipes import Recipe

CHUNK = 1 << 16  # examples that are encoded, sorted and batched together


class Example(NamedTuple):
    source: list[int]  # <2xx> pieces </s>
    target: list[int]  # <s> pieces </s>


class Batch(NamedTuple):
    """Padded ids. The decoder reads target[:, :-1] and is to predict target[:, 1:]."""

    source_BS: Tensor
    target_BT: Tensor
    target_pieces: int  # real ones to predict, padding not counted


class Place(NamedTuple):
    """Where a run stands in its data: the next batch to be trained on."""

    epoch: int = 0
    chunk: int = 0
    batch: int = 0


@dataclass(frozen=True)
class Batches:
    """All batches of all epochs. From any place on they are the same, whether a run was interrupted or not."""

    data: RunData
    recipe: Recipe

    def after(self, place: Place) -> Iterator[tuple[Batch, Place]]:
        """Endless: each batch with the place after it."""
        epoch, chunk, skip = place
        while True:
            for number in range(chunk, -(-self.examples_per_epoch() // CHUNK)):
                batches = self._batches(epoch, number)
                for index in range(skip, len(batches)):
                    yield collate(batches[index], self.recipe.model.pad_id), Place(epoch, number, index + 1)
                skip = 0
            epoch, chunk = epoch + 1, 0

    def examples_per_epoch(self) -> int:
        """Pairs times directions."""
        return len(self.data.train) * len(self.recipe.directions)

    def _order(self, epoch: int, chunk: int) -> Iterator[tuple[int, int]]:
        """Direction and number of the pair of each example in a chunk."""
        draws, examples = self.data.draws(self.recipe.seed), self.examples_per_epoch()
        places = np.arange(chunk * CHUNK, min(examples, (chunk + 1) * CHUNK))
        key = hash_of(f"{self.recipe.seed} order {epoch}")
        directions, drawn = np.divmod(permuted(places, examples, key), draws.per_epoch)
        return zip(directions.tolist(), draws.pairs(epoch, drawn).tolist(), strict=True)

    def _batches(self, epoch: int, chunk: int) -> list[list[Example]]:
        random = Random(f"{self.recipe.seed} chunk {epoch} {chunk}")
        examples = [
            self._example(self.recipe.directions[direction], number, random)
            for direction, number in self._order(epoch, chunk)
        ]
        batches = pack(
            [example for example in examples if fits(example, self.recipe.max_length)],
            self.recipe.batch_tokens,
        )
        random.shuffle(batches)
        return batches

    def _example(self, languages: tuple[str, str], number: int, random: Random) -> Example:
        data, tokenizer = self.data, self.data.tokenizer

        def read(number: int) -> Pair:
            pair = data.train[number]
            return pair if languages == data.languages else Pair(pair.target, pair.source)

        def draw() -> Pair:
            return read(random.randrange(len(data.train)))

        pair = read(number)
        shown = augment(pair, random, self.recipe.augment, draw)
        if shown is pair and not is_in_capitals(pair.source):  # as it was when its pieces were written down
            source, target = (data.train_ids[language][number] for language in languages)
            example = closed(source, target, tokenizer, languages[1])
        else:
            example = encode_example(shown, tokenizer, languages[1])
        if random.random() < self.recipe.sampling:
            tag, *_, end = example.source
            return example._replace(source=[tag, *tokenizer.sample(shown.source, random), end])
        return example


def encode_example(pair: Pair, tokenizer: Tokenizer, target_language: str) -> Example:
    """Ids of both sides with the control ids around them. A source in capitals gets a target in capitals."""
    spell_target = tokenizer.encode_in_capitals if is_in_capitals(pair.source) else tokenizer.encode
    return closed(tokenizer.encode(pair.source), spell_target(pair.target), tokenizer, target_language)


def closed(
    source: Sequence[int], target: Sequence[int], tokenizer: Tokenizer, target_language: str
) -> Example:
    """Two rows of pieces with the control ids around them."""
    return Example(
        [tokenizer.target_tag(target_language), *source, tokenizer.eos_id],
        [tokenizer.bos_id, *target, tokenizer.eos_id],
    )


def fits(example: Example, max_length: int) -> bool:
    """Whether neither side, control ids included, is longer than `max_length`."""
    return max(len(example.source), len(example.target)) <= max_length


def pack(examples: Sequence[Example], budget: int) -> list[list[Example]]:
    """Examples sorted by length and cut into batches of at most `budget` padded ids of both sides."""
    batches: list[list[Example]] = []
    batch: list[Example] = []
    longest_source = longest_target = 0
    for example in sorted(examples, key=lambda example: (len(example.target), len(example.source))):
        source, target = (
            max(longest_source, len(example.source)),
            max(longest_target, len(example.target)),
        )
        if batch and (len(batch) + 1) * (source + target) > budget:
            batches.append(batch)
            batch, source, target = [], len(example.source), len(example.target)
        batch.append(example)
        longest_source, longest_target = source, target
    return [*batches, batch] if batch else batches


def collate(examples: Sequence[Example], pad_id: int) -> Batch:
    """The examples as two padded tensors."""
    sources, targets = zip(*examples, strict=True)
    return Batch(padded(sources, pad_id), padded(targets, pad_id), sum(map(len, targets)) - len(targets))
