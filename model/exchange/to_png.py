"""A picture in SVG as PNG, by resvg; of the fonts, those of this machine."""

from __future__ import annotations

from resvg_py import svg_to_bytes

ZOOM = 2.0  # pixels for each unit of the picture: sharp on fine screens


def to_png(svg: str) -> bytes:
    """The bytes of a PNG file."""
    return svg_to_bytes(svg_string=svg, zoom=ZOOM)
