"""A picture as PNG has the size of its SVG, and something on it."""

from __future__ import annotations

import struct
import zlib

import pytest

pytest.importorskip("resvg_py", reason="needs what `make install-exchange` installs")

from model.exchange.to_png import ZOOM, to_png
from model.pictures.svg import picture, rectangle


def test_the_png_is_twice_as_large_as_the_svg_and_not_empty() -> None:
    png = to_png(picture(40, 30, rectangle(10, 10, 5, 5, fill="#ff0000")))
    assert png.startswith(b"\x89PNG\r\n\x1a\n")
    assert struct.unpack(">II", png[16:24]) == (40 * ZOOM, 30 * ZOOM)
    start = png.index(b"IDAT")
    (length,) = struct.unpack(">I", png[start - 4 : start])
    assert len(set(zlib.decompress(png[start + 4 : start + 4 + length]))) > 2
