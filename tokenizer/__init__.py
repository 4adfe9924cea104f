"""Text to ids and back: normalisation, SentencePiece pieces, sentence splitting. Knows no tensors."""

from collections.abc import Mapping

from tokenizer.normalise import normalise
from tokenizer.pair import PairTokenizer
from tokenizer.tokenizer import PART, Tokenizer

AnyTokenizer = Tokenizer | PairTokenizer
"""What a model needs: encode, encode_target, source_prefix, decode, pieces, parts, and the ids of control pieces."""

__all__ = ["AnyTokenizer", "PairTokenizer", "Tokenizer", "normalise", "open_tokenizer", "tokenizer_parts"]


def tokenizer_parts(files: Mapping[str, object]) -> tuple[str, ...]:
    """Which of a folder's files the tokenizer is made from: those of a pair if they are there, else the one."""
    return PairTokenizer.PARTS if PairTokenizer.PARTS[0] in files else (PART,)


def open_tokenizer(files: Mapping[str, bytes]) -> AnyTokenizer:
    """The tokenizer that is among a folder's files; ValueError if they do not make one."""
    if missing := [name for name in tokenizer_parts(files) if name not in files]:
        raise ValueError(f"no tokenizer: {missing[0]} is missing")
    return Tokenizer(files[PART]) if tokenizer_parts(files) == (PART,) else PairTokenizer(files)
