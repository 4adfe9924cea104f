"""Elements of SVG as text, the colours of the pictures, and pieces as people read them."""

from __future__ import annotations

import unicodedata
from xml.sax.saxutils import escape, quoteattr

from tokenizer.vocabulary import SPACE_MARK

GROUND, CELL, INK, QUIET, LINE, ACCENT, TINT = (
    "#fffefb",
    "#f1efe8",
    "#1e2421",
    "#5a625d",
    "#e2ded4",
    "#0d6a59",
    "#e6f0ec",
)
FONT = "Inter, 'Noto Sans CJK SC', 'Helvetica Neue', Arial, sans-serif"


def picture(width: float, height: float, *parts: str) -> str:
    """A whole file."""
    ground = rectangle(0, 0, width, height, fill=GROUND)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" '
        f'width="{width:.0f}" height="{height:.0f}" font-family={quoteattr(FONT)}>'
        f"{ground}{''.join(parts)}</svg>\n"
    )


def text(
    x: float,
    y: float,
    content: str,
    *,
    size: float = 14,
    fill: str = INK,
    anchor: str = "start",
    **more: object,
) -> str:
    """One line of text whose baseline begins, has its middle or ends at (x, y)."""
    place = dict(x=f"{x:.1f}", y=f"{y:.1f}", font_size=size, fill=fill, text_anchor=anchor)
    return f"<text{_attributes(place | more)}>{escape(content)}</text>"


def rectangle(x: float, y: float, width: float, height: float, **more: object) -> str:
    place = dict(x=f"{x:.1f}", y=f"{y:.1f}", width=f"{width:.1f}", height=f"{height:.1f}")
    return f"<rect{_attributes(place | more)}/>"


def circle(x: float, y: float, radius: float, **more: object) -> str:
    return f"<circle{_attributes(dict(cx=f'{x:.1f}', cy=f'{y:.1f}', r=radius) | more)}/>"


def curve(
    x: float, y: float, to_x: float, to_y: float, *, upright: float, width: float, **more: object
) -> str:
    """An S from one point to the other; `upright` 1 leaves and arrives vertically, 0 horizontally."""
    middle_x, middle_y = (x + to_x) / 2, (y + to_y) / 2
    first = (x, middle_y) if upright else (middle_x, y)
    second = (to_x, middle_y) if upright else (middle_x, to_y)
    d = f"M{x:.1f} {y:.1f}C{first[0]:.1f} {first[1]:.1f} {second[0]:.1f} {second[1]:.1f} {to_x:.1f} {to_y:.1f}"
    drawn = dict(d=d, fill="none", stroke_width=f"{width:.2f}", stroke_linecap="round")
    return f"<path{_attributes(drawn | more)}/>"


def mixed(strength: float, colour: str = ACCENT, ground: str = CELL) -> str:
    """`ground` at 0, `colour` at 1."""
    parts = zip(_rgb(ground), _rgb(colour), strict=True)
    return "#" + "".join(f"{round(low + (high - low) * min(max(strength, 0), 1)):02x}" for low, high in parts)


def width_of(content: str, size: float) -> float:
    """About how wide a text is: no font is at hand, so wide and narrow letters are counted."""
    em = 0.0
    for character in content:
        if unicodedata.east_asian_width(character) in "WF":
            em += 1.0
        else:
            em += 0.3 if character in "iljtfI.,:;'|!" else 0.86 if character in "mwMW" else 0.58
    return em * size


def label(piece: str, place: int = 1) -> str:
    """A piece for people: its space mark goes; what goes on with a word has a dot before it."""
    if piece.startswith("<") and piece.endswith(">"):
        return piece
    if piece.startswith(SPACE_MARK):
        return piece.removeprefix(SPACE_MARK) or "␣"
    goes_on = place > 0 and piece[:1].isalnum() and unicodedata.east_asian_width(piece[0]) not in "WF"
    return f"·{piece}" if goes_on else piece


def _rgb(colour: str) -> tuple[int, int, int]:
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)


def _attributes(values: dict[str, object]) -> str:
    return "".join(f" {name.replace('_', '-')}={quoteattr(str(value))}" for name, value in values.items())
