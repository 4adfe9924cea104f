"""Does a server say what its engine says by itself? Asked before anything is measured."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.opponent import BEAMS, Opponent
from benchmarks.servers import Server
from model.acceleration import accelerate
from model.directory import load_translator
from model.search import DecodingOptions
from model.texts import translate_texts


class Wrong(RuntimeError):
    """A server says something else: nothing is to be measured."""


def check(
    servers: Mapping[str, Server], exported: Path, texts: Sequence[str], options: argparse.Namespace
) -> None:
    """Raises Wrong unless each server translates the sentences as its engine does, asked without a server."""
    source, target = options.direction
    translator = load_translator(options.model, device="cpu")
    accelerate(translator, threads=1)
    alone = Opponent(
        exported, kind=options.quantization, workers=1, threads=1, tokenizer=translator.tokenizer
    )
    spelled = [alone.spell(translator.prepare(text, source, target).ids) for text in texts]
    for name, beam in BEAMS.items():
        found = translate_texts(translator, texts, source, target, DecodingOptions(**decoding(beam)))
        wanted = {
            "ours": [one.text for one in found],
            # One by one, as the server gets them: the others of a batch have a say in CTranslate2's sums.
            "theirs": [alone.translate([one], beam)[0].strip() for one in spelled],
        }
        for who, server in servers.items():
            for text, should in zip(texts, wanted[who], strict=True):
                said = server.translate(text, decoding(beam), options.direction)
                if said != should:
                    raise Wrong(
                        f"{who}, {name}: {text!r} became {said!r}, and by the engine itself {should!r}"
                    )


def decoding(beam: int) -> dict[str, Any]:
    """How to search, in the words of a request and of the decoder alike."""
    return {"strategy": "greedy"} if beam == 1 else {"strategy": "beam", "beam_size": beam}
