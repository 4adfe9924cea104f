"""Bars side by side, with their figures, spreads, axis and units, as SVG."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from model.pictures.svg import ACCENT, INK, LINE, QUIET, mixed, picture, rectangle, text, width_of

LEFT, TOP, BOTTOM = 52.0, 40.0, 46.0  # of a panel, around the bars
OCHRE = "#b8681f"
COLOURS = (ACCENT, OCHRE, mixed(0.5, OCHRE), QUIET, mixed(0.5, QUIET))  # of the series, ours first


class Bar(NamedTuple):
    """A median, and the least and the most that was measured; None where nothing was."""

    value: float | None
    least: float | None = None
    most: float | None = None


class Panel(NamedTuple):
    """Groups of bars over one axis; a row of `bars` for each series, a bar for each group."""

    title: str
    unit: str
    groups: Sequence[str]
    bars: Sequence[Sequence[Bar]]
    groups_are: str = ""  # written under them


def chart(
    title: str,
    note: str,
    series: Sequence[str],
    rows: Sequence[Sequence[Panel]],
    *,
    width: float,
    height: float,
) -> str:
    """Panels in rows, each `width` × `height`, under a title and the names of the series; the note stands below."""
    across = max(map(len, rows)) * width
    parts = [text(24, 38, title, size=20, font_weight=600), *_legend(series, 24, 66)]
    for i, row in enumerate(rows):
        for j, one in enumerate(row):
            parts += panel(one, 12 + j * width, 84 + i * height, width, height)
    bottom = 84 + len(rows) * height
    parts.append(text(24, bottom + 18, note, size=11, fill=QUIET))
    return picture(max(across, width_of(note, 11)) + 36, bottom + 36, *parts)


def panel(one: Panel, left: float, top: float, width: float, height: float) -> list[str]:
    """Bars from an axis that starts at 0; above each stands its figure, through it goes its spread."""
    x, y = left + LEFT, top + TOP
    right, floor = left + width - 10, top + height - BOTTOM
    found = [bar.most or bar.value or 0.0 for bars in one.bars for bar in bars]
    ticks = scale(max(found, default=0.0))
    high = (floor - y) / ticks[-1]
    parts = [text(left + 12, top + 20, one.title, size=13, font_weight=600)]
    parts.append(text(right, top + 20, one.unit, size=11, fill=QUIET, anchor="end"))
    for tick in ticks:
        parts.append(rectangle(x, floor - tick * high - 0.5, right - x, 1, fill=LINE))
        parts.append(text(x - 6, floor - tick * high + 4, short(tick), size=11, fill=QUIET, anchor="end"))
    room = (right - x) / max(1, len(one.groups))
    wide = 0.8 * room / len(one.bars)
    for i, group in enumerate(one.groups):
        start = x + i * room + 0.1 * room
        parts.append(text(x + (i + 0.5) * room, floor + 17, group, size=12, anchor="middle"))
        for j, bars in enumerate(one.bars):
            parts += _bar(bars[i], start + j * wide, wide, floor, high, COLOURS[j % len(COLOURS)])
    parts.append(text((x + right) / 2, floor + 34, one.groups_are, size=11, fill=QUIET, anchor="middle"))
    return parts


def scale(most: float) -> list[float]:
    """Round numbers from 0 to beyond `most`, three to six of them."""
    if not most > 0:
        return [0.0, 1.0]
    power = 10.0 ** math.floor(math.log10(most))
    step = next(
        factor * power for factor in (0.2, 0.25, 0.5, 1.0, 2.0, 2.5) if most / (factor * power) <= 4.75
    )
    return [step * i for i in range(math.ceil(1.05 * most / step) + 1)]


def short(value: float) -> str:
    """A number in about four characters."""
    if value >= 9950:
        return f"{value / 1000:.3g}k"
    if value >= 995:
        return f"{value / 1000:.2g}k"
    return f"{value:.3g}"


def _bar(bar: Bar, left: float, width: float, floor: float, high: float, colour: str) -> list[str]:
    middle = left + width / 2
    if bar.value is None:
        return [text(middle, floor - 5, "–", size=11, fill=QUIET, anchor="middle")]
    top = floor - bar.value * high
    parts = [rectangle(left + 0.5, top, width - 1, floor - top, fill=colour)]
    if bar.least is not None and bar.most is not None:
        parts.append(
            rectangle(middle - 0.5, floor - bar.most * high, 1, (bar.most - bar.least) * high, fill=INK)
        )
        top = floor - bar.most * high
    size = 11.0 if width_of(short(bar.value), 11) <= width + 4 else 9.0
    return [*parts, text(middle, top - 4, short(bar.value), size=size, anchor="middle")]


def _legend(series: Sequence[str], x: float, y: float) -> list[str]:
    parts = []
    for name, colour in zip(series, COLOURS, strict=False):
        parts.append(rectangle(x, y - 10, 11, 11, fill=colour))
        parts.append(text(x + 17, y, name, size=13))
        x += 17 + width_of(name, 13) + 26
    return parts
