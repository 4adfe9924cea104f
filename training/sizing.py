"""How large a model a corpus can feed, and how long to train it: a recipe from an amount of data."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeVar

from model.config import ModelConfig
from training.corpora.pairs import CorpusError
from training.recipes import Recipe
from training.survey import Survey

Number = TypeVar("Number", int, float)

LEAST_PAIRS = 10
FEW_PAIRS = 5000
FINE_TUNE = (
    "You can fine-tune a trained model instead: python -m training.train finetune MODEL_DIR --corpus …"
)


class Shape(NamedTuple):
    """A row of SHAPES."""

    up_to: float  # pairs
    width: int
    feed_forward_width: int
    heads: int
    encoder_layers: int
    decoder_layers: int
    dropout: float
    sampling: float
    vocabulary: int  # at most


# More pairs feed a wider model; fewer ask for more dropout, and for words cut into pieces at random. A deep encoder
# costs little where a deep decoder would run once for every piece. The last row is the base model of arXiv 1706.03762.
SHAPES = (
    Shape(3_000, 128, 512, 4, 2, 2, 0.3, 0.5, 8_000),
    Shape(80_000, 128, 512, 4, 4, 4, 0.3, 0.5, 8_000),
    Shape(600_000, 256, 1024, 4, 6, 3, 0.15, 0.0, 8_000),
    Shape(3_000_000, 512, 2048, 8, 6, 3, 0.1, 0.0, 16_000),
    Shape(math.inf, 512, 2048, 8, 6, 6, 0.1, 0.0, 32_000),
)

SPECIAL_PIECES = 512  # control pieces, bytes, and the characters of strings that training adds to be copied
LETTERS_A_PIECE_IS_LEARNT_FROM = 200  # about 50 occurrences of an average piece
REAL_SHARE = 0.45  # of a batch: target pieces that are no padding
UPDATE_PIECES = 8192  # padded ones of both sides in an update, where there is enough data
BATCH_PIECES = 4096  # … and in one of its batches: small ones stay in the processor's cache


@dataclass(frozen=True)
class Choice:
    """One field of a recipe and why it is as it is."""

    field: str
    value: int | float
    why: str


def sized_recipe(
    found: Survey, settings: Mapping[str, str], *, name: str, directions: Sequence[tuple[str, str]]
) -> tuple[Recipe, list[Choice]]:
    """The recipe for a corpus, and each choice in it with its reason. CorpusError for too few pairs.

    `settings` are `--set` texts. They replace what would be chosen, and what follows from it follows from them.
    """
    refuse_few(found)
    sizes = size_choices(found, len(directions))
    of_model = {
        one.field.removeprefix("model."): one.value for one in sizes if one.field.startswith("model.")
    }
    model = ModelConfig(**of_model, key_value_heads=int(of_model["heads"]))  # type: ignore[arg-type]
    recipe = Recipe(name=name, corpus=found.corpus.name, directions=tuple(directions), model=model)
    return completed(recipe, sizes, schedule_choices, settings)


def completed(
    recipe: Recipe,
    sizes: Sequence[Choice],
    schedule: Callable[[Recipe], Sequence[Choice]],
    settings: Mapping[str, str],
) -> tuple[Recipe, list[Choice]]:
    """`recipe` with its sizes, and with the schedule that these, or what was set in their place, ask for."""
    recipe = _with(recipe, sizes).with_settings(dict(settings))
    times = schedule(recipe)
    return _with(recipe, times).with_settings(dict(settings)), [*sizes, *times]


def size_choices(found: Survey, directions: int) -> list[Choice]:
    """From the pairs, letters and characters of a corpus to data, model and number of updates."""
    pairs = found.pairs
    shape = next(shape for shape in SHAPES if pairs <= shape.up_to)
    letters = found.extent_of(0) + found.extent_of(1)

    # Pieces. A script of thousands of characters spells its rare ones in bytes, or they would fill the vocabulary.
    coverage = 1.0 if len(found.characters) < 1000 else 0.9995
    characters = found.characters_for(coverage)
    learnt = letters // LETTERS_A_PIECE_IS_LEARNT_FROM
    most = max(shape.vocabulary, SPECIAL_PIECES + 2 * characters)
    vocabulary = min(SPECIAL_PIECES + characters + learnt, most)
    longest = max(found.percentile(side, 99) for side in (0, 1)) / letters_in_piece(vocabulary)
    max_length = _within(120, 20 * math.ceil(1.5 * longest / 20), 250)

    # Updates. Twenty a pass over the data or more, and the fewer pairs, the more passes.
    pieces = target_pieces(found, directions, vocabulary)
    update = _within(2 * max_length, round(pieces / 20 / REAL_SHARE), UPDATE_PIECES)
    accumulate = 2 if update >= 2 * BATCH_PIECES else 1
    batch = min(update, BATCH_PIECES)
    passes = _within(3, round(27 * (30_000 / pairs) ** 0.35), 60)  # 27 on 30,000 pairs, 15 on 165,000
    updates = max(200, round(passes * pieces / (REAL_SHARE * batch * accumulate)))
    return [
        Choice("held_out", _within(2, pairs // 30, 1500), "one pair in thirty, and as many for the test"),
        Choice("character_coverage", coverage, f"{len(found.characters):,} distinct characters"),
        Choice("model.vocabulary_size", vocabulary, f"at most; {letters:,} letters to learn pieces from"),
        Choice("model.width", shape.width, f"{pairs:,} pairs feed so many numbers"),
        Choice("model.feed_forward_width", shape.feed_forward_width, "from the width"),
        Choice("model.heads", shape.heads, "from the width"),
        Choice("model.encoder_layers", shape.encoder_layers, "deep is cheap here: it runs once a sentence"),
        Choice("model.decoder_layers", shape.decoder_layers, "runs once a piece"),
        Choice("model.dropout", shape.dropout, "the less data, the more"),
        Choice(
            "sampling", shape.sampling, "share of sources cut into pieces at random: the same, for spelling"
        ),
        Choice("max_length", max_length, f"99 % of the sentences have up to about {longest:.0f} pieces"),
        Choice("batch_tokens", batch, "of both sides; twenty updates or more a pass over the data"),
        Choice("accumulate", accumulate, "batches to an update"),
        Choice("updates", updates, f"{passes} passes over about {pieces:,.0f} target pieces"),
        Choice("patience", 10, "validations without a better one, then it ends early"),
    ]


def schedule_choices(recipe: Recipe) -> list[Choice]:
    """What follows from a recipe's width and updates."""
    updates, decay = recipe.updates, round(_within(0.9, 1 - 25 / recipe.updates, 0.9998), 4)
    return [
        Choice("learning_rate", highest_rate(recipe), "halved for each doubling of the width from 256 on"),
        Choice("warmup", _within(1, updates // 16, 1000), "a sixteenth of the updates"),
        Choice("cooldown", updates // 3, "the last third falls to zero"),
        Choice("average_decay", decay, "the average looks back a twenty-fifth of the updates"),
        Choice("validate_every", max(1, updates // 20), "twenty times in all"),
    ]


def tuning_choices(
    found: Survey, model: ModelConfig, longest: int, directions: int, old_pairs: int
) -> list[Choice]:
    """Sizes for a trained model that is to learn a corpus, and to see `old_pairs` of its old data on the way."""
    refuse_few(found)
    pieces = target_pieces(found, directions, model.vocabulary_size) * (1 + old_pairs / found.pairs)
    batch = _within(2 * longest, round(pieces / 10 / REAL_SHARE), BATCH_PIECES)
    passes = _within(1, round(10 * math.sqrt(1_000 / found.pairs)), 20)
    updates = max(20, round(passes * pieces / (REAL_SHARE * batch)))
    return [
        Choice(
            "held_out", _within(2, found.pairs // 20, 1000), "one pair in twenty, and as many for the test"
        ),
        Choice("max_length", longest, "as the model was trained"),
        Choice("batch_tokens", batch, "of both sides; ten updates or more a pass over the data"),
        Choice("updates", updates, f"{passes} passes over about {pieces:,.0f} target pieces"),
        Choice("patience", 4, "validations without a better one, then it ends early"),
    ]


def tuning_schedule(recipe: Recipe) -> list[Choice]:
    """What follows from the width and the updates where a trained model goes on."""
    updates, decay = recipe.updates, round(_within(0.8, 1 - 10 / recipe.updates, 0.999), 4)
    return [
        Choice("learning_rate", 0.3 * highest_rate(recipe), "three tenths of that of a new model"),
        Choice("warmup", max(1, updates // 10), "a tenth of the updates"),
        Choice("cooldown", updates // 2, "the second half falls to zero"),
        Choice("average_decay", decay, "the average looks back a tenth of the updates"),
        Choice("validate_every", max(1, updates // 10), "ten times in all"),
    ]


def highest_rate(recipe: Recipe) -> float:
    """Of a new model. Muon's updates have one size, which wide models want smaller."""
    return 4e-3 * min(1.0, 256 / recipe.model.width)


def refuse_few(found: Survey) -> None:
    """CorpusError where there are too few pairs to hold any out."""
    if found.pairs < LEAST_PAIRS:
        dropped = ", ".join(f"{why}: {count:,}" for why, count in found.cleaning.dropped_for.most_common())
        raise CorpusError(
            f"{found.corpus.name}: {found.pairs} of {found.cleaning.read:,} pairs are left after cleaning (dropped "
            f"for {dropped or 'nothing'}); at least {LEAST_PAIRS} are needed to train and to measure anything, and "
            f"thousands to be of use. {FINE_TUNE}"
        )


def letters_in_piece(vocabulary: int) -> float:
    """About 2 in a vocabulary of 500 pieces, 4 in one of 10,000: measured on English, German and French."""
    return 0.45 * math.log2(vocabulary) - 2


def target_pieces(found: Survey, directions: int, vocabulary: int) -> float:
    """About how many there are in one pass over the pairs; each target ends with a piece of its own."""
    letters = found.extent_of(1) + (found.extent_of(0) if directions == 2 else 0)
    return letters / letters_in_piece(vocabulary) + directions * found.pairs


def advice(pairs: int) -> str:
    """What to expect of so few pairs; empty where there are enough."""
    if pairs >= FEW_PAIRS:
        return ""
    return (
        f"{pairs:,} pairs are few: expect a model that knows sentences much like yours and no others, and scores "
        f"that jump with every sentence. {FINE_TUNE}"
    )


def _with(recipe: Recipe, choices: Sequence[Choice]) -> Recipe:
    """Those of the recipe's own fields; the model's are in its config already."""
    fields = {one.field: one.value for one in choices if not one.field.startswith("model.")}
    return replace(recipe, **fields)  # type: ignore[arg-type]


def _within(least: Number, value: Number, most: Number) -> Number:
    return max(least, min(value, most))
