"""CTranslate2 as every benchmark here calls it: the same limits, the same batches, greedy and beam search alike.

It imports neither torch nor the model: the server that benchmarks/http.py measures carries only what it uses.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import ctranslate2

from tokenizer import AnyTokenizer

BEAMS = {"greedy": 1, "beam 4": 4}
LIMIT = 100  # target pieces of theirs; ours has a limit of each sentence's own, from its length
BATCH_TOKENS = 2048  # of a batch that one worker translates


class Opponent:
    """An exported model with the tokenizer that it was exported from.

    `kind` is what its weights were stored as; `workers` translate batches beside each other, each in `threads`
    threads.
    """

    def __init__(
        self, folder: Path, *, kind: str, workers: int, threads: int, tokenizer: AnyTokenizer
    ) -> None:
        self.tokenizer = tokenizer
        self._pieces = tokenizer.pieces(range(tokenizer.size))
        self._id_of = {piece: i for i, piece in enumerate(self._pieces)}
        self._engine = ctranslate2.Translator(
            str(folder), device="cpu", compute_type=kind, inter_threads=workers, intra_threads=threads
        )

    def spell(self, ids: Sequence[int]) -> list[str]:
        """A source as it wants to be given one, with the tag and the end."""
        return [self._pieces[i] for i in ids]

    def translate(self, sources: Sequence[list[str]], beam: int) -> list[str]:
        """The best text of each, decoded together; it sorts by length, and cuts what is more than a batch."""
        results = self._engine.translate_batch(
            sources,
            beam_size=beam,
            max_batch_size=BATCH_TOKENS,
            batch_type="tokens",
            max_input_length=0,
            max_decoding_length=LIMIT,
        )
        return [self.tokenizer.decode([self._id_of[piece] for piece in one.hypotheses[0]]) for one in results]
