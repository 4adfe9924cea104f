"""Output as published Multi30k scores have it: lower-cased, punctuation normalised, Moses tokens."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import version

from sacremoses import MosesPunctNormalizer, MosesTokenizer


def preparation() -> str:
    """What a report says of output that went through `tokenized_lowercase`."""
    return f"lower-case, normalise, tokenise (sacremoses {version('sacremoses')})"


def tokenized_lowercase(lines: Sequence[str], language: str) -> list[str]:
    """The same steps, in the same order, as the corpus's makers took for their `*.lc.norm.tok.*` files.

    Tokens have blanks between them, quotation marks and ampersands are entities: `&quot;`, `&apos;`, `&amp;`.
    """
    normaliser, tokenizer = MosesPunctNormalizer(language), MosesTokenizer(language)
    return [tokenizer.tokenize(normaliser.normalize(line.lower()), return_str=True) for line in lines]
