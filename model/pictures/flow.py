"""One sentence on its way: pieces in, attention as lines through encoder and decoder, the next pieces out."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

from torch import Tensor

from model.inspection import Inspection
from model.pictures.svg import (
    ACCENT,
    GROUND,
    INK,
    LINE,
    QUIET,
    TINT,
    circle,
    curve,
    label,
    picture,
    rectangle,
    text,
    width_of,
)

ROW, GUTTER, SIZE, FAINTEST = 46.0, 96.0, 15.0, 0.04


def flow(inspection: Inspection) -> str:
    """Lines are the mean weights of a layer's heads, from where was looked at to where it was used."""
    source = [label(piece, place) for place, piece in enumerate(inspection.source_pieces)]
    read = [label(piece, place) for place, piece in enumerate(inspection.target_pieces)]
    said = [label(choice.chosen.piece, place + 1) for place, choice in enumerate(inspection.choices)]
    wide = [max(one, other, key=len) for one, other in zip(read, said, strict=True)]
    across, down = _columns(source), _columns(wide)
    memory = 62 + len(inspection.encoder.layers) * ROW
    entry = memory + 84
    first = entry + 42
    last = first + (len(inspection.decoder.layers) - 1) * ROW
    exit_ = last + 62
    parts = [rectangle(across[0] - 20, memory - 13, across[-1] - across[0] + 40, 26, rx=13, fill=TINT)]
    for number, layer in enumerate(inspection.encoder.layers):
        y = 62 + (number + 1) * ROW
        parts.append(
            _lines(_mean(layer.attention.weights_HLM), across, across, y - ROW if number else 44, y, QUIET)
        )
        parts += _row(f"encoder {number + 1}", across, y)
    for number, layer in enumerate(inspection.decoder.layers):
        y = first + number * ROW
        assert layer.cross is not None
        parts.append(
            _lines(_mean(layer.cross.weights_HLM), across, down, memory + 8, y, ACCENT, faintest=0.25)
        )
        parts.append(
            _lines(
                _mean(layer.attention.weights_HLM), down, down, y - ROW if number else entry + 15, y, QUIET
            )
        )
        parts += _row(f"decoder {number + 1}", down, y)
    parts += _chips("source", source, [str(token) for token in inspection.source_ids], across, 28, LINE)
    parts += _chips("has read", read, [str(token) for token in inspection.target_ids], down, entry, LINE)
    parts += [curve(x, last + 6, x, exit_ - 17, upright=1, width=1.5, stroke=LINE) for x in down]
    sure = [f"{choice.chosen.probability:.0%}" for choice in inspection.choices]
    parts += _chips("says next", said, sure, down, exit_, ACCENT)
    return picture(max(across[-1], down[-1]) + 60, exit_ + 34, *parts)


def _columns(names: Sequence[str]) -> list[float]:
    """The middle of each column."""
    widths = [max(44.0, width_of(name, SIZE) + 40) for name in names]
    return [GUTTER + edge - width / 2 for edge, width in zip(accumulate(widths), widths, strict=True)]


def _mean(weights_HLM: Tensor) -> list[list[float]]:
    rows: list[list[float]] = weights_HLM.mean(dim=0).tolist()
    return rows


def _lines(
    weights: Sequence[Sequence[float]],
    asked: Sequence[float],
    asking: Sequence[float],
    top: float,
    bottom: float,
    colour: str,
    *,
    faintest: float = FAINTEST,
) -> str:
    return "".join(
        curve(
            asked[j],
            top,
            asking[i],
            bottom,
            upright=1,
            width=0.6 + 2.6 * weight,
            stroke=colour,
            stroke_opacity=f"{weight**0.8:.3f}",
        )
        for i, row in enumerate(weights)
        for j, weight in enumerate(row)
        if weight >= faintest
    )


def _row(name: str, columns: Sequence[float], y: float) -> list[str]:
    nodes = [circle(x, y, 4, fill=GROUND, stroke=QUIET, stroke_width=1.5) for x in columns]
    return [text(12, y + 5, name, size=13), *nodes]


def _chips(
    title: str, names: Sequence[str], notes: Sequence[str], columns: Sequence[float], y: float, stroke: str
) -> list[str]:
    parts = [text(12, y + 5, title, size=13, fill=QUIET)]
    for name, note, x in zip(names, notes, columns, strict=True):
        width = max(38.0, width_of(name, SIZE) + 20)
        parts.append(rectangle(x - width / 2, y - 17, width, 34, rx=9, fill=GROUND, stroke=stroke))
        parts.append(
            text(x, y + 1, name, size=SIZE, fill=QUIET if name.startswith("<") else INK, anchor="middle")
        )
        parts.append(text(x, y + 13, note, size=10, fill=QUIET, anchor="middle"))
    return parts
