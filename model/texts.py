"""Texts through a Translator: cut into sentences that fit, translated, put back with their layout untouched."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from model.search import DecodingOptions
from model.sentence import Sentence
from model.translator import Hypothesis, Translator
from tokenizer.segments import Segment, cut, cut_sentence, put_back


class Candidate(NamedTuple):
    """A whole text in another language. `score`: sum of its sentences' scores; 0 where none was translated."""

    text: str
    score: float


@dataclass(frozen=True)
class TranslatedText:
    """What became of one text."""

    candidates: tuple[Candidate, ...]  # distinct, best first
    sentences: int  # how many went through the model; 0: the text is as it was
    pieces: int  # of the best candidate
    truncated: bool  # a length limit cut the best candidate

    @property
    def text(self) -> str:
        return self.candidates[0].text

    @property
    def score(self) -> float:
        return self.candidates[0].score

    @property
    def alternatives(self) -> tuple[Candidate, ...]:
        return self.candidates[1:]


@dataclass(frozen=True)
class Layout:
    """A text after cutting: all of its segments, and those that are sentences, ready for the model."""

    segments: tuple[Segment, ...]
    sentences: tuple[Sentence, ...]
    source_language: str
    target_language: str


def translate_texts(
    translator: Translator,
    texts: Sequence[str],
    source_language: str,
    target_language: str,
    options: DecodingOptions,
) -> list[TranslatedText]:
    """One translated text for each text; raises UnsupportedDirection."""
    layouts = [lay_out(translator, text, source_language, target_language) for text in texts]
    return _translate(translator, layouts, options)


def translate_corpus_lines(
    translator: Translator,
    lines: Sequence[str],
    source_language: str,
    target_language: str,
    options: DecodingOptions,
) -> list[TranslatedText]:
    """Lines of a corpus: each is ONE sentence, whatever stops it holds, and is cut only if it does not fit.

    So it is in training, and so references are aligned.
    """
    layouts = [_lay_out_line(translator, line, source_language, target_language) for line in lines]
    return _translate(translator, layouts, options)


def lay_out(translator: Translator, text: str, source_language: str, target_language: str) -> Layout:
    """Cut a text into its sentences; raises UnsupportedDirection if there is one to translate."""
    segments = cut(text, source_language, translator.fits)
    return _prepare(translator, segments, source_language, target_language)


def put_together(layout: Layout, hypotheses: Sequence[Sequence[Hypothesis]], n_best: int) -> TranslatedText:
    """The text from the hypotheses of its sentences.

    The k-th candidate joins the k-th best of each sentence, or the last of one that has fewer.
    """
    candidates: dict[str, Candidate] = {}
    for k in range(n_best):
        chosen = [ranked[min(k, len(ranked) - 1)] for ranked in hypotheses]
        text = put_back(
            layout.segments,
            iter([hypothesis.text for hypothesis in chosen]),
            source_language=layout.source_language,
            target_language=layout.target_language,
        )
        candidates.setdefault(text, Candidate(text, sum(hypothesis.score for hypothesis in chosen)))
    best = [ranked[0] for ranked in hypotheses]
    return TranslatedText(
        tuple(sorted(candidates.values(), key=lambda candidate: -candidate.score)),
        sentences=len(best),
        pieces=sum(len(hypothesis.pieces) for hypothesis in best),
        truncated=any(hypothesis.truncated for hypothesis in best),
    )


def unchanged(text: str) -> TranslatedText:
    """A text that needed no translation."""
    return TranslatedText((Candidate(text, 0.0),), sentences=0, pieces=0, truncated=False)


def _lay_out_line(translator: Translator, line: str, source_language: str, target_language: str) -> Layout:
    if not translator.fits(line):
        return lay_out(translator, line, source_language, target_language)
    return _prepare(translator, cut_sentence(line), source_language, target_language)


def _prepare(
    translator: Translator, segments: Sequence[Segment], source_language: str, target_language: str
) -> Layout:
    sentences = [
        translator.prepare(segment.text, source_language, target_language)
        for segment in segments
        if segment.is_sentence
    ]
    return Layout(tuple(segments), tuple(sentences), source_language, target_language)


def _translate(
    translator: Translator, layouts: Sequence[Layout], options: DecodingOptions
) -> list[TranslatedText]:
    sentences = [sentence for layout in layouts for sentence in layout.sentences]
    found = iter(translator.translate(sentences, options))
    return [
        put_together(layout, [next(found) for _ in layout.sentences], options.n_best) for layout in layouts
    ]
