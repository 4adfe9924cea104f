"""Recipes: everything that decides a training run, as one frozen value made by one function."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from model.config import ModelConfig, preset
from training.corpora.augment import AugmentShares

DEFAULT_AUGMENT = AugmentShares()
NO_AUGMENT = AugmentShares(
    capitals=0, lower_case=0, title_case=0, no_stop=0, typing_errors=0, copies=0, joined=0
)


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """A training run. Lengths and budgets are in pieces; an update is `accumulate` batches."""

    name: str
    corpus: str  # a folder below --corpora, or several with their shares: "news:3 talks:1"
    directions: tuple[tuple[str, str], ...]  # (source, target); several share one model through target tags
    model: ModelConfig  # its vocabulary_size is an upper bound: a small corpus gives fewer pieces
    held_out: int = 1000  # pairs in validation and in test, when the corpus does not bring its own
    tokenizer_pairs: int = 200_000  # the tokenizer learns from a sample of this size where there are more
    character_coverage: float = 1.0  # share of characters that become pieces; the rest is spelled in bytes
    augment: AugmentShares = DEFAULT_AUGMENT
    max_length: int = 120  # longer sides are dropped, counted and reported
    batch_tokens: int = 4096  # padded pieces of both sides in a batch, at most
    accumulate: int = 1  # batches to an update
    updates: int = 10_000
    optimiser: str = "muon"  # of the layers' matrices: muon or adam; the rest always learns by Adam
    learning_rate: float = 1e-3  # the highest, reached at the end of the warm-up
    warmup: int = 1000  # updates; then the rate falls with the inverse square root
    cooldown: int = 0  # last updates, in which the rate falls to zero in a line
    smoothing: float = 0.1  # of the labels
    consistency: float = (
        0.0  # weight with which two passes with other dropout must agree (R-Drop); costs twice
    )
    sampling: float = 0.0  # share of the sources that are cut into pieces at random
    clip: float = 1.0  # largest norm of the gradient
    weight_decay: float = 0.0
    average_decay: float = 0.999  # of the running average of the weights, which is what gets validated
    validate_every: int = 500  # updates
    validation_sentences: int = 200  # of each direction, translated for BLEU
    patience: int = 20  # validations without a better BLEU before the run stops
    keep_best: int = 1  # checkpoints
    sharding: str = "none"  # none: every process holds the model; full: each a share of it, for large ones
    precision: str = "auto"  # of matrix products: float32, bfloat16, or auto, which measures at the start
    seed: int = 1
    started_from: str = ""  # SHA-256 of the weights that are fine-tuned; the run's start/ holds them
    blend: float = 1.0  # share of the tuned weights in the model; the rest is what they started from

    def __post_init__(self) -> None:
        for field, least in LEAST.items():
            if (value := getattr(self, field)) < least:
                raise ValueError(f"recipe: {field} is {value!r}, must be at least {least}")
        if not 0.0 <= self.sampling <= 1.0:
            raise ValueError(f"recipe: sampling is {self.sampling}, must be a share, 0 … 1")
        if self.consistency < 0.0:
            raise ValueError(f"recipe: consistency is {self.consistency}, must be at least 0")
        if (
            self.model.output_bias != "none"
        ):  # imported models have one; the fused loss would leave it as it is
            raise ValueError(
                f"recipe: model.output_bias is {self.model.output_bias!r}, training knows 'none' only"
            )
        if self.optimiser not in OPTIMISERS:
            raise ValueError(f"recipe: optimiser is {self.optimiser!r}, must be one of {OPTIMISERS}")
        if self.sharding not in SHARDINGS:
            raise ValueError(f"recipe: sharding is {self.sharding!r}, must be one of {SHARDINGS}")
        if not 0.0 <= self.blend <= 1.0:
            raise ValueError(f"recipe: blend is {self.blend}, must be 0 … 1")
        if self.max_length > self.model.max_positions:
            raise ValueError(
                f"recipe: max_length is {self.max_length}, must be at most the model's max_positions "
                f"{self.model.max_positions}"
            )
        if self.batch_tokens < 2 * self.max_length:
            raise ValueError(
                f"recipe: batch_tokens is {self.batch_tokens}, must be at least 2 × max_length = {2 * self.max_length}"
                ", or the longest pair fits no batch"
            )

    def to_json(self) -> dict[str, Any]:
        """Plain values, for recipe.json."""
        return dataclasses.asdict(self)

    @classmethod
    def from_json(cls, fields: dict[str, Any]) -> Recipe:
        """The inverse of `to_json`."""
        return cls(
            **{
                **fields,
                "directions": tuple(tuple(direction) for direction in fields["directions"]),
                "model": ModelConfig.from_json(fields["model"]),
                "augment": AugmentShares(**fields["augment"]),
            }
        )

    @property
    def languages(self) -> tuple[str, ...]:
        """Those that are translated into, in the order of their tags."""
        return tuple(sorted({target for _, target in self.directions}))

    def with_settings(self, settings: dict[str, str]) -> Recipe:
        """The recipe with fields replaced by `--set` texts such as `updates=100` or `model.width=128`."""
        recipe = self
        for path, text in settings.items():
            recipe = _replaced(recipe, path.split("."), path, text)
        return recipe


OPTIMISERS = ("muon", "adam")
SHARDINGS = ("none", "full")
LEAST = dict(
    held_out=1,
    tokenizer_pairs=1,
    max_length=2,
    accumulate=1,
    updates=1,
    warmup=1,
    cooldown=0,
    validate_every=1,
    validation_sentences=1,
    patience=1,
    keep_best=1,
)


def tiny() -> Recipe:
    """Two minutes on the corpus that the project writes itself: shows the whole path at work."""
    return Recipe(
        name="tiny",
        corpus="primer",
        directions=(("de", "en"), ("en", "de")),
        model=preset("tiny", vocabulary_size=1200, dropout=0.1),
        held_out=200,
        augment=NO_AUGMENT,
        batch_tokens=4096,
        updates=750,
        learning_rate=4e-3,
        warmup=150,
        cooldown=250,
        average_decay=0.98,
        validate_every=250,
    )


def tatoeba_en_de() -> Recipe:
    """The bundled English–German model: both directions, trained on Tatoeba alone."""
    return Recipe(
        name="tatoeba-en-de",
        corpus="tatoeba-deu-eng",
        directions=(("en", "de"), ("de", "en")),
        # Layers of the encoder are cheap where it counts: they run once a sentence, the decoder's once a piece.
        model=preset("small", vocabulary_size=8000, encoder_layers=6, decoder_layers=2, dropout=0.1),
        held_out=1500,
        character_coverage=0.9999,
        batch_tokens=2250,
        accumulate=4,
        updates=9000,
        learning_rate=4e-3,
        warmup=500,
        cooldown=2500,
        sampling=0.2,
        average_decay=0.998,
        validate_every=1000,
    )


def tatoeba_en_fr() -> Recipe:
    """The bundled English–French model, trained like the English–German one."""
    return replace(
        tatoeba_en_de(),
        name="tatoeba-en-fr",
        corpus="tatoeba-fra-eng",
        directions=(("en", "fr"), ("fr", "en")),
    )


def zh_en() -> Recipe:
    """Chinese and English from 20,000 pairs: the same code trains a language without spaces."""
    return Recipe(
        name="zh-en",
        corpus="tatoeba-cmn-eng",
        directions=(("zh", "en"), ("en", "zh")),
        model=preset("small", vocabulary_size=8000, dropout=0.3),
        held_out=1000,
        character_coverage=0.9995,
        batch_tokens=2000,
        accumulate=2,
        updates=4000,
        learning_rate=4e-3,
        warmup=300,
        cooldown=1500,
        sampling=0.5,
        average_decay=0.995,
    )


def multi30k() -> Recipe:
    """The benchmark: 29,000 image captions, English and German, nothing else. Its weights are not for handing out."""
    return Recipe(
        name="multi30k",
        corpus="multi30k-en-de",
        directions=(("en", "de"), ("de", "en")),
        model=preset(
            "tiny",
            vocabulary_size=6000,
            feed_forward_width=512,
            encoder_layers=4,
            decoder_layers=4,
            dropout=0.2,
        ),
        augment=NO_AUGMENT,
        batch_tokens=4000,
        accumulate=2,
        updates=8000,
        learning_rate=5e-3,
        warmup=300,
        cooldown=2500,
        sampling=0.5,
        average_decay=0.995,
        validation_sentences=1014,
        patience=1000,
    )


RECIPES: dict[str, Callable[[], Recipe]] = {
    "tiny": tiny,
    "tatoeba-en-de": tatoeba_en_de,
    "tatoeba-en-fr": tatoeba_en_fr,
    "zh-en": zh_en,
    "multi30k": multi30k,
}


def recipe_named(name: str) -> Recipe:
    """ValueError lists the recipes there are."""
    if name not in RECIPES:
        raise ValueError(f"no recipe is called {name!r}; there are {', '.join(RECIPES)}")
    return RECIPES[name]()


def _replaced(value: Any, steps: list[str], path: str, text: str) -> Any:
    names = {field.name for field in dataclasses.fields(value)}
    if steps[0] not in names:
        raise ValueError(f"--set {path}: unknown field {steps[0]!r}; known are {', '.join(sorted(names))}")
    old = getattr(value, steps[0])
    if len(steps) > 1:
        return dataclasses.replace(value, **{steps[0]: _replaced(old, steps[1:], path, text)})
    if not isinstance(old, int | float | str):
        raise ValueError(f"--set {path}: a {type(old).__name__} cannot be set from a text")
    try:
        return dataclasses.replace(value, **{steps[0]: type(old)(text)})
    except ValueError as error:
        raise ValueError(f"--set {path}={text}: {error}") from None
