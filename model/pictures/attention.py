"""Attention weights as heat maps: rows ask, columns are asked."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt

from torch import Tensor

from model.heads import Head
from model.inspection import Inspection, head_numbers
from model.pictures.svg import ACCENT, CELL, INK, QUIET, label, mixed, picture, rectangle, text, width_of

TITLES = {"encoder": "source about itself", "decoder": "target about itself", "cross": "target about source"}


def one_head(inspection: Inspection, head: Head) -> str:
    """One head, with the pieces along its sides; ValueError where there is no such head."""
    weights_LM = head_numbers(inspection, head).weights_LM
    asking, asked = _sides(inspection, head)
    cell, size = 30.0, 14.0
    left = max(width_of(name, size) for name in asking) + 28
    top = max(width_of(name, size) for name in asked) + 64
    parts = [
        text(
            16,
            30,
            f"{head.part}, layer {head.layer + 1}, head {head.number + 1}: {TITLES[head.part]}",
            size=16,
        )
    ]
    for column, name in enumerate(asked):
        x = left + (column + 0.5) * cell + 5
        parts.append(text(x, top - 8, name, size=size, transform=f"rotate(-90 {x:.1f} {top - 8:.1f})"))
    for row, name in enumerate(asking):
        parts.append(text(left - 10, top + (row + 0.5) * cell + 5, name, size=size, anchor="end"))
    parts.append(_cells(weights_LM, left, top, cell, cell))
    return picture(left + len(asked) * cell + 24, top + len(asking) * cell + 24, *parts)


def every_head(inspection: Inspection) -> str:
    """Every head of every layer, small: encoder, decoder about itself, decoder about the source."""
    parts: list[str] = []
    x, lowest = 24.0, 0.0
    for part, stack in (
        ("encoder", inspection.encoder),
        ("decoder", inspection.decoder),
        ("cross", inspection.decoder),
    ):
        parts.append(text(x, 34, TITLES[part], size=16))
        y = 52.0
        width = 0.0
        for number, layer in enumerate(stack.layers, start=1):
            at_work = layer.cross if part == "cross" else layer.attention
            assert at_work is not None
            heads, rows, columns = at_work.weights_HLM.shape
            cell = 84 / max(rows, columns)
            parts.append(text(x, y + 12, f"layer {number}", size=12, fill=QUIET))
            for place, weights in enumerate(at_work.weights_HLM):
                parts.append(_cells(weights, x + place * 94, y + 20, cell, cell))
            width = max(width, heads * 94)
            y += rows * cell + 40
        x, lowest = x + width + 34, max(lowest, y)
    return picture(x - 10, lowest + 4, *parts)


def _sides(inspection: Inspection, head: Head) -> tuple[Sequence[str], Sequence[str]]:
    source = [label(piece, place) for place, piece in enumerate(inspection.source_pieces)]
    target = [label(piece, place) for place, piece in enumerate(inspection.target_pieces)]
    if head.part == "encoder":
        return source, source
    said = [label(choice.chosen.piece, place) for place, choice in enumerate(inspection.choices)]
    asking = [f"{read} → {says}" for read, says in zip(target, said, strict=True)]
    return asking, target if head.part == "decoder" else source


def _cells(weights_LM: Tensor, x: float, y: float, width: float, height: float) -> str:
    """Shades grow as the root of the weight: small weights must still be seen."""
    rows: list[str] = [
        rectangle(
            x,
            y,
            weights_LM.shape[1] * width,
            weights_LM.shape[0] * height,
            fill=CELL,
            stroke=mixed(0.15, INK),
        )
    ]
    for row, weights in enumerate(weights_LM.tolist()):
        for column, weight in enumerate(weights):
            if weight >= 0.002:
                rows.append(
                    rectangle(
                        x + column * width, y + row * height, width, height, fill=mixed(sqrt(weight), ACCENT)
                    )
                )
    return "".join(rows)
