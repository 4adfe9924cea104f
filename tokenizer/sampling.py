"""Words cut into pieces at random: subword regularisation (arXiv 1804.10959)."""

from __future__ import annotations

import math
import re
from itertools import accumulate
from random import Random

from sentencepiece import SentencePieceProcessor

LIKELIEST = 12  # segmentations of a word that are drawn from
MOST_WORDS = 200_000  # remembered
_WORD = re.compile(r" [^ ]*|[^ ]+")


class Segmentations:
    """Draws each word's segmentation with the likelihood that the unigram model gives it, to the power `alpha`.

    Words are independent of each other in the model, so this draws from whole sentences too. SentencePiece's own
    sampling has a generator that cannot be put back to where it was, and a run could not be resumed exactly.
    """

    def __init__(self, pieces: SentencePieceProcessor, alpha: float) -> None:
        self._pieces, self._alpha = pieces, alpha
        self._of_word: dict[str, tuple[list[list[int]], list[float]]] = {}

    def draw(self, text: str, random: Random) -> list[int]:
        """Ids of `text`, one of its segmentations."""
        ids: list[int] = []
        for word in _WORD.findall(text):
            segmentations, bounds = self._choices(word)
            ids += (
                random.choices(segmentations, cum_weights=bounds)[0] if len(bounds) > 1 else segmentations[0]
            )
        return ids

    def _choices(self, word: str) -> tuple[list[list[int]], list[float]]:
        """The word's likelier segmentations with the running sums of their weights."""
        if word not in self._of_word:
            if len(self._of_word) >= MOST_WORDS:
                self._of_word.clear()
            segmentations = self._pieces.nbest_encode(word, nbest_size=LIKELIEST)
            scores = [sum(map(self._pieces.get_score, ids)) for ids in segmentations]
            weights = (math.exp(self._alpha * (score - max(scores))) for score in scores)
            self._of_word[word] = segmentations, list(accumulate(weights))
        return self._of_word[word]
