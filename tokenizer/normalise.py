"""The one normalisation of text that this project applies, small on purpose."""

from __future__ import annotations

import re
import unicodedata
from itertools import groupby

# Invisible marks that carry no meaning inside a sentence: byte order mark, zero-width space, word joiner.
# The zero-width joiner and non-joiner are NOT here: Persian, Indic scripts and emoji are spelled with them.
INVISIBLE = "\ufeff\u200b\u2060"

_LINE_ENDS = re.compile("\r\n?|[\x0b\x0c]")
_DROPPED = re.compile(f"[{INVISIBLE}\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f]")
# The only characters that are no marks (combining class 0) and that NFC takes apart into marks.
_TIBETAN_PAIRS = {"\u0f73": "\u0f71\u0f72", "\u0f75": "\u0f71\u0f74", "\u0f81": "\u0f71\u0f80"}
FEW_CHARACTERS = 1000  # up to here insertion is fast enough
_SURROGATE = re.compile("[\ud800-\udfff]")


def normalise(text: str) -> str:
    """The text as the tokenizer keeps it: `Tokenizer.decode(Tokenizer.encode(x)) == normalise(x)`.

    In order: half surrogates become U+FFFD; CRLF, CR and the line ends VT and FF become LF; control
    characters (but tab, LF and U+0085) and the INVISIBLE marks are dropped; NFC composes letters.
    Not NFKC: 10½, x², ﬁ, ，and ？ stay.
    """
    text = _SURROGATE.sub("\ufffd", text)
    text = _LINE_ENDS.sub("\n", text)
    return _compose(_DROPPED.sub("", text))


def _compose(text: str) -> str:
    """NFC in n log n. CPython orders marks by insertion: 20,000 of them on one letter would take a second."""
    if len(text) > FEW_CHARACTERS:
        for whole, marks in _TIBETAN_PAIRS.items():
            text = text.replace(whole, marks)
        runs = groupby(text, key=lambda character: unicodedata.combining(character) > 0)
        text = "".join(
            "".join(sorted(run, key=unicodedata.combining) if are_marks else run) for are_marks, run in runs
        )
    return unicodedata.normalize("NFC", text)
