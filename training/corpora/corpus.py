"""A corpus on disk: a folder that `training.fetch` wrote, or the user's own files."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from training.corpora.archives import Stream, streams_in
from training.corpora.pairs import CorpusError, Pair
from training.corpora.readers import Faulty, ReadingReport, read_aligned, read_csv, read_tsv
from training.corpora.shelf import SOURCE_FILE, sha256_of
from training.corpora.tmx import is_tmx, read_tmx

WHOLE = "all"


@dataclass(frozen=True)
class Corpus:
    """Parallel text of one language pair, in one part that we split (`all`) or in parts that its makers chose
    (`train`, `validation`, and one or more tests)."""

    name: str
    source_language: str
    target_language: str
    licence: str
    attribution: str
    parts: Mapping[str, tuple[Stream, ...]]  # two aligned streams, or one that holds both sides
    texts: Mapping[str, Stream] = field(default_factory=dict)  # further files by name, such as references
    is_clean: bool = False  # its training part was cleaned before, as merged shards are
    faulty: Faulty = (
        "refuse"  # what becomes of a line that is no text or no row; drop: its pair goes, and is counted
    )

    @property
    def is_split(self) -> bool:
        return tuple(self.parts) != (WHOLE,)

    def read(
        self, part: str = WHOLE, *, faulty: Faulty | None = None, report: ReadingReport | None = None
    ) -> Iterator[Pair]:
        """The pairs of a part, as they stand in the files. `faulty` goes before the corpus's own."""
        faulty = faulty or self.faulty
        if part not in self.parts:
            raise CorpusError(f"{self.name} has no part {part!r}; its parts: {', '.join(self.parts)}")
        streams = self.parts[part]
        if len(streams) == 2:
            return read_aligned(*streams, faulty=faulty, report=report)
        if is_tmx(streams[0]):
            return read_tmx(streams[0], self.source_language, self.target_language, report=report)
        if streams[0].name.lower().endswith(".csv"):
            return read_csv(
                streams[0], self.source_language, self.target_language, faulty=faulty, report=report
            )
        return read_tsv(streams[0], faulty=faulty, report=report)


@dataclass(frozen=True)
class Mixture:
    """Corpora of one pair of languages, in either order, that are trained on together.

    `weights` are their shares of what is trained on; without, every pair of all of them counts the same.
    """

    corpora: tuple[Corpus, ...]
    weights: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        first = self.corpora[0]
        for corpus in self.corpora[1:]:
            if {corpus.source_language, corpus.target_language} != {
                first.source_language,
                first.target_language,
            }:
                raise CorpusError(
                    f"{corpus.name} is {corpus.source_language}–{corpus.target_language}, {first.name} is "
                    f"{first.source_language}–{first.target_language}: corpora that are trained on together must "
                    "be of the same two languages"
                )


def open_mixture(folder: Path, names: str) -> Mixture:
    """Opens corpora below a folder. `names` is one name, several, or several with weights: `news:3 talks:1`.

    Raises CorpusError for names that say something else, and as `open_corpus` does.
    """
    entries = [name.partition(":") for name in names.split()]
    weights = []
    for name, colon, weight in entries:
        try:
            weights.append(float(weight) if colon else 0.0)
        except ValueError:
            weights.append(-1.0)
        if colon and not 0 < weights[-1] < math.inf:
            raise CorpusError(f"{names!r}: the weight of {name} is {weight!r}; allowed: numbers above 0")
    distinct = {name for name, _, _ in entries}
    if not entries or len(distinct) < len(entries) or len({colon for _, colon, _ in entries}) > 1:
        raise CorpusError(
            f"{names!r}: corpora are named once each, all of them with a weight (news:3 talks:1) or none (news talks)"
        )
    corpora = tuple(open_corpus(folder / name) for name, _, _ in entries)
    return Mixture(corpora, tuple(weights) if entries[0][1] else None)


def open_corpus(folder: Path) -> Corpus:
    """Raises CorpusError when the folder is no corpus, or a file is missing or differs from its checksum."""
    try:
        source = json.loads((folder / SOURCE_FILE).read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise CorpusError(
            f"{folder}: no corpus here ({SOURCE_FILE} is missing); `python -m training.fetch NAME` writes one"
        ) from error
    except ValueError as error:
        raise CorpusError(f"{folder / SOURCE_FILE}: damaged: {error}") from error
    for file in source["files"]:
        path = folder / file["name"]
        if not path.is_file() or sha256_of(path) != file["sha256"]:
            raise CorpusError(
                f"{path}: missing or changed since it was fetched; fetch {source['name']} again"
            )
    return Corpus(
        name=source["name"],
        source_language=source["source_language"],
        target_language=source["target_language"],
        licence=source["licence"],
        attribution=source["attribution"],
        parts={
            name: _part(
                [folder / file for file in files], source["source_language"], source["target_language"]
            )
            for name, files in source["parts"].items()
        },
        texts={name: Stream(folder / file) for name, file in source["texts"].items()},
        is_clean=source.get("is_clean", False),
    )


def open_files(paths: Sequence[Path], source_language: str, target_language: str) -> Corpus:
    """The user's own corpus: two aligned text files (source first), a TSV or CSV (source first) or a TMX, each
    plain or gzipped, or a zip that holds one of these. Two texts in a zip are told apart by their ending, as in
    `name.en` and `name.de`. Raises CorpusError for anything else."""
    if len(paths) not in (1, 2):
        raise CorpusError(
            f"{len(paths)} files; a corpus is one file (TSV, CSV, TMX, zip) or two aligned text files"
        )
    return Corpus(
        name=paths[0].name,
        source_language=source_language,
        target_language=target_language,
        licence="the owner's",
        attribution="",
        parts={WHOLE: _part(paths, source_language, target_language)},
    )


def _part(paths: Sequence[Path], source_language: str, target_language: str) -> tuple[Stream, ...]:
    found = [streams_in(path) for path in paths]
    if len(found) == 2:
        for path, streams in zip(paths, found, strict=True):
            if len(streams) != 1:
                raise CorpusError(f"{path}: {len(streams)} files in the zip, where one text is wanted")
        return (*found[0], *found[1])
    (streams,) = found
    if len(streams) == 1 and not streams[0].name.endswith((f".{source_language}", f".{target_language}")):
        return (streams[0],)
    return tuple(_of_language(language, streams, paths[0]) for language in (source_language, target_language))


def _of_language(language: str, streams: Sequence[Stream], path: Path) -> Stream:
    matching = [stream for stream in streams if stream.name.endswith(f".{language}")]
    if len(matching) != 1:
        names = ", ".join(stream.name for stream in streams)
        raise CorpusError(
            f"{path}: {len(matching) or 'no'} files in {language!r}, wanted is one called *.{language}; "
            f"it holds: {names}"
        )
    return matching[0]
