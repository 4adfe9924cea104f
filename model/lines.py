"""Lines of text through a Translator: cut into sentences that fit, translated in one go, put back line by line."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from model.search import DecodingOptions
from model.translator import Hypothesis, Sentence, Translator
from tokenizer.sentences import split_sentences, split_to_fit

# Where no blank stands between two sentences.
LANGUAGES_WITHOUT_BLANKS = frozenset({"zh", "ja", "th", "lo", "km", "my"})
_BREAKS = re.compile(r"[\t\n\r\v\f\x1c-\x1e\x85\u2028\u2029]+")


class Candidate(NamedTuple):
    """A whole line in another language. `score`: the sum of the scores of its sentences."""

    text: str
    score: float


class TranslatedLine(NamedTuple):
    """What became of one line."""

    candidates: tuple[Candidate, ...]  # distinct, best first
    sentences: int  # how many went through the model; 0: the line has no letter and is as it was
    pieces: int  # of the best candidate
    truncated: bool  # a length limit cut the best candidate

    @property
    def text(self) -> str:
        return self.candidates[0].text


def translate_lines(
    translator: Translator,
    lines: Sequence[str],
    source_language: str,
    target_language: str,
    options: DecodingOptions,
) -> list[TranslatedLine]:
    """Lines of text: each is split into its sentences, and a sentence that is too long into parts that fit.

    White space around sentences and whatever has no letter stay as they are. A translation never holds a
    line end or a tab of its own. Raises UnsupportedDirection.
    """

    def cut(line: str) -> list[str]:
        return _cut_to_fit(translator, line, source_language)

    return _translate(translator, lines, (source_language, target_language), options, cut)


def translate_corpus_lines(
    translator: Translator,
    lines: Sequence[str],
    source_language: str,
    target_language: str,
    options: DecodingOptions,
) -> list[TranslatedLine]:
    """Lines of a corpus: each is ONE sentence, whatever stops it holds, and is split only if it does not fit.

    So it is in training, and so references are aligned. All else is as in `translate_lines`.
    """

    def cut(line: str) -> list[str]:
        return [line] if translator.fits(line) else _cut_to_fit(translator, line, source_language)

    return _translate(translator, lines, (source_language, target_language), options, cut)


class _Part(NamedTuple):
    """A stretch of a line: a sentence with the white space around it, or (None) a text to keep."""

    before: str
    sentence: Sentence | None
    after: str


def _translate(
    translator: Translator,
    lines: Sequence[str],
    direction: tuple[str, str],
    options: DecodingOptions,
    cut: Callable[[str], list[str]],
) -> list[TranslatedLine]:
    layouts = [[_part(translator, text, direction) for text in cut(line)] for line in lines]
    sentences = [part.sentence for layout in layouts for part in layout if part.sentence]
    found = iter(translator.translate(sentences, options))
    return [_put_back(layout, found, direction, options.n_best) for layout in layouts]


def _cut_to_fit(translator: Translator, line: str, language: str) -> list[str]:
    return [
        part
        for sentence in split_sentences(line, language)
        for part in split_to_fit(sentence, translator.fits)
    ]


def _part(translator: Translator, text: str, direction: tuple[str, str]) -> _Part:
    core = text.strip()
    if not any(map(str.isalpha, core)):
        return _Part(text, None, "")
    start = text.index(core)
    return _Part(text[:start], translator.prepare(core, *direction), text[start + len(core) :])


def _put_back(
    layout: Sequence[_Part], found: Iterator[list[Hypothesis]], direction: tuple[str, str], n_best: int
) -> TranslatedLine:
    """The k-th candidate joins the k-th best of each sentence, or the last of one that has fewer."""
    hypotheses = [next(found) for part in layout if part.sentence]
    candidates: dict[str, Candidate] = {}
    for k in range(n_best):
        chosen = [ranked[min(k, len(ranked) - 1)] for ranked in hypotheses]
        text = _join(layout, iter(chosen), direction)
        candidates.setdefault(text, Candidate(text, sum(hypothesis.score for hypothesis in chosen)))
    best = [ranked[0] for ranked in hypotheses]
    return TranslatedLine(
        tuple(sorted(candidates.values(), key=lambda candidate: -candidate.score)),
        sentences=len(best),
        pieces=sum(len(hypothesis.pieces) for hypothesis in best),
        truncated=any(hypothesis.truncated for hypothesis in best),
    )


def _join(layout: Sequence[_Part], chosen: Iterator[Hypothesis], direction: tuple[str, str]) -> str:
    source, target = direction
    needs_blanks = source in LANGUAGES_WITHOUT_BLANKS and target not in LANGUAGES_WITHOUT_BLANKS
    text = ""
    follows_sentence = False
    for part in layout:
        text += part.before
        if part.sentence:
            if needs_blanks and follows_sentence and not text[-1:].isspace():
                text += " "
            text += _BREAKS.sub(" ", next(chosen).text).strip()
        text += part.after
        follows_sentence = part.sentence is not None
    return text
