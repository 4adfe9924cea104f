"""Fetches a corpus by name: `python -m training.fetch tatoeba-deu-eng [--from DIR] [--to corpora]`.

`mtdata:ID` names any dataset of mtdata's catalogue, such as mtdata:Statmt-europarl-10-deu-eng; its folder is called ID.

A corpus becomes a folder with its files as they were served and a source.json that tells where they came from
and under which terms. The folder appears under its name only when it is whole.
"""

from __future__ import annotations

import argparse
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table

from training.corpora.archives import Stream, streams_in
from training.corpora.catalogue import CATALOGUE, Entry, RemoteFile, entry_named
from training.corpora.corpus import open_corpus
from training.corpora.download import Downloader
from training.corpora.mtdata import PREFIX, fetch_mtdata
from training.corpora.pairs import CorpusError
from training.corpora.shelf import FileRecord, describe, sha256_of_text, unfinished
from training.primer.write import PRIMER, write_primer

Obtain = Callable[[RemoteFile, Path], Path]
"""Puts a file into a folder and returns where it is; its name there may gain `.gz`."""


def main(arguments: Sequence[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    console = Console(stderr=True)
    if options.list:
        Console().print(catalogue_table())
        return 0
    folder = options.to / options.name.removeprefix(PREFIX)
    try:
        if options.name == PRIMER:
            write_primer(folder)
        elif options.name.startswith(PREFIX):
            fetch_mtdata(options.name.removeprefix(PREFIX), folder)
        elif options.local is not None:
            entry = entry_named(options.name)
            fetch(entry, folder, lambda file, into: copy_local(options.local, entry.group, file, into))
        else:
            with Downloader(console) as downloader:
                fetch(entry_named(options.name), folder, downloader.obtain)
        corpus = open_corpus(folder)
    except (CorpusError, OSError) as error:
        console.print(f"[red]error:[/red] {error}", highlight=False, soft_wrap=True)
        return 1
    except KeyboardInterrupt:
        console.print("interrupted; the same command goes on from here")
        return 130
    parts = ", ".join(corpus.parts)
    console.print(f"{corpus.name} is in {folder} (parts: {parts}); licence: {corpus.licence}", soft_wrap=True)
    return 0


def fetch(entry: Entry, folder: Path, obtain: Obtain) -> None:
    """Obtains, proves and describes every file of a corpus. A folder that is there and whole is left alone.

    Raises CorpusError for a file that cannot be had, is damaged or differs from its checksum.
    """
    if folder.exists():
        try:
            open_corpus(folder)
        except CorpusError:
            pass  # it was changed or is of an older layout: fetched again, and replaced only by a whole one
        else:
            return
    with unfinished(folder) as place:
        name_on_disk = {}
        records = []
        for file in entry.files:
            path = obtain(file, place)
            prove(file, path)
            name_on_disk[file.name] = path.name
            records.append(FileRecord(path.name, file.address))
        describe(
            place,
            name=entry.name,
            source_language=entry.source_language,
            target_language=entry.target_language,
            licence=entry.licence,
            attribution=entry.attribution,
            parts={part: [name_on_disk[name] for name in names] for part, names in entry.parts.items()},
            texts={name: name_on_disk[name] for name in entry.texts},
            files=records,
        )


def prove(file: RemoteFile, path: Path) -> None:
    """Removes a file that is damaged or not the one of the catalogue, so that it is not met again, and raises
    CorpusError."""
    try:
        for stream in streams_in(path):
            stream.verify()
        if file.sha256 is not None and (found := sha256_of_text(Stream(path))) != file.sha256:
            raise CorpusError(
                f"{path.name}: its text has SHA-256 {found}, expected {file.sha256}; not the catalogue's file"
            )
    except CorpusError:
        path.unlink()
        raise


def copy_local(directory: Path, group: str, file: RemoteFile, into: Path) -> Path:
    """Takes a file from a local folder: from `group/NAME`, from `NAME`, or from the one place below where a
    file has that name. A file may be gzipped there that is not at its address."""
    names = [file.name] if file.name.endswith((".gz", ".zip")) else [file.name, f"{file.name}.gz"]
    if not directory.is_dir():
        raise CorpusError(f"{directory}: no such folder")
    near = [directory / folder / name for folder in (group, ".") for name in names]
    found = [path for path in near if path.is_file()] or [
        path for name in names for path in sorted(directory.rglob(name)) if path.is_file()
    ]
    if not found:
        raise CorpusError(f"{directory}: no {' or '.join(names)} in it or below; see --list for the files")
    if len(found) > 1 and found[0] not in near:
        raise CorpusError(
            f"{directory}: several files are called {found[0].name}: {', '.join(map(str, found))}"
        )
    return Path(shutil.copyfile(found[0], into / found[0].name))


def catalogue_table() -> Table:
    table = Table(title="Corpora", show_lines=True)
    for heading in ("name", "languages", "files", "licence and source"):
        table.add_column(heading, overflow="fold")
    for entry in CATALOGUE.values():
        table.add_row(
            entry.name,
            f"{entry.source_language} – {entry.target_language}",
            "\n".join(file.address for file in entry.files),
            f"{entry.licence}\n{entry.attribution}",
        )
    table.add_row(PRIMER, "de – en", "written by this project", "the licence of this project")
    table.add_row(f"{PREFIX}ID", "any", "what mtdata knows: `mtdata list -id -l deu-eng`", "each its own")
    return table


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m training.fetch", description="Fetch a corpus by its name."
    )
    parser.add_argument(
        "name", nargs="?", default="", help=f"{', '.join(CATALOGUE)}, {PRIMER}, or {PREFIX}ID"
    )
    parser.add_argument(
        "--from", dest="local", type=Path, metavar="DIR", help="a local folder with the files"
    )
    parser.add_argument("--to", type=Path, default=Path("corpora"), metavar="DIR", help="default: corpora")
    parser.add_argument("--list", action="store_true", help="print the catalogue and stop")
    return parser


if __name__ == "__main__":
    raise SystemExit(main())
