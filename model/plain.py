"""An inspection as plain values, rounded, for JSON: what the glass box is drawn from, here and in a browser."""

from __future__ import annotations

from typing import Any

from torch import Tensor

from model.config import ModelConfig
from model.inspection import Alternative, Choice, HeadNumbers, Inspection, Told
from model.trace import StackTrace

WEIGHT_DIGITS, NUMBER_DIGITS = 4, 3


def weights_in(config: ModelConfig, source: int, target: int) -> int:
    """How many attention weights an inspection of so many pieces holds: most of its size."""
    encoder = config.encoder_layers * source * source
    decoder = config.decoder_layers * target * (target + source)
    return config.heads * (encoder + decoder)


def plain(inspection: Inspection, config: ModelConfig) -> dict[str, Any]:
    """Everything but the vectors of single heads."""
    return {
        "shape": {
            "width": config.width,
            "heads": config.heads,
            "key_value_heads": config.key_value_heads,
            "head_width": config.head_width,
            "feed_forward_width": config.feed_forward_width,
            "vocabulary_size": config.vocabulary_size,
            "positions": config.positions,
            "placement": config.placement,
        },
        "source": {
            "ids": inspection.source_ids,
            "pieces": inspection.source_pieces,
            "framed": inspection.framed,
        },
        "target": {"ids": inspection.target_ids, "pieces": inspection.target_pieces},
        "shown": _told(inspection.shown),
        "greedy": _told(inspection.greedy),
        "beam": [_told(one) for one in inspection.beam],
        "encoder": _stack(inspection.encoder),
        "decoder": _stack(inspection.decoder),
        "lens": [[_alternative(one) for one in layer] for layer in inspection.lens],
        "choices": [_choice(one) for one in inspection.choices],
        "tree": {
            "nodes": [
                {
                    "parent": node.parent,
                    "depth": node.depth,
                    "id": node.token,
                    "piece": piece,
                    "log_prob": round(node.log_prob, NUMBER_DIGITS),
                    "total": round(node.total, NUMBER_DIGITS),
                    "score": round(node.score, NUMBER_DIGITS),
                    "fate": node.fate,
                }
                for node, piece in zip(inspection.tree, inspection.tree_pieces, strict=True)
            ],
            "best": inspection.best_path,
        },
    }


def plain_head(numbers: HeadNumbers) -> dict[str, Any]:
    """The vectors of one head; scores that may not be looked at are null."""
    scores = [
        [None if score == float("-inf") else score for score in row]
        for row in rounded(numbers.scores_LM, NUMBER_DIGITS)
    ]
    return {
        "queries": rounded(numbers.queries_LK, NUMBER_DIGITS),
        "keys": rounded(numbers.keys_MK, NUMBER_DIGITS),
        "values": rounded(numbers.values_MK, NUMBER_DIGITS),
        "scores": scores,
        "weights": rounded(numbers.weights_LM, WEIGHT_DIGITS),
        "found": rounded(numbers.found_LK, NUMBER_DIGITS),
    }


def rounded(values: Tensor, digits: int) -> Any:
    """Nested lists; doubles, so that a rounded number is written with as many digits and no more."""
    return values.double().round(decimals=digits).tolist()


def _stack(stack: StackTrace) -> dict[str, Any]:
    """Norms are per position; `norms` of the stream after each sublayer, `added` of what the sublayer wrote."""
    return {
        "embedded": rounded(stack.embedded_LD.norm(dim=-1), NUMBER_DIGITS),
        "positions": rounded(stack.code_LD, 2),
        "layers": [
            {
                "attention": rounded(layer.attention.weights_HLM, WEIGHT_DIGITS),
                "cross": layer.cross and rounded(layer.cross.weights_HLM, WEIGHT_DIGITS),
                "written": [
                    {
                        "sublayer": written.sublayer,
                        "added": rounded(written.added_LD.norm(dim=-1), NUMBER_DIGITS),
                        "norms": rounded(written.stream_LD.norm(dim=-1), NUMBER_DIGITS),
                    }
                    for written in layer.written
                ],
            }
            for layer in stack.layers
        ],
    }


def _told(told: Told) -> dict[str, Any]:
    return {
        "text": told.text,
        "ids": told.ids,
        "pieces": told.pieces,
        "score": round(told.score, WEIGHT_DIGITS),
        "truncated": told.truncated,
    }


def _choice(choice: Choice) -> dict[str, Any]:
    return {
        "chosen": _alternative(choice.chosen),
        "rank": choice.rank,
        "entropy": round(choice.entropy, NUMBER_DIGITS),
        "alternatives": [_alternative(one) for one in choice.alternatives],
    }


def _alternative(one: Alternative) -> dict[str, Any]:
    return {"id": one.token, "piece": one.piece, "probability": round(one.probability, WEIGHT_DIGITS)}
