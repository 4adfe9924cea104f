"""A beam search: a column a step, in it the continuations by their sum; the best few go on."""

from __future__ import annotations

from math import exp

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

COLUMN, ROW, LEFT, TOP, SIZE = 118.0, 27.0, 64.0, 40.0, 14.0


def beam(inspection: Inspection) -> str:
    """Solid: goes on. Framed: finished. Dotted and grey: dropped. Green: the way of the best."""
    nodes, best = inspection.tree, set(inspection.best_path)
    spots = {-1: (20.0, TOP + ROW / 2)}
    deepest = max(node.depth for node in nodes)
    parts: list[str] = []
    most = 0
    for depth in range(1, deepest + 1):
        here = sorted(
            (p for p, node in enumerate(nodes) if node.depth == depth), key=lambda p: -nodes[p].total
        )
        x = LEFT + (depth - 1) * COLUMN
        parts.append(text(x, 22, str(depth), size=12, fill=QUIET))
        spots |= {place: (x, TOP + (row + 0.5) * ROW) for row, place in enumerate(here)}
        most = max(most, len(here))
    names = [label(piece) for piece in inspection.tree_pieces]
    for place, node in enumerate(nodes):
        (x, y), (to_x, to_y) = spots[node.parent], spots[place]
        start = x + 7 if node.parent < 0 else x + 12 + width_of(names[node.parent], SIZE)
        follows = node.fate in ("kept", "finished")
        drawn = dict(stroke=ACCENT if place in best else QUIET, stroke_opacity=1 if place in best else 0.5)
        if not follows:
            drawn |= dict(stroke_dasharray="2 4")
        parts.append(
            curve(start, y, to_x - 6, to_y, upright=0, width=0.75 + 2.5 * exp(node.log_prob), **drawn)
        )
    parts.append(circle(20, TOP + ROW / 2, 5, fill=ACCENT))
    for place, node in enumerate(nodes):
        x, y = spots[place]
        is_best = place in best
        frame = ACCENT if is_best else INK if node.fate == "finished" else GROUND
        parts.append(
            rectangle(
                x - 4,
                y - 12,
                width_of(names[place], SIZE) + 12,
                24,
                rx=7,
                fill=TINT if is_best else GROUND,
                stroke=frame if frame != INK else LINE,
            )
        )
        grey = node.fate in ("pruned", "outrun")
        parts.append(text(x + 2, y + 5, names[place], size=SIZE, fill=QUIET if grey else INK))
    return picture(LEFT + deepest * COLUMN, TOP + most * ROW + 16, *parts)
