"""The codes that tell positions apart: a row a position, a column a feature."""

from __future__ import annotations

import torch

from model.inspection import Inspection
from model.pictures.svg import ACCENT, CELL, QUIET, label, mixed, picture, rectangle, text, width_of

CELL_WIDTH, CELL_HEIGHT = 4.0, 22.0


def positions(inspection: Inspection) -> str:
    """Green above zero, grey below; the features that are sines first, then the cosines."""
    code_LD = inspection.encoder.code_LD
    ordered = torch.cat([code_LD[:, 0::2], code_LD[:, 1::2]], dim=1)
    ordered = ordered / ordered.abs().max().clamp_min(1e-9)
    names = [f"{place} {label(piece, place)}" for place, piece in enumerate(inspection.source_pieces)]
    left = max(width_of(name, 13) for name in names) + 32
    parts = []
    for row, (name, values) in enumerate(zip(names, ordered.tolist(), strict=True)):
        y = 20 + row * CELL_HEIGHT
        parts.append(text(left - 10, y + 16, name, size=13, anchor="end"))
        for column, value in enumerate(values):
            colour = mixed(abs(value), ACCENT if value > 0 else QUIET, CELL)
            parts.append(rectangle(left + column * CELL_WIDTH, y, CELL_WIDTH, CELL_HEIGHT, fill=colour))
    return picture(left + ordered.shape[1] * CELL_WIDTH + 20, 40 + len(names) * CELL_HEIGHT, *parts)
