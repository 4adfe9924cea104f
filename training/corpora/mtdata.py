"""Any dataset of mtdata's catalogue as a corpus folder.

mtdata (Gowda et al. 2021, arXiv:2104.00290) knows where some 290,000 parallel datasets are and how to read each. It is
run as a program, in an environment of its own that `make install-mtdata` makes: it wants older versions of libraries
than this project has, and on import it sets up logging and reads an index that it pickled.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path

from training.corpora.iso639 import two_letters
from training.corpora.pairs import CorpusError
from training.corpora.shelf import FileRecord, describe, unfinished

PREFIX = "mtdata:"
REFERENCES = "references.bib"
_LISTED = 5  # names near an unknown one


def fetch_mtdata(identifier: str, folder: Path) -> None:
    """Downloads GROUP-NAME-VERSION-LANGUAGE-LANGUAGE into a corpus folder, with its citation and checksums.

    Raises CorpusError where mtdata is not installed, has no such dataset (the message names near ones), or fails, with
    what it said.
    """
    program = _program()
    languages = _languages_of(identifier)
    address = _address_of(program, identifier, languages)
    with unfinished(folder) as place:
        output = place / "mtdata"
        shutil.rmtree(
            output, ignore_errors=True
        )  # of an earlier try; what was downloaded is in mtdata's own cache
        _run(
            program,
            *("get", "--langs", "-".join(languages), "--train", identifier, "--out", str(output)),
            "--compress",
        )
        sides = [f"{identifier}.{language}.gz" for language in languages]
        for name in sides:
            (output / "train-parts" / name).replace(place / name)
        (output / REFERENCES).replace(place / REFERENCES)
        shutil.rmtree(output)
        source_language, target_language = map(two_letters, languages)
        describe(
            place,
            name=folder.name,
            source_language=source_language,
            target_language=target_language,
            licence="not recorded by mtdata; look it up at the source before you share a model",
            attribution=f"{identifier} through mtdata; citation in {REFERENCES}",
            parts={"all": sides},
            texts={REFERENCES: REFERENCES},
            files=[FileRecord(name, address) for name in [*sides, REFERENCES]],
        )


def _program() -> list[str]:
    """The command that starts mtdata: of the environment beside ours, or the one on the PATH."""
    ours = Path(sys.prefix) / "mtdata" / "bin" / "mtdata"
    found = str(ours) if ours.is_file() else shutil.which("mtdata")
    if found is None:
        raise CorpusError(
            f"mtdata is not installed: `make install-mtdata` installs it ({ours} and PATH were looked at)"
        )
    return [found]


def _languages_of(identifier: str) -> tuple[str, str]:
    parts = identifier.split("-")
    if len(parts) != 5 or not all(parts):
        raise CorpusError(
            f"{PREFIX}{identifier}: a parallel dataset is called GROUP-NAME-VERSION-LANGUAGE-LANGUAGE, such as "
            "Statmt-europarl-10-deu-eng; `mtdata list -id -l deu-eng` lists those of two languages"
        )
    return parts[3], parts[4]


def _address_of(program: Sequence[str], identifier: str, languages: tuple[str, str]) -> str:
    listed = _run(program, "list", "--langs", "-".join(languages))
    addresses = dict(row.split("\t")[:2] for row in listed.splitlines() if row.count("\t") >= 2)
    if identifier not in addresses:
        near = get_close_matches(identifier, addresses, n=_LISTED, cutoff=0.4)
        raise CorpusError(
            f"{PREFIX}{identifier}: mtdata knows {len(addresses):,} datasets in {' and '.join(languages)}, but none "
            f"of this name; near ones: {', '.join(near) or 'none'}"
        )
    return addresses[identifier]


def _run(program: Sequence[str], *arguments: str) -> str:
    """What it printed. What it tells of its progress and its troubles goes to stderr, and so to the user."""
    done = subprocess.run([*program, *arguments], stdout=subprocess.PIPE, text=True, encoding="utf-8")
    if done.returncode:
        raise CorpusError(
            f"`{' '.join([*program, *arguments])}` ended with status {done.returncode}; what it said is above"
        )
    return done.stdout
