"""Text to ids and back: normalisation, SentencePiece pieces, sentence splitting. Knows no tensors."""

from tokenizer.normalise import normalise
from tokenizer.tokenizer import Tokenizer

__all__ = ["Tokenizer", "normalise"]
