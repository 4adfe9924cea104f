"""A model as a CTranslate2 model: the C++ engine's layout of the same weights, and that engine to run it.

CTranslate2's own converters read other toolkits and know no encoder-decoder with rotary positions, so its
specification is filled here, part by part.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import ctranslate2
import numpy as np
import torch
from ctranslate2.specs import common_spec, transformer_spec

from model.feed_forward import SwiGluFeedForward
from model.positions import BASE
from model.transformer import Transformer
from model.translator import Translator

Activation = common_spec.Activation
ACTIVATIONS = {
    "relu": Activation.RELU,
    "gelu": Activation.GELU,
    "silu": Activation.SWISH,
    "swiglu": Activation.SWISH,
}


def write(translator: Translator, folder: Path, *, quantization: str | None = None) -> None:
    """model.bin, config.json and shared_vocabulary.json into `folder`; `quantization` None is float32."""
    spec = specification(translator.model)
    tokenizer = translator.tokenizer
    pieces = tokenizer.pieces(range(tokenizer.size))
    spec.register_source_vocabulary(pieces)
    spec.register_target_vocabulary(pieces)
    spec.config.unk_token = pieces[tokenizer.unk_id]
    spec.config.bos_token = spec.config.decoder_start_token = pieces[translator.model.config.start_id]
    spec.config.eos_token = pieces[tokenizer.eos_id]
    spec.config.layer_norm_epsilon = translator.model.config.norm_epsilon
    spec.validate()
    spec.optimize(quantization=quantization)
    spec.save(str(folder))


def specification(model: Transformer) -> transformer_spec.TransformerSpec:
    """The weights under CTranslate2's names. Tables that are tied are equal, and stored once for that."""
    config = model.config
    shape: dict[str, Any] = dict(
        num_heads=config.heads,
        pre_norm=config.placement == "pre",
        activation=ACTIVATIONS[config.feed_forward],
        ffn_glu=config.feed_forward == "swiglu",
        rms_norm=config.norm == "rms",
    )
    if config.key_value_heads != config.heads:
        shape["num_heads_kv"] = config.key_value_heads
    if config.positions == "rope":
        shape |= dict(rotary_dim=config.head_width, rotary_interleave=False, rotary_base=BASE)
    encoder = transformer_spec.TransformerEncoderSpec(config.encoder_layers, **shape)
    decoder = transformer_spec.TransformerDecoderSpec(config.decoder_layers, **shape)
    encoder.embeddings[0].weight = _array(model.source_embedding.weight)
    decoder.embeddings.weight = _array(model.target_embedding.weight)
    decoder.projection.weight = _array(model.output_VD)
    if model.output_bias_V is not None:
        decoder.projection.bias = _array(model.output_bias_V)
    if config.positions != "rope":  # the engine's own sinusoids are in another order: the table goes along
        encoder.position_encodings.encodings = _array(model.source_positions.table_LD)
        decoder.position_encodings.encodings = _array(model.target_positions.table_LD)
    if config.placement == "pre":
        _norm(encoder.layer_norm, model.encoder_norm)
        _norm(decoder.layer_norm, model.decoder_norm)
    for spec, layer in zip(encoder.layer, model.encoder, strict=True):
        _self_attention(spec.self_attention, layer)
        _feed_forward(spec.ffn, layer)
    for spec, layer in zip(decoder.layer, model.decoder, strict=True):
        _self_attention(spec.self_attention, layer)
        _cross_attention(spec.attention, layer)
        _feed_forward(spec.ffn, layer)
    return transformer_spec.TransformerSpec(encoder, decoder)


class CTranslate2Engine:
    """A written model, run by CTranslate2 on the CPU; the other side of model/exchange/parity.py."""

    def __init__(self, translator: Translator, folder: Path, *, compute_type: str) -> None:
        tokenizer = translator.tokenizer
        self._pieces = tokenizer.pieces(range(tokenizer.size))
        self._id_of = {piece: i for i, piece in enumerate(self._pieces)}
        self._banned = [[self._pieces[i]] for i in translator.banned_ids]
        self._engine = ctranslate2.Translator(
            str(folder), device="cpu", compute_type=compute_type, intra_threads=torch.get_num_threads()
        )

    def greedy(self, sources: Sequence[Sequence[int]], *, limit: int) -> list[tuple[int, ...]]:
        """The likeliest id at each step, up to `limit` of them."""
        results = self._engine.translate_batch(
            [self._spelled(source) for source in sources],
            beam_size=1,
            max_input_length=0,  # by default it would cut a source at 1024 and a target at 256
            max_decoding_length=limit,
            min_decoding_length=0,  # by default no target would be empty
            suppress_sequences=self._banned,
        )
        return [tuple(self._id_of[piece] for piece in result.hypotheses[0]) for result in results]

    def forced(
        self, sources: Sequence[Sequence[int]], targets: Sequence[Sequence[int]]
    ) -> list[np.ndarray[Any, Any]]:
        """The log-probability of each id of each target and of its end."""
        results = self._engine.score_batch(
            [self._spelled(source) for source in sources],
            [self._spelled(target) for target in targets],
            max_input_length=0,
        )
        return [np.array(result.log_probs) for result in results]

    def _spelled(self, ids: Sequence[int]) -> list[str]:
        return [self._pieces[i] for i in ids]


def _array(*tensors: Any) -> np.ndarray[Any, Any]:
    """One array of its own: quantizing overwrites what it is given."""
    return torch.cat([tensor.detach().float() for tensor in tensors]).numpy().copy()


def _linear(spec: Any, linear: Any) -> None:
    spec.weight, spec.bias = _array(linear.weight), _array(linear.bias)


def _norm(spec: Any, norm: Any) -> None:
    spec.gamma = _array(norm.gain)
    if hasattr(norm, "bias"):
        spec.beta = _array(norm.bias)


def _self_attention(spec: Any, layer: Any) -> None:
    _norm(spec.layer_norm, layer.around_attention.norm)
    _linear(spec.linear[0], layer.attention.queries_keys_values)
    _linear(spec.linear[1], layer.attention.output)


def _cross_attention(spec: Any, layer: Any) -> None:
    _norm(spec.layer_norm, layer.around_cross_attention.norm)
    _linear(spec.linear[0], layer.cross_attention.queries)
    _linear(spec.linear[1], layer.cross_attention.keys_values)
    _linear(spec.linear[2], layer.cross_attention.output)


def _feed_forward(spec: Any, layer: Any) -> None:
    """The engine's gated network calls the gate linear_0 and what it multiplies linear_0_noact."""
    net = layer.feed_forward
    _norm(spec.layer_norm, layer.around_feed_forward.norm)
    if isinstance(net, SwiGluFeedForward):
        _linear(spec.linear_0, net.gate)
        _linear(spec.linear_0_noact, net.up)
    else:
        _linear(spec.linear_0, net.up)
    _linear(spec.linear_1, net.down)
