"""The folder that an export makes: whole or not at all, with all that is needed beside the weights."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from model.translator import Translator


@contextmanager
def new_folder(output: Path) -> Iterator[Path]:
    """A folder beside `output` to write into; it becomes `output` when all went well, and is gone otherwise.

    FileExistsError if there is an `output` already: nothing is ever replaced.
    """
    if output.exists():
        raise FileExistsError(f"{output} exists already; remove it or name another place")
    unfinished = output.with_name(f".{output.name}.tmp")
    shutil.rmtree(unfinished, ignore_errors=True)
    unfinished.mkdir(parents=True)
    try:
        yield unfinished
        unfinished.rename(output)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)


def write_companions(translator: Translator, folder: Path, *, card: str, note: str) -> None:
    """The tokenizer, what decoding has to know, the model card, and a README.md that says how to run it."""
    for name, content in translator.tokenizer.parts.items():
        (folder / name).write_bytes(content)
    (folder / "decoding.json").write_text(json.dumps(decoding_facts(translator), indent=2) + "\n")
    (folder / "MODEL_CARD.md").write_text(card)
    (folder / "README.md").write_text(note)


def decoding_facts(translator: Translator) -> dict[str, Any]:
    """Everything that a program must know to decode with the model, ids and pieces alike."""
    tokenizer, config = translator.tokenizer, translator.model.config
    named = {"start": config.start_id, "end": config.eos_id, "padding": config.pad_id}
    return {
        "tokenizer": list(tokenizer.parts),
        "directions": translator.directions,
        "longest_source": translator.longest,  # pieces, tag and end included
        "longest_target": config.max_positions - 1,  # pieces, the end included
        "source_starts_with": {
            target: _both(translator, tokenizer.source_prefix(target)) for _, target in translator.directions
        },
        **{name: _both(translator, [i]) for name, i in named.items()},
        "never_in_a_target": _both(translator, translator.banned_ids),
    }


def _both(translator: Translator, ids: Sequence[int]) -> dict[str, list[Any]]:
    return {"ids": list(ids), "pieces": translator.tokenizer.pieces(ids)}
