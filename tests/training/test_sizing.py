"""Sizes from an amount of data: sensible from twenty pairs to millions."""

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from training.corpora.archives import Stream
from training.corpora.corpus import Corpus
from training.corpora.pairs import CorpusError
from training.recipes import Recipe
from training.sizing import (
    LEAST_PAIRS,
    SHAPES,
    advice,
    completed,
    sized_recipe,
    tuning_choices,
    tuning_schedule,
)
from training.survey import Survey

BOTH = (("en", "de"), ("de", "en"))


def corpus_of(pairs: int, *, letters: int = 40, characters: int = 70) -> Survey:
    """A survey as `pairs` pairs of sentences with so many letters a side would give it."""
    stream = Stream(Path("mine.tsv"))
    found = Survey(Corpus("mine.tsv", "en", "de", "the owner's", "", {"all": (stream,)}))
    found.cleaning.kept = found.cleaning.read = pairs
    for side in (0, 1):
        found.extents[side][letters] = pairs
    found.characters = Counter({chr(0x4E00 + number): pairs for number in range(characters)})
    return found


def recipe_for(pairs: int, **kind: int) -> Recipe:
    return sized_recipe(corpus_of(pairs, **kind), {}, name="mine", directions=BOTH)[0]


@given(pairs=st.integers(LEAST_PAIRS, 10**8), letters=st.integers(1, 600), characters=st.integers(1, 8000))
def test_every_amount_of_data_gives_a_legal_recipe(pairs: int, letters: int, characters: int) -> None:
    recipe = recipe_for(pairs, letters=letters, characters=characters)
    assert recipe.warmup + recipe.cooldown < recipe.updates
    assert 2 * recipe.held_out < pairs
    assert recipe.validate_every <= recipe.updates
    assert recipe.max_length <= recipe.model.max_positions


def test_more_data_feeds_a_larger_model_with_less_dropout_and_fewer_passes() -> None:
    recipes = [recipe_for(pairs) for pairs in (200, 30_000, 170_000, 2_000_000, 50_000_000)]
    parameters = [recipe.model.parameter_count for recipe in recipes]
    assert parameters == sorted(set(parameters))
    dropouts = [recipe.model.dropout for recipe in recipes]
    assert dropouts == sorted(dropouts, reverse=True)
    passes = [
        recipe.updates * recipe.batch_tokens * recipe.accumulate / pairs
        for recipe, pairs in zip(recipes, (200, 30_000, 170_000, 2_000_000, 50_000_000), strict=True)
    ]
    assert passes == sorted(passes, reverse=True)


def test_the_sizes_are_those_of_the_published_recipes() -> None:
    small, medium = recipe_for(29_000).model, recipe_for(169_000, letters=33).model
    assert (small.width, small.encoder_layers, small.decoder_layers, small.dropout) == (128, 4, 4, 0.3)
    assert 6_000 <= small.vocabulary_size <= 10_000
    assert medium.width == 256
    assert medium.encoder_layers > medium.decoder_layers
    assert 8_000 <= medium.vocabulary_size <= 10_000


def test_the_last_row_has_no_end() -> None:
    assert [shape.up_to for shape in SHAPES] == sorted(shape.up_to for shape in SHAPES)
    assert SHAPES[-1].up_to == float("inf")


def test_a_script_of_thousands_of_characters_fits_its_vocabulary() -> None:
    found = corpus_of(2_000, letters=30, characters=3_000)
    recipe, _ = sized_recipe(found, {}, name="mine", directions=BOTH)
    assert recipe.character_coverage < 1
    assert recipe.model.vocabulary_size > found.characters_for(recipe.character_coverage) + 265


def test_long_sentences_are_not_cut_off() -> None:
    assert recipe_for(30_000, letters=40).max_length < recipe_for(30_000, letters=400).max_length


def test_one_direction_needs_half_the_updates() -> None:
    found = corpus_of(30_000)
    both, one = (sized_recipe(found, {}, name="mine", directions=way)[0].updates for way in (BOTH, BOTH[:1]))
    assert one == pytest.approx(both / 2, rel=0.05)


def test_every_choice_is_in_the_recipe_and_has_a_reason() -> None:
    recipe, choices = sized_recipe(corpus_of(500), {}, name="mine", directions=BOTH)
    for choice in choices:
        assert recipe.with_settings({choice.field: f"{choice.value}"}) == recipe
        assert choice.why


def test_what_follows_from_a_setting_follows_from_it() -> None:
    settings = {"updates": "40", "model.width": "512", "warmup": "7"}
    recipe, choices = sized_recipe(corpus_of(500), settings, name="mine", directions=BOTH)
    assert (recipe.updates, recipe.warmup, recipe.cooldown, recipe.validate_every) == (40, 7, 13, 2)
    chosen = {choice.field: choice.value for choice in choices}
    assert chosen["updates"] > 100  # what it would have been is told beside what was set
    assert chosen["warmup"] == 2
    assert recipe.learning_rate == 2e-3


def test_a_setting_without_a_recipe_is_refused() -> None:
    with pytest.raises(ValueError, match="unknown field 'speed'"):
        sized_recipe(corpus_of(500), {"speed": "9"}, name="mine", directions=BOTH)


@given(pairs=st.integers(LEAST_PAIRS, 10**7), longest=st.integers(20, 500), old=st.integers(0, 10**6))
def test_fine_tuning_any_amount_is_shorter_and_gentler_than_training(
    pairs: int, longest: int, old: int
) -> None:
    found = corpus_of(pairs)
    trained, _ = sized_recipe(found, {}, name="mine", directions=BOTH)
    sizes = tuning_choices(found, trained.model, longest, 2, old)
    tuned, _ = completed(trained, sizes, tuning_schedule, {})
    assert tuned.warmup + tuned.cooldown < tuned.updates
    assert tuned.learning_rate == pytest.approx(trained.learning_rate * 0.3)
    assert tuned.max_length == longest
    if not old:
        assert tuned.updates < trained.updates


def test_too_few_pairs_are_refused_with_what_became_of_the_others() -> None:
    found = corpus_of(9)
    found.cleaning = replace(found.cleaning, read=12, dropped_for=Counter({"length ratio": 3}))
    with pytest.raises(CorpusError, match=r"9 of 12 pairs .*length ratio: 3.*at least 10.*finetune"):
        sized_recipe(found, {}, name="mine", directions=BOTH)


def test_few_pairs_are_told_what_to_expect_and_many_are_not() -> None:
    assert "finetune" in advice(200)
    assert advice(100_000) == ""
