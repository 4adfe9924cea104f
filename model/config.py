"""Everything that decides the shape of a model, as one frozen value, with presets."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any, Literal, get_args

Positions = Literal["sinusoidal", "sinusoidal-halves", "learned", "rope"]
Norm = Literal["layer", "rms"]
Placement = Literal["pre", "post"]
FeedForwardKind = Literal["relu", "gelu", "silu", "swiglu"]
Tying = Literal["all", "output", "none"]
OutputBias = Literal["none", "learned"]


@dataclass(frozen=True, kw_only=True)
class ModelConfig:
    """Shape and ids of an encoder-decoder; ValueError names the field, the bad value and the allowed ones."""

    vocabulary_size: int
    width: int = 256  # D, of every position's vector
    heads: int = 4  # H, query heads; D must be a multiple
    key_value_heads: int = 4  # G: equal to heads is MHA, a divisor is GQA (arXiv 2305.13245), 1 is MQA
    feed_forward_width: int = 1024  # F
    encoder_layers: int = 4
    decoder_layers: int = 3
    positions: Positions = "sinusoidal"
    norm: Norm = "layer"
    norm_epsilon: float = 1e-5
    placement: Placement = "pre"  # of the norm: before each sublayer, or after its residual sum
    feed_forward: FeedForwardKind = "relu"
    tying: Tying = "all"  # which tables share weights: source+target+output, target+output, none
    output_bias: OutputBias = "none"  # of the logits: one number for each piece of the vocabulary
    dropout: float = 0.1  # on embeddings and on what each sublayer adds
    max_positions: int = 512  # longest source or target, in pieces, control pieces included
    pad_id: int = 0
    start_id: int = 2  # first target id, given and not predicted; may be pad_id, for targets are never masked
    eos_id: int = 3

    def __post_init__(self) -> None:
        for name, kind in VARIANTS.items():
            _require(
                getattr(self, name) in get_args(kind), name, getattr(self, name), f"one of {get_args(kind)}"
            )
        for name in (*SIZES, *IDS):
            _require(type(getattr(self, name)) is int, name, getattr(self, name), "a whole number")
        for name in ("dropout", "norm_epsilon"):
            _require(type(getattr(self, name)) in (int, float), name, getattr(self, name), "a number")
        for name in SIZES:
            _require(getattr(self, name) >= 1, name, getattr(self, name), "at least 1")
        for name in IDS:
            is_id = 0 <= getattr(self, name) < self.vocabulary_size
            _require(
                is_id, name, getattr(self, name), f"an id below the vocabulary_size {self.vocabulary_size}"
            )
        _require(self.eos_id != self.pad_id, "eos_id", self.eos_id, "another id than pad_id")
        _require(self.width % self.heads == 0, "heads", self.heads, f"a divisor of the width {self.width}")
        _require(
            self.heads % self.key_value_heads == 0,
            "key_value_heads",
            self.key_value_heads,
            f"a divisor of the {self.heads} heads",
        )
        _require(0.0 <= self.dropout < 1.0, "dropout", self.dropout, "in [0, 1)")
        _require(0.0 < self.norm_epsilon < 1.0, "norm_epsilon", self.norm_epsilon, "above 0 and below 1")
        if self.positions == "rope":
            _require(self.head_width % 2 == 0, "width", self.width, "an even number per head, for RoPE")
        if self.positions in ("sinusoidal", "sinusoidal-halves"):
            _require(self.width % 2 == 0, "width", self.width, "even, for sinusoidal positions")

    @property
    def head_width(self) -> int:
        """K, the width of one head."""
        return self.width // self.heads

    @property
    def parameter_count(self) -> int:
        """How many numbers the model learns, from the formula: known before anything is built."""
        D, F = self.width, self.feed_forward_width
        keys_values = 2 * self.key_value_heads * self.head_width
        attention = (D + 1) * (2 * D + keys_values)  # queries, keys, values and output, with biases
        matrices = 3 if self.feed_forward == "swiglu" else 2
        feed_forward = matrices * D * F + (matrices - 1) * F + D
        norm = 2 * D if self.norm == "layer" else D
        encoder_layer = attention + feed_forward + 2 * norm
        decoder_layer = 2 * attention + feed_forward + 3 * norm
        tables = {"all": 1, "output": 2, "none": 3}[self.tying] * self.vocabulary_size * D
        positions = 2 * self.max_positions * D if self.positions == "learned" else 0
        output_bias = self.vocabulary_size if self.output_bias == "learned" else 0
        final_norms = 2 * norm if self.placement == "pre" else 0
        return (
            self.encoder_layers * encoder_layer
            + self.decoder_layers * decoder_layer
            + tables
            + output_bias
            + positions
            + final_norms
        )

    def to_json(self) -> dict[str, Any]:
        """The fields as plain values, for config.json."""
        return dataclasses.asdict(self)

    @classmethod
    def from_json(cls, fields: dict[str, Any]) -> ModelConfig:
        """The inverse of `to_json`; ValueError names a field that is unknown or missing."""
        known = {field.name for field in dataclasses.fields(cls)}
        if unknown := set(fields) - known:
            raise ValueError(f"config: unknown field {sorted(unknown)[0]!r}; known are {sorted(known)}")
        try:
            return cls(**fields)
        except TypeError as error:
            raise ValueError(f"config: {error}") from None


VARIANTS = {
    "positions": Positions,
    "norm": Norm,
    "placement": Placement,
    "feed_forward": FeedForwardKind,
    "tying": Tying,
    "output_bias": OutputBias,
}
SIZES = (
    "vocabulary_size",
    "width",
    "heads",
    "key_value_heads",
    "feed_forward_width",
    "encoder_layers",
    "decoder_layers",
    "max_positions",
)
IDS = ("pad_id", "start_id", "eos_id")

PRESETS: dict[str, dict[str, Any]] = {
    "tiny": dict(
        width=128, heads=4, key_value_heads=4, feed_forward_width=256, encoder_layers=2, decoder_layers=2
    ),
    "small": dict(
        width=256, heads=4, key_value_heads=4, feed_forward_width=1024, encoder_layers=4, decoder_layers=3
    ),
    # Vaswani et al. 2017 (arXiv 1706.03762), table 3.
    "base": dict(
        width=512, heads=8, key_value_heads=8, feed_forward_width=2048, encoder_layers=6, decoder_layers=6
    ),
    "big": dict(
        width=1024, heads=16, key_value_heads=16, feed_forward_width=4096, encoder_layers=6, decoder_layers=6
    ),
}


def preset(name: str, **fields: Any) -> ModelConfig:
    """The named preset with `fields` put over it; ValueError lists the presets there are."""
    if name not in PRESETS:
        raise ValueError(f"no preset {name!r}; there are {', '.join(PRESETS)}")
    return ModelConfig(**{**PRESETS[name], **fields})


def _require(claim: bool, field: str, value: object, allowed: str) -> None:
    if not claim:
        raise ValueError(f"config: {field} is {value!r}, must be {allowed}")
