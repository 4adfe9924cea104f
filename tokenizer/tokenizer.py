"""Text to ids and back: SentencePiece with byte fallback, lossless, closed to typed control symbols."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from random import Random
from typing import SupportsIndex

from sentencepiece import SentencePieceProcessor

from tokenizer.capitals import is_in_capitals
from tokenizer.normalise import normalise
from tokenizer.sampling import Segmentations
from tokenizer.vocabulary import SPACE_MARK, Vocabulary

PART = "tokenizer.model"
LANGUAGE_TAG = re.compile(r"<2([a-z]{2,3})>")
UPPER = "<upper>"


class Tokenizer(Vocabulary):
    """A SentencePiece model seen as a pair of inverse functions between text and ids.

    Control ids (padding, start, end, target-language tags) are reachable by name only, never by text. One more,
    <upper>, says that what follows is meant IN CAPITALS: such text is spelled with the pieces of its small letters,
    which a model knows well.
    `model` is a serialised SentencePiece model as `tokenizer.train` makes it; ValueError if it is not one.
    """

    def __init__(self, model: bytes) -> None:
        self.model = model
        try:
            self._pieces = SentencePieceProcessor(model_proto=model)
        except RuntimeError as error:
            raise ValueError(f"not a SentencePiece model ({len(model)} bytes): {error}") from error
        pieces = [self._pieces.id_to_piece(i) for i in range(self._pieces.get_piece_size())]
        bytes_of = {i: int(piece[3:5], 16) for i, piece in enumerate(pieces) if self._pieces.is_byte(i)}
        unk_id: int = self._pieces.unk_id()
        controls = {i for i in range(len(pieces)) if self._pieces.is_control(i)} | {unk_id}
        super().__init__(
            pieces,
            bytes_of=bytes_of,
            controls=controls,
            tags={
                tag[1]: i
                for i, piece in enumerate(pieces)
                if i in controls and (tag := LANGUAGE_TAG.fullmatch(piece))
            },
            pad_id=self._pieces.pad_id(),
            unk_id=unk_id,
            bos_id=self._pieces.bos_id(),
            eos_id=self._pieces.eos_id(),
        )
        self._segmentations: dict[float, Segmentations] = {}
        # A typed ▁ must not turn into a space, so it is spelled with the bytes of its UTF-8 form.
        id_of_byte = {byte: i for i, byte in bytes_of.items()}
        if len(id_of_byte) != 256:
            raise ValueError(f"a tokenizer needs all 256 byte pieces, this model has {len(id_of_byte)}")
        self._space_mark_ids = [id_of_byte[byte] for byte in SPACE_MARK.encode()]
        upper_id = self._pieces.piece_to_id(UPPER)  # of unknown, in a model that was learnt without it
        self.upper_id: int | None = upper_id if upper_id in controls - {unk_id} else None

    @property
    def parts(self) -> dict[str, bytes]:
        """The files of a model directory that it is made from."""
        return {PART: self.model}

    def encode(self, text: str) -> list[int]:
        """Ids of `normalise(text)`; text pieces only, after <upper> in capitals. The empty text has no ids."""
        return self._spell(text, self._pieces.encode)

    def encode_target(self, text: str) -> list[int]:
        """The same: both sides have the same pieces."""
        return self.encode(text)

    def encode_in_capitals(self, text: str) -> list[int]:
        """Ids that decode to `normalise(text).upper()`, but are spelled as `text` is: Haus, not haus, for HAUS."""
        if self.upper_id is None or is_in_capitals(normalise(text)):
            return self.encode(text.upper())
        return [self.upper_id, *self.encode(text)]

    def sample(self, text: str, random: Random, *, alpha: float = 0.2) -> list[int]:
        """Like `encode`, each word cut in one of its likelier ways: smaller `alpha` draws more evenly."""
        if alpha not in self._segmentations:
            self._segmentations[alpha] = Segmentations(self._pieces, alpha)
        return self._spell(text, lambda part: self._segmentations[alpha].draw(part, random))

    def decode(self, ids: Iterable[SupportsIndex]) -> str:
        """The text of `ids`: control ids are skipped, a character that lacks some of its bytes is dropped."""
        known = list(self._known(ids))
        start = known.index(self.upper_id) if self.upper_id in known else len(known)
        return (self._join(known[:start]) + self._join(known[start:]).upper()).removeprefix(" ")

    def _spell(self, text: str, encode: Callable[[str], list[int]]) -> list[int]:
        text = normalise(text)
        if not text:
            return []
        if self.upper_id is not None and is_in_capitals(text):
            return [self.upper_id, *self._spell_plainly(text.lower(), encode)]
        return self._spell_plainly(text, encode)

    def _spell_plainly(self, text: str, encode: Callable[[str], list[int]]) -> list[int]:
        # The first word gets the space that any other word has, so that it is spelled with the same pieces.
        head, *rest = f" {text}".split(SPACE_MARK)
        ids: list[int] = encode(head)
        for part in rest:
            ids += self._space_mark_ids
            if part:
                ids += encode(part)
        return ids
