"""BLEU and chrF of a system's output, as the `sacrebleu` command computes them, with all that identifies them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

import sacrebleu
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF

# Tokenizers of BLEU for languages without blanks between words: the wanted one, and what does without MeCab.
TOKENIZERS = {"zh": ("zh", "zh"), "ja": ("ja-mecab", "char"), "ko": ("ko-mecab", "char")}
USUAL_TOKENIZER = "13a"


@dataclass(frozen=True, kw_only=True)
class Metric:
    """Every choice that changes BLEU, some of which sacreBLEU's signature does not show."""

    tokenize: str = USUAL_TOKENIZER
    case: Literal["mixed", "lower"] = "mixed"
    ngram_order: int = 4
    smoothing: str = "exp"
    level: str = "corpus"  # counts are summed over all sentences; never a mean of sentences' scores
    preparation: str = "none"  # what was done to the output before
    sacrebleu: str = sacrebleu.__version__

    def __post_init__(self) -> None:
        if self.case not in ("mixed", "lower"):
            raise ValueError(f"case is {self.case!r}, allowed: mixed, lower")
        if not 1 <= self.ngram_order <= 9:
            raise ValueError(f"ngram_order is {self.ngram_order}, allowed: 1 … 9")

    def to_json(self) -> dict[str, Any]:
        """Plain values, for a report."""
        return asdict(self)


@dataclass(frozen=True, kw_only=True)
class Scores:
    """Of all sentences together. BLEU and chrF are 0 … 100."""

    bleu: float
    chrf: float
    signature: str  # of BLEU, as sacreBLEU writes it
    chrf_signature: str
    metric: Metric
    sentences: int
    length_ratio: float  # words of the output / words of the reference, as BLEU counts them
    empty: int  # hypotheses without any text; they match nothing
    exact: int  # hypotheses that are their reference, white space around aside
    note: str = ""  # what to know before setting the score beside others


def score(
    hypotheses: Sequence[str],
    references: Sequence[str],
    target_language: str,
    *,
    metric: Metric | None = None,
) -> Scores:
    """Cased corpus BLEU and chrF of one hypothesis and ONE reference a sentence: two flat sequences of text.

    Nothing else is taken, nothing is cut to fit. TypeError: another shape. ValueError: unequal numbers, none,
    or an empty reference, with its number. `metric` replaces `metric_for(target_language)`.
    """
    _refuse_other_shapes("hypotheses", hypotheses)
    _refuse_other_shapes("references", references)
    if len(hypotheses) != len(references):
        raise ValueError(f"{len(hypotheses):,} hypotheses, but {len(references):,} references")
    if not hypotheses:
        raise ValueError("no sentences to score")
    if empty := [number for number, line in enumerate(references, start=1) if not line.strip()]:
        raise ValueError(f"reference {empty[0]} is empty")
    metric = metric or metric_for(target_language)
    # White space around a sentence is no part of it; the command strips it as well.
    hypotheses = [line.strip() for line in hypotheses]
    references = [line.strip() for line in references]
    lowercase = metric.case == "lower"
    bleu = BLEU(
        tokenize=metric.tokenize,
        lowercase=lowercase,
        max_ngram_order=metric.ngram_order,
        smooth_method=metric.smoothing,
        force=metric.tokenize == "none",  # such text is meant to be tokenised
    )
    chrf = CHRF(lowercase=lowercase)
    found = bleu.corpus_score(hypotheses, [references])
    return Scores(
        bleu=found.score,
        chrf=chrf.corpus_score(hypotheses, [references]).score,
        signature=str(bleu.get_signature()),
        chrf_signature=str(chrf.get_signature()),
        metric=metric,
        sentences=len(hypotheses),
        length_ratio=found.ratio,
        empty=hypotheses.count(""),
        exact=sum(map(str.__eq__, hypotheses, references)),
        note=_note(metric, target_language),
    )


def metric_for(target_language: str) -> Metric:
    """The usual metric of a language: words as 13a finds them, Chinese characters, Japanese words of MeCab."""
    wanted, instead = TOKENIZERS.get(target_language, (USUAL_TOKENIZER, USUAL_TOKENIZER))
    metric = Metric(tokenize=wanted)
    try:
        BLEU(tokenize=wanted)
    except (RuntimeError, ImportError):  # MeCab or its dictionary is not installed
        return replace(metric, tokenize=instead)
    return metric


def count_copies(sources: Sequence[str], hypotheses: Sequence[str]) -> int:
    """Lines that came out as they went in, though they have letters: names and numbers do so rightly."""
    pairs = zip(sources, hypotheses, strict=True)
    return sum(
        source.strip() == hypothesis.strip() and any(map(str.isalpha, source)) for source, hypothesis in pairs
    )


def _refuse_other_shapes(name: str, lines: object) -> None:
    if isinstance(lines, str) or not isinstance(lines, Sequence):
        raise TypeError(f"{name} must be a sequence of texts, one a sentence, not {type(lines).__name__}")
    for number, line in enumerate(lines, start=1):
        if not isinstance(line, str):
            raise TypeError(f"{name} must be texts; number {number} is a {type(line).__name__}: {line!r:.60}")


def _note(metric: Metric, target_language: str) -> str:
    wanted, instead = TOKENIZERS.get(target_language, (USUAL_TOKENIZER, USUAL_TOKENIZER))
    if metric.tokenize == instead != wanted:
        return (
            f"BLEU over characters (tok:{instead}), for want of MeCab: not to be set beside scores with "
            f"tok:{wanted}; pip install 'sacrebleu[{target_language}]' brings it"
        )
    return ""
