"""A Transformer's weights in the native engine: `start` and `step` as model/transformer.py has them."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator

import torch
from torch import Tensor

from model.config import ModelConfig
from model.native.library import NoNativeEngine, Shape, load_library
from model.transformer import Transformer

PRECISIONS = ("float32", "int8")
FEED_FORWARDS = ("relu", "gelu", "silu", "swiglu")


class NativeModel:
    """The same function as the Transformer that it is made from, in float32 or int8 (weights and inputs of matrices).

    Raises NoNativeEngine where there is no compiler, or no instruction that multiplies int8.
    """

    def __init__(self, model: Transformer, precision: str = "float32") -> None:
        if precision not in PRECISIONS:
            raise ValueError(f"precision is {precision!r}, must be one of {PRECISIONS}")
        self.config, self.precision = model.config, precision
        self.library = load_library()
        if precision == "int8" and not self.library.dragoman_has_int8():
            raise NoNativeEngine("this processor has no instruction that multiplies int8 by fours")
        self._tensors = [
            None if tensor is None else tensor.detach().float().cpu().contiguous() for tensor in _parts(model)
        ]
        pointers = [None if tensor is None else tensor.data_ptr() for tensor in self._tensors]
        self.model = self.library.dragoman_model(
            ctypes.byref(_shape(model.config, precision)), (ctypes.c_void_p * len(pointers))(*pointers)
        )
        if not self.model:
            raise MemoryError("no memory for the packed weights")

    def start(self, source_BS: Tensor) -> NativeState:
        """The state before the first target position; padding is where the ids are `pad_id`."""
        is_real_BS = source_BS != self.config.pad_id
        return NativeState(self, source_BS[is_real_BS].long(), is_real_BS.sum(dim=1).int())

    def step(self, tokens_N: Tensor, state: NativeState) -> tuple[Tensor, NativeState]:
        """One position more: logits (N, V) over what follows `tokens_N`. The state is written in place."""
        return state.step(tokens_N), state

    def __del__(self) -> None:
        if getattr(self, "model", None):
            self.library.dragoman_model_free(self.model)


class NativeState:
    """What decoding remembers of N = B × W unfinished targets, each sentence by itself; allocated as it grows."""

    def __init__(self, model: NativeModel, ids: Tensor, lengths_B: Tensor) -> None:
        self._of, self._library = model, model.library
        self._state = self._library.dragoman_start(
            model.model, ids.data_ptr(), lengths_B.data_ptr(), len(lengths_B)
        )
        if not self._state:
            raise MemoryError(f"no memory for {len(lengths_B)} sentences")

    @property
    def rows(self) -> int:
        """N."""
        return int(self._library.dragoman_rows(self._state))

    def step(self, tokens_N: Tensor) -> Tensor:
        """Logits (N, V) over what follows the tokens."""
        if len(tokens_N) != self.rows:
            raise ValueError(f"{len(tokens_N)} tokens for {self.rows} rows")
        tokens_N = tokens_N.long().contiguous()
        logits_NV = torch.empty(len(tokens_N), self._of.config.vocabulary_size)
        if self._library.dragoman_step(self._state, tokens_N.data_ptr(), logits_NV.data_ptr()):
            raise MemoryError(f"no memory for {len(tokens_N)} rows")
        return logits_NV

    def select(self, rows_BW: Tensor) -> NativeState:
        """This state, with row (b, w) continuing the old row `rows_BW[b, w]`; all of one b are of one sentence."""
        rows_BW = rows_BW.long().contiguous()
        if self._library.dragoman_select(self._state, rows_BW.data_ptr(), *rows_BW.shape):
            raise MemoryError(f"no memory for {rows_BW.numel()} rows")
        return self

    def __del__(self) -> None:
        if getattr(self, "_state", None):
            self._library.dragoman_state_free(self._state)


def _shape(config: ModelConfig, precision: str) -> Shape:
    return Shape(
        vocabulary=config.vocabulary_size,
        width=config.width,
        heads=config.heads,
        groups=config.key_value_heads,
        inner=config.feed_forward_width,
        encoder_layers=config.encoder_layers,
        decoder_layers=config.decoder_layers,
        is_rotary=config.positions == "rope",
        is_post_norm=config.placement == "post",
        is_rms=config.norm == "rms",
        feed_forward=FEED_FORWARDS.index(config.feed_forward),
        precision=PRECISIONS.index(precision),
        epsilon=config.norm_epsilon,
    )


def _parts(model: Transformer) -> list[Tensor | None]:
    """Every tensor in the order in which `Model` of model.hpp reads them; an output without a bias has None there."""
    tensors: dict[str, Tensor] = dict(model.named_parameters(remove_duplicate=False)) | dict(
        model.named_buffers()
    )
    parts: list[Tensor | None] = [tensors[name] for name in _names(model.config)]
    return [*parts, tensors.get("output_bias_V")]


def _names(config: ModelConfig) -> Iterator[str]:
    sides, norms = ("source", "target"), ("gain", "bias") if config.norm == "layer" else ("gain",)
    yield from (f"{side}_embedding.weight" for side in sides)
    codes = ("cos_LK", "sin_LK") if config.positions == "rope" else ("table_LD",)
    yield from (f"{side}_positions.{code}" for code in codes for side in sides)
    feed_forward = ("up", "gate", "down") if config.feed_forward == "swiglu" else ("up", "down")
    linears = (
        *("attention.queries_keys_values", "attention.output"),
        *("cross_attention.queries", "cross_attention.keys_values", "cross_attention.output"),
        *(f"feed_forward.{name}" for name in feed_forward),
    )
    around = ("attention", "cross_attention", "feed_forward")
    for stack, layers in (("encoder", config.encoder_layers), ("decoder", config.decoder_layers)):
        for layer in range(layers):
            names = [f"{linear}.{part}" for linear in linears for part in ("weight", "bias")]
            names += [f"around_{one}.norm.{part}" for one in around for part in norms]
            yield from (
                f"{stack}.{layer}.{name}" for name in names if stack == "decoder" or "cross" not in name
            )
    if config.placement == "pre":
        yield from (f"{stack}_norm.{part}" for stack in ("encoder", "decoder") for part in norms)
    yield "output_VD"
