"""The one normalisation of text that this project applies, small on purpose."""

from __future__ import annotations

import re
import unicodedata

# Invisible marks that carry no meaning inside a sentence: byte order mark, zero-width space, word joiner.
# The zero-width joiner and non-joiner are NOT here: Persian, Indic scripts and emoji are spelled with them.
INVISIBLE = "\ufeff\u200b\u2060"

_LINE_ENDS = re.compile("\r\n?")
_DROPPED = re.compile(f"[{INVISIBLE}\x00-\x08\x0b-\x1f\x7f-\x84\x86-\x9f]")
_SURROGATE = re.compile("[\ud800-\udfff]")


def normalise(text: str) -> str:
    """The text as the tokenizer keeps it: `Tokenizer.decode(Tokenizer.encode(x)) == normalise(x)`.

    In order: half surrogates become U+FFFD; CRLF and CR become LF; control characters (but tab, LF and
    U+0085) and the INVISIBLE marks are dropped; NFC composes letters. Not NFKC: 10½, x², ﬁ, ，and ？ stay.
    """
    text = _SURROGATE.sub("\ufffd", text)
    text = _LINE_ENDS.sub("\n", text)
    return unicodedata.normalize("NFC", _DROPPED.sub("", text))
