"""What might have come next, at every position."""

from __future__ import annotations

from model.inspection import Inspection
from model.pictures.svg import ACCENT, INK, QUIET, label, mixed, picture, rectangle, text

COLUMN, ROW, SHOWN = 148.0, 24.0, 6


def choices(inspection: Inspection) -> str:
    """A column a position: the likeliest pieces with their probabilities, the chosen one in green."""
    parts: list[str] = []
    for place, choice in enumerate(inspection.choices):
        x = 24 + place * COLUMN
        read = label(inspection.target_pieces[place], place)
        parts.append(text(x, 28, f"after {read}", size=13, fill=QUIET))
        for row, one in enumerate(choice.alternatives[:SHOWN]):
            y = 46 + row * ROW
            is_chosen = one.token == choice.chosen.token
            bar = (COLUMN - 66) * one.probability
            parts.append(rectangle(x, y, bar, ROW - 4, rx=3, fill=mixed(0.35 if is_chosen else 0.12)))
            name = label(one.piece)
            parts.append(text(x + 6, y + 15, name, size=13, fill=ACCENT if is_chosen else INK))
            parts.append(
                text(x + COLUMN - 28, y + 15, f"{one.probability:.0%}", size=12, fill=QUIET, anchor="end")
            )
    return picture(24 + len(inspection.choices) * COLUMN, 60 + SHOWN * ROW, *parts)
