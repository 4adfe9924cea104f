"""Sentences of the primer in the words of one house, as a translation memory: something to fine-tune on.

A furniture shop that says Leuchte where others say Lampe is the plainest case of what fine-tuning is for. Each term
has the gender and the endings of the word in whose place it stands, so the grammar stays right.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from xml.sax.saxutils import escape

from training.corpora.pairs import Pair

TERMS = {
    "Lampe": "Leuchte",
    "Lampen": "Leuchten",
    "Stuhl": "Sessel",
    "Stühle": "Sessel",
    "Kiste": "Box",
    "Kisten": "Boxen",
    "Fahrrad": "Rad",
    "Fahrräder": "Räder",
    "Tasche": "Mappe",
    "Taschen": "Mappen",
}
_WORD = re.compile(r"\w+")


def in_house(pair: Pair) -> Pair | None:
    """The pair with the house's German terms; None where it has none of them."""
    target = _WORD.sub(lambda word: TERMS.get(word[0], word[0]), pair.target)
    return Pair(pair.source, target) if target != pair.target else None


def write_memory(path: Path, pairs: Iterable[Pair]) -> None:
    """A TMX 1.4 file of English–German units."""
    with path.open("w", encoding="utf-8") as file:
        file.write('<?xml version="1.0" encoding="UTF-8"?>\n<tmx version="1.4">\n')
        file.write(
            '<header creationtool="primer" creationtoolversion="1" segtype="sentence" o-tmf="none" '
            'adminlang="en" srclang="en" datatype="plaintext"/>\n<body>\n'
        )
        for pair in pairs:
            variants = "".join(
                f'<tuv xml:lang="{language}"><seg>{escape(text)}</seg></tuv>'
                for language, text in zip(("en", "de"), pair, strict=True)
            )
            file.write(f"<tu>{variants}</tu>\n")
        file.write("</body>\n</tmx>\n")
