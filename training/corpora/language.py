"""Which of two languages a text is in; only ever asked about the two of a corpus.

The library is the one that the service detects with (docs/decisions/0008-py3langid-tells-languages.md). Here it is
asked another question, once for each side of millions of pairs: not which language, but whether this is surely the
wrong one.
"""

from __future__ import annotations

from functools import cache, lru_cache

from py3langid.langid import MODEL_FILE, LanguageIdentifier

LEAST_LETTERS = 25  # below, names and loanwords decide; such a text is let pass
LONGEST_LOOK = 120  # characters; more of a text seldom changes the answer
LEAST_CONFIDENCE = 0.9


@cache
def language_pair(first: str, second: str) -> LanguagePair:
    """Loading takes half a second, so it is done once a process."""
    return LanguagePair(first, second)


class LanguagePair:
    """Tells two languages apart. Has nothing to say about languages that it does not know."""

    def __init__(self, first: str, second: str) -> None:
        self._identifier = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
        self.is_known = first != second and {first, second} <= set(self._identifier.labels)
        if self.is_known:
            self._identifier.set_languages([first, second])
        # Corpora repeat themselves: "Go!" with five translations, one below the other.
        self._classify = lru_cache(maxsize=1 << 10)(self._identifier.classify)

    def is_other(self, text: str, language: str) -> bool:
        """Whether the text is surely in the other language than `language`. Short texts and doubts are False."""
        head = text[:LONGEST_LOOK]
        if not self.is_known or len(head) < LEAST_LETTERS or sum(map(str.isalpha, head)) < LEAST_LETTERS:
            return False
        found, confidence = self._classify(f" {head} ")  # its features know where words end
        return bool(found != language and confidence >= LEAST_CONFIDENCE)
