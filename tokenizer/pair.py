"""Text to ids and back as Marian does it: a SentencePiece model a side, over one vocabulary of their pieces."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from sentencepiece import SentencePieceProcessor

from tokenizer.normalise import normalise
from tokenizer.vocabulary import Vocabulary

SOURCE, TARGET, VOCABULARY = "source.spm", "target.spm", "vocabulary.json"


class PairTokenizer(Vocabulary):
    """A tokenizer of models that learnt elsewhere: OPUS-MT has one for each pair of languages.

    Unlike `Tokenizer` it is not lossless: SentencePiece's own normalisation, which is part of these models, applies
    after ours, and a character without a piece is unknown. A target starts with padding. `parts` are the two
    serialised SentencePiece models and the vocabulary (see `vocabulary_part`); ValueError names a bad one.
    """

    PARTS = (SOURCE, TARGET, VOCABULARY)

    def __init__(self, parts: Mapping[str, bytes]) -> None:
        self.parts = {name: parts[name] for name in self.PARTS}
        self._source, self._target = (_sentencepiece(name, self.parts[name]) for name in (SOURCE, TARGET))
        described = json.loads(self.parts[VOCABULARY])
        pieces: list[str] = described["pieces"]
        id_of = {piece: i for i, piece in enumerate(pieces)}
        if len(id_of) != len(pieces):
            raise ValueError(f"{VOCABULARY}: {len(pieces) - len(id_of)} pieces are there twice")
        try:
            pad_id, unk_id, eos_id = (id_of[described[role]] for role in ("padding", "unknown", "end"))
            tags = {language: id_of[piece] for language, piece in described["tags"].items()}
        except KeyError as error:
            raise ValueError(f"{VOCABULARY}: {error} is missing") from None
        controls = {pad_id, unk_id, eos_id, *tags.values()}
        # Text that looks like a control piece is text all the same.
        self._id_of = {piece: i for piece, i in id_of.items() if i not in controls}
        super().__init__(
            pieces,
            bytes_of=_bytes(self._target, id_of),
            controls=controls,
            tags=tags,
            pad_id=pad_id,
            unk_id=unk_id,
            bos_id=pad_id,
            eos_id=eos_id,
        )

    def encode(self, text: str) -> list[int]:
        """Ids of a source; text pieces and unknown ones only."""
        return self._spell(self._source, text)

    def encode_target(self, text: str) -> list[int]:
        """Ids of a target."""
        return self._spell(self._target, text)

    def source_prefix(self, language: str) -> tuple[int, ...]:
        """Nothing where the vocabulary has no tags: such a model knows one target language, whatever its name."""
        return super().source_prefix(language) if self._tags else ()

    def _spell(self, pieces: SentencePieceProcessor, text: str) -> list[int]:
        return [self._id_of.get(piece, self.unk_id) for piece in pieces.encode(normalise(text), out_type=str)]


def vocabulary_part(
    pieces: Sequence[str], *, padding: str, unknown: str, end: str, tags: Mapping[str, str]
) -> bytes:
    """The part of a `PairTokenizer` that says which id each piece has: its place in `pieces`.

    `tags` has for each language the piece that asks for it; it is empty where there is one target language.
    """
    described = {
        "padding": padding,
        "unknown": unknown,
        "end": end,
        "tags": dict(tags),
        "pieces": list(pieces),
    }
    return (json.dumps(described, ensure_ascii=False, indent=0) + "\n").encode()


def _sentencepiece(name: str, model: bytes) -> SentencePieceProcessor:
    try:
        if not model:  # which the library takes for a model without pieces
            raise RuntimeError("it is empty")
        return SentencePieceProcessor(model_proto=model)
    except RuntimeError as error:
        raise ValueError(f"{name}: not a SentencePiece model ({len(model)} bytes): {error}") from error


def _bytes(model: SentencePieceProcessor, id_of: Mapping[str, int]) -> dict[int, int]:
    """The ids that stand for a byte, where the model spells what it does not know with bytes."""
    pieces = (model.id_to_piece(i) for i in range(model.get_piece_size()) if model.is_byte(i))
    return {id_of[piece]: int(piece[3:5], 16) for piece in pieces if piece in id_of}
