"""What a system is measured on: sources, their references, and perhaps its output, line n beside line n."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from training.corpora.archives import Stream
from training.corpora.pairs import CorpusError
from training.corpora.readers import read_lines
from training.corpora.shelf import sha256_of_text


@dataclass(frozen=True)
class EvaluationSet:
    """Equally many lines of each. The hashes are those of the unpacked files."""

    sources: list[str]
    references: list[str]
    hypotheses: list[str] | None  # None: still to be made
    source_sha256: str
    reference_sha256: str


def read_evaluation_set(source: Path, reference: Path, hypothesis: Path | None = None) -> EvaluationSet:
    """Reads the files, plain or gzipped; only LF ends a line.

    Blank lines after the last line on which any file has text are none of the set's. CorpusError: the numbers
    of lines differ (the message has them), or a reference is empty (the message has its line).
    """
    paths = [path for path in (source, reference, hypothesis) if path]
    texts = [list(read_lines(Stream(path))) for path in paths]
    size = max(map(_lines_up_to_text, texts))
    if any(len(lines) < size for lines in texts):
        counts = ", ".join(f"{path} has {len(lines):,}" for path, lines in zip(paths, texts, strict=True))
        raise CorpusError(f"the numbers of lines differ: {counts}; line n of each must belong together")
    sources, references, *hypotheses = (lines[:size] for lines in texts)
    for number, line in enumerate(references, start=1):
        if not line.strip():
            raise CorpusError(f"{reference}, line {number}: the reference is empty; nothing can match it")
    return EvaluationSet(
        sources,
        references,
        hypotheses[0] if hypotheses else None,
        sha256_of_text(Stream(source)),
        sha256_of_text(Stream(reference)),
    )


def _lines_up_to_text(lines: list[str]) -> int:
    """How many lines there are up to the last that is not blank."""
    return max((number for number, line in enumerate(lines, start=1) if line.strip()), default=0)
