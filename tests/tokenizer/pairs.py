"""Tokenizers as Marian has them, learnt from a hundred sentences: a model a side, one vocabulary."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from functools import cache

from sentencepiece import SentencePieceProcessor, SentencePieceTrainer

from tests.model.phrasebook import ENGLISH, GERMAN
from tokenizer.pair import vocabulary_part


@cache
def sentencepiece(lines: tuple[str, ...], size: int = 120) -> bytes:
    """A model as Marian's are: with the library's own normalisation, and without bytes."""
    model = io.BytesIO()
    SentencePieceTrainer.train(
        sentence_iterator=iter(lines),
        model_writer=model,
        vocab_size=size,
        hard_vocab_limit=False,
        character_coverage=1.0,
        num_threads=1,
        minloglevel=2,
    )
    return model.getvalue()


def pieces_of(*models: bytes) -> list[str]:
    """The text pieces of some models, each once."""
    processors = [SentencePieceProcessor(model_proto=model) for model in models]
    pieces = (p.id_to_piece(i) for p in processors for i in range(p.get_piece_size()) if not p.is_control(i))
    return [piece for piece in dict.fromkeys(pieces) if piece != "<unk>"]


def marian_pieces(*models: bytes, tags: Sequence[str] = ()) -> list[str]:
    """A vocabulary in Marian's order: the end, the unknown one, tags, text, and padding last."""
    return ["</s>", "<unk>", *tags, *pieces_of(*models), "<pad>"]


def pair_parts(tags: Mapping[str, str] | None = None) -> dict[str, bytes]:
    """The parts of an English–German PairTokenizer."""
    source, target = sentencepiece(tuple(ENGLISH)), sentencepiece(tuple(GERMAN))
    vocabulary = vocabulary_part(
        marian_pieces(source, target, tags=[*(tags or {}).values()]),
        padding="<pad>",
        unknown="<unk>",
        end="</s>",
        tags=tags or {},
    )
    return {"source.spm": source, "target.spm": target, "vocabulary.json": vocabulary}
