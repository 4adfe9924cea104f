"""What a corpus of one's own holds, counted before anything is decided: the data report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from rich.console import Console
from rich.table import Table

from training.corpora.cleaning import CleaningReport, CleaningRules, clean, extent
from training.corpora.corpus import Corpus
from training.corpora.readers import ReadingReport

PERCENTILES = (50, 90, 99, 100)


@dataclass
class Survey:
    """Of the pairs that cleaning keeps, but for the two reports, which tell what became of the others.

    Extents are letters, with Han characters and kana counted three, as they say three times as much.
    """

    corpus: Corpus
    reading: ReadingReport = field(default_factory=ReadingReport)
    cleaning: CleaningReport = field(default_factory=CleaningReport)
    extents: tuple[Counter[int], Counter[int]] = field(default_factory=lambda: (Counter(), Counter()))
    characters: Counter[str] = field(default_factory=Counter)

    @property
    def pairs(self) -> int:
        return self.cleaning.kept

    def extent_of(self, side: int) -> int:
        """Of all source sides (0) or all target sides (1) together."""
        return sum(length * count for length, count in self.extents[side].items())

    def percentile(self, side: int, percent: int) -> int:
        """The extent that so many percent of the sides do not exceed."""
        wanted = percent / 100 * self.extents[side].total()
        seen = 0
        for length, count in sorted(self.extents[side].items()):
            seen += count
            if seen >= wanted:
                return length
        return 0

    def characters_for(self, coverage: float) -> int:
        """How many distinct characters make up this share of the text."""
        wanted = coverage * self.characters.total()
        seen = needed = 0
        for _, count in self.characters.most_common():
            if seen >= wanted:
                break
            seen, needed = seen + count, needed + 1
        return needed

    def show(self, console: Console) -> None:
        """The report as people read it."""
        corpus = self.corpus
        streams = ", ".join(str(stream) for streams in corpus.parts.values() for stream in streams)
        faults = [
            f"{count:,} {what}"
            for count, what in (
                (self.reading.dropped, "entries without both sides, or no text"),
                (self.reading.lone_carriage_returns, "carriage returns inside of lines, read as spaces"),
            )
            if count
        ]
        console.print(f"{streams}: {self.reading.pairs:,} pairs{''.join(f'; {fault}' for fault in faults)}")
        table = Table(title="Lengths of the pairs that stay, in letters")
        table.add_column("language")
        for percent in PERCENTILES:
            table.add_column("longest" if percent == 100 else f"{percent} % up to", justify="right")
        table.add_column("distinct characters", justify="right")
        for side, language in enumerate((corpus.source_language, corpus.target_language)):
            table.add_row(
                language,
                *(f"{self.percentile(side, percent):,}" for percent in PERCENTILES),
                f"{len(self.characters):,} in both" if side == 0 else "",
            )
        console.print(table)


def survey(corpus: Corpus) -> Survey:
    """Reads the whole corpus once, pair by pair; CorpusError for one that is broken or of which nothing stays."""
    found = Survey(corpus)
    for pair in _kept(found):
        for side, text in enumerate(pair):
            found.extents[side][extent(text)] += 1
            found.characters.update(text)
    return found


def _kept(found: Survey) -> Iterator[tuple[str, str]]:
    rules = CleaningRules(
        source_language=found.corpus.source_language, target_language=found.corpus.target_language
    )
    return clean(found.corpus.read(report=found.reading), rules, found.cleaning)
