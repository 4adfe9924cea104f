"""Batches: within their budget, every example once an epoch, the same from any place on."""

from collections import Counter
from dataclasses import replace
from itertools import islice, takewhile

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from training import batches as module
from training.batches import Batch, Batches, Example, Place, collate, encode_example, fits, pack
from training.corpora.augment import AugmentShares
from training.corpora.pairs import Pair
from training.preparation import RunData
from training.recipes import NO_AUGMENT, Recipe

examples = st.lists(
    st.builds(
        lambda source, target: Example([1] * source, [1] * target), st.integers(2, 40), st.integers(2, 40)
    ),
    max_size=60,
)


@given(examples, st.integers(80, 400))
def test_no_batch_exceeds_the_budget_of_padded_pieces_and_no_example_is_lost(
    examples: list[Example], budget: int
) -> None:
    packed = pack(examples, budget)
    for batch in packed:
        source, target = max(len(one.source) for one in batch), max(len(one.target) for one in batch)
        assert len(batch) * (source + target) <= budget
    sizes = Counter((len(one.source), len(one.target)) for one in examples)
    assert Counter((len(one.source), len(one.target)) for batch in packed for one in batch) == sizes


def test_target_pieces_are_those_that_the_decoder_has_to_predict() -> None:
    batch = collate([Example([9, 3], [2, 7, 8, 3]), Example([9, 5, 3], [2, 3])], pad_id=0)
    assert batch.source_BS.tolist() == [[9, 3, 0], [9, 5, 3]]
    assert batch.target_BT.tolist() == [[2, 7, 8, 3], [2, 3, 0, 0]]
    assert batch.target_pieces == int((batch.target_BT[:, 1:] != 0).sum()) == 4


def test_an_example_is_the_tag_of_the_target_language_and_two_closed_sequences(data: RunData) -> None:
    tokenizer = data.tokenizer
    example = encode_example(Pair("Guten Tag.", "Good day."), tokenizer, "en")
    assert example.source[0] == tokenizer.target_tag("en")
    assert example.target[0] == tokenizer.bos_id
    assert example.source[-1] == example.target[-1] == tokenizer.eos_id
    assert tokenizer.decode(example.source) == "Guten Tag."
    assert tokenizer.decode(example.target) == "Good day."


def test_a_source_in_capitals_asks_for_a_target_in_capitals(data: RunData) -> None:
    tokenizer = data.tokenizer
    example = encode_example(Pair("GUTEN TAG.", "Good day."), tokenizer, "en")
    assert example.source[1] == example.target[1] == tokenizer.upper_id
    assert example.target[2:-1] == tokenizer.encode("Good day.")
    assert tokenizer.decode(example.target) == "GOOD DAY."


def first_epoch(batches: Batches) -> list[Batch]:
    return [batch for batch, _ in takewhile(lambda one: one[1].epoch == 0, batches.after(Place()))]


def rows(batch: Batch) -> list[tuple[int, ...]]:
    return [tuple(row) for row in batch.target_BT.tolist()]


def test_an_epoch_holds_every_pair_once_in_every_direction(data: RunData, recipe: Recipe) -> None:
    seen: Counter[str] = Counter()
    for batch in first_epoch(Batches(data, recipe)):
        seen.update(data.tokenizer.decode(row) for row in rows(batch))
    wanted = Counter(side for pair in data.train for side in pair)
    assert seen == wanted


def test_two_epochs_differ_in_order_and_agree_in_content(data: RunData, recipe: Recipe) -> None:
    batches = Batches(data, recipe)
    one, two = (
        [
            data.tokenizer.decode(row)
            for batch, _ in takewhile(
                lambda item: item[1].epoch == epoch,  # noqa: B023 (used up before the next epoch)
                batches.after(Place(epoch)),
            )
            for row in rows(batch)
        ]
        for epoch in (0, 1)
    )
    assert one != two
    assert Counter(one) == Counter(two)


@pytest.mark.parametrize("skip", [1, 7, 33])
def test_the_batches_after_a_place_are_those_of_the_uninterrupted_stream(
    data: RunData, recipe: Recipe, monkeypatch: pytest.MonkeyPatch, skip: int
) -> None:
    monkeypatch.setattr(module, "CHUNK", 300)  # several chunks, so that a place in a later one is met
    recipe = replace(recipe, augment=AugmentShares())
    whole = list(islice(Batches(data, recipe).after(Place()), 60))
    place = whole[skip - 1][1]
    resumed = list(islice(Batches(data, recipe).after(place), 60 - skip))
    assert len(resumed) == 60 - skip
    for (batch, batch_place), (wanted, wanted_place) in zip(resumed, whole[skip:], strict=True):
        assert torch.equal(batch.source_BS, wanted.source_BS)
        assert torch.equal(batch.target_BT, wanted.target_BT)
        assert batch_place == wanted_place


def test_pairs_longer_than_the_limit_are_in_no_batch(data: RunData, recipe: Recipe) -> None:
    short = replace(recipe, max_length=9)
    for batch in first_epoch(Batches(data, short)):
        assert batch.source_BS.shape[1] <= 9
        assert batch.target_BT.shape[1] <= 9
    assert any(not fits(encode_example(pair, data.tokenizer, "en"), 9) for pair in data.train)


def test_a_share_of_the_sources_is_cut_at_random_and_reads_the_same(recipe: Recipe, data: RunData) -> None:
    plain = replace(recipe, augment=NO_AUGMENT)
    texts: dict[float, Counter[str]] = {}
    spelled: dict[float, set[tuple[int, ...]]] = {}
    for sampling in (0.0, 1.0):
        batches = first_epoch(Batches(data, replace(plain, sampling=sampling)))
        ids = [
            tuple(i for i in row if i != recipe.model.pad_id)
            for batch in batches
            for row in batch.source_BS.tolist()
        ]
        texts[sampling] = Counter(map(data.tokenizer.decode, ids))
        spelled[sampling] = set(ids)
    assert texts[0.0] == texts[1.0]
    assert len(spelled[1.0] - spelled[0.0]) > len(spelled[1.0]) / 2
