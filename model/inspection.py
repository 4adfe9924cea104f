"""One sentence through the model with everything shown, and what would be if something were otherwise.

It reads the model on its plain path (`model/trace.py`), decodes with the search that serves (`model/search`), and so
shows what really happens: with an empty `WhatIf` the translation is the one that `Translator.translate` gives.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from model.heads import Head, Part, without_heads
from model.search import Found
from model.search.tree import Node, path
from model.sentence import Sentence
from model.trace import HeadsAtWork, StackTrace, trace_decoder, trace_encoder
from model.transformer import Transformer
from model.translator import Translator
from model.what_if import Search, WhatIf


class Alternative(NamedTuple):
    """A piece that may come next, and how likely the model holds it."""

    token: int
    piece: str
    probability: float


@dataclass(frozen=True)
class Choice:
    """One position of the target: what was chosen there, and the likeliest that there was to choose from."""

    chosen: Alternative
    rank: int  # of the chosen one, 1 for the likeliest
    entropy: float  # of the whole distribution, in bits: 0 where the model is sure
    alternatives: tuple[Alternative, ...]


@dataclass(frozen=True)
class Told:
    """A hypothesis for people."""

    text: str
    ids: tuple[int, ...]
    pieces: tuple[str, ...]
    score: float
    truncated: bool


@dataclass(frozen=True)
class Inspection:
    """All of one sentence. Position t of the target side has read target[0 … t] and says choices[t]."""

    source_ids: tuple[int, ...]
    source_pieces: tuple[str, ...]  # with the pieces that frame the sentence
    target_ids: tuple[int, ...]  # with the start, without what is said last: what the decoder read
    target_pieces: tuple[str, ...]
    shown: Told  # the hypothesis that the decoder is shown on
    encoder: StackTrace
    decoder: StackTrace
    lens: tuple[
        tuple[Alternative, ...], ...
    ]  # [layer][position]: what the stream would say, were it read there
    choices: tuple[Choice, ...]
    greedy: Told
    beam: tuple[Told, ...]
    tree: tuple[Node, ...]
    tree_pieces: tuple[str, ...]  # of each node
    best_path: tuple[int, ...]  # nodes that the best hypothesis consists of
    framed: int  # how many source pieces before the sentence ask for the language


class HeadNumbers(NamedTuple):
    """The numbers of one head, L positions that ask about M positions."""

    queries_LK: Tensor
    keys_MK: Tensor
    values_MK: Tensor
    scores_LM: Tensor  # q · k / √K, before the softmax; −∞ where it may not look
    weights_LM: Tensor
    found_LK: Tensor  # weights × values


@torch.inference_mode()
def inspect(translator: Translator, sentence: Sentence, what_if: WhatIf) -> Inspection:
    """ValueError for a head or a prefix that is not possible."""
    model = without_heads(translator.model, what_if.silent_heads)
    search = Search(translator, model, sentence, what_if)
    greedy = search.greedy()
    nodes, beam = search.beam()
    shown = greedy if what_if.follows_greedy else beam[0]
    said = shown.ids if shown.truncated else (*shown.ids, translator.tokenizer.eos_id)
    target_ids = (model.config.start_id, *said[:-1])
    encoder = trace_encoder(model, sentence.ids)
    decoder = trace_decoder(model, target_ids, encoder.output_LD)
    tokenizer = translator.tokenizer
    log_probs_TV = _log_probs(model, decoder.output_LD, what_if.temperature)
    return Inspection(
        source_ids=sentence.ids,
        source_pieces=tuple(tokenizer.pieces(sentence.ids)),
        target_ids=target_ids,
        target_pieces=tuple(tokenizer.pieces(target_ids)),
        shown=_told(translator, shown),
        encoder=encoder,
        decoder=decoder,
        lens=tuple(
            _likeliest(translator, _log_probs(model, _read(model, layer.output), what_if.temperature))
            for layer in decoder.layers
        ),
        choices=tuple(
            _choice(translator, log_probs_V, token, what_if.alternatives)
            for log_probs_V, token in zip(log_probs_TV, said, strict=True)
        ),
        greedy=_told(translator, greedy),
        beam=tuple(_told(translator, found) for found in beam[: what_if.beam_size]),
        tree=tuple(nodes),
        tree_pieces=tuple(tokenizer.pieces([node.token for node in nodes])),
        best_path=tuple(path(nodes, beam[0].ids if beam[0].truncated else (*beam[0].ids, tokenizer.eos_id))),
        framed=len(tokenizer.source_prefix(sentence.target_language)),
    )


def head_numbers(inspection: Inspection, head: Head) -> HeadNumbers:
    """What one head computed; ValueError where there is no such head."""
    at_work = _at_work(inspection, head.part, head.layer)
    if not 0 <= head.number < len(at_work.queries_HLK):
        raise ValueError(
            f"{head.part}, layer {head.layer}: no head {head.number}; there are 0 to "
            f"{len(at_work.queries_HLK) - 1}"
        )
    group = head.number * len(at_work.keys_GMK) // len(at_work.queries_HLK)
    queries, keys, values = (
        at_work.queries_HLK[head.number],
        at_work.keys_GMK[group],
        at_work.values_GMK[group],
    )
    scores = (queries * queries.shape[-1] ** -0.5) @ keys.T
    weights = at_work.weights_HLM[head.number]
    if head.part == "decoder":
        scores = scores.masked_fill(~torch.ones_like(scores, dtype=torch.bool).tril(), -torch.inf)
    return HeadNumbers(queries, keys, values, scores, weights, weights @ values)


def _at_work(inspection: Inspection, part: Part, layer: int) -> HeadsAtWork:
    stack = inspection.encoder if part == "encoder" else inspection.decoder
    if not 0 <= layer < len(stack.layers):
        raise ValueError(f"{part}: no layer {layer}; there are 0 to {len(stack.layers) - 1}")
    block = stack.layers[layer]
    chosen = block.cross if part == "cross" else block.attention
    assert chosen is not None
    return chosen


def _read(model: Transformer, stream_LD: Tensor) -> Tensor:
    """The stream as the output projection would be given it (the "logit lens")."""
    return model.decoder_norm(stream_LD)


def _log_probs(model: Transformer, output_TD: Tensor, temperature: float) -> Tensor:
    return (model.logits(output_TD).float() / temperature).log_softmax(dim=-1)


def _likeliest(translator: Translator, log_probs_TV: Tensor) -> tuple[Alternative, ...]:
    best = log_probs_TV.max(dim=-1)
    pieces = translator.tokenizer.pieces(best.indices.tolist())
    probabilities = best.values.exp().tolist()
    return tuple(map(Alternative, best.indices.tolist(), pieces, probabilities))


def _choice(translator: Translator, log_probs_V: Tensor, token: int, count: int) -> Choice:
    probabilities_V = log_probs_V.exp()
    top = probabilities_V.topk(min(count, len(probabilities_V)))
    ids = [*top.indices.tolist(), token]
    alternatives = tuple(
        map(Alternative, ids, translator.tokenizer.pieces(ids), probabilities_V[ids].tolist())
    )
    bits = -(probabilities_V * log_probs_V.clamp_min(-1e4)).sum() / math.log(2)
    rank = int((probabilities_V > probabilities_V[token]).sum()) + 1
    return Choice(alternatives[-1], rank, float(bits), alternatives[:-1])


def _told(translator: Translator, found: Found) -> Told:
    tokenizer = translator.tokenizer
    return Told(
        tokenizer.decode(found.ids),
        found.ids,
        tuple(tokenizer.pieces(found.ids)),
        found.score,
        found.truncated,
    )
