"""The command-line arguments of every program that loads a model and translates with it."""

from __future__ import annotations

import argparse
import math
from pathlib import Path
from typing import Any

import torch

from model.acceleration import ENGINES, accelerate
from model.directory import load_translator
from model.search import DecodingOptions
from model.translator import Translator

DEFAULTS = DecodingOptions()
EXACT: dict[str, Any] = dict(look_ahead=None, margin=math.inf)


def add_direction(parser: argparse.ArgumentParser) -> None:
    """--source-language and --target-language."""
    for side in ("source", "target"):
        parser.add_argument(f"--{side}-language", required=True, metavar="CODE", help="such as en or de")


def add_decoding(parser: argparse.ArgumentParser) -> None:
    """How to search."""
    group = parser.add_argument_group("decoding")
    search = group.add_mutually_exclusive_group()
    search.add_argument(
        "--beam",
        type=int,
        default=DEFAULTS.beam_size,
        metavar="N",
        help="beam search, N wide (default: %(default)s)",
    )
    search.add_argument("--greedy", action="store_true", help="take the likeliest piece at each step; faster")
    group.add_argument(
        "--length-penalty",
        type=float,
        default=DEFAULTS.length_penalty,
        metavar="X",
        help="a score is the sum of log-probabilities / length ** X (default: %(default)s)",
    )
    group.add_argument(
        "--exact",
        action="store_true",
        help="give no hypothesis up that could still win; half as fast, and hardly ever another translation",
    )
    group.add_argument(
        "--max-length",
        type=int,
        metavar="N",
        help="longest translation of a sentence, in pieces (default: from the length of each sentence)",
    )


def add_machine(parser: argparse.ArgumentParser) -> None:
    """Where to compute."""
    group = parser.add_argument_group("machine")
    group.add_argument("--device", default="auto", help="auto, cpu, cuda (default: %(default)s)")
    group.add_argument("--dtype", default="auto", help="auto, float32, bfloat16, int8 (default: %(default)s)")
    group.add_argument("--engine", default="auto", help=f"{', '.join(ENGINES)} (default: %(default)s)")
    group.add_argument("--threads", type=int, metavar="N", help="threads of the CPU (default: one a core)")


def decoding_options(arguments: argparse.Namespace, *, n_best: int = 1) -> DecodingOptions:
    """ValueError names what is out of range."""
    return DecodingOptions(
        strategy="greedy" if arguments.greedy else "beam",
        beam_size=arguments.beam,
        length_penalty=arguments.length_penalty,
        max_length=arguments.max_length,
        n_best=n_best,
        **(EXACT if arguments.exact else {}),
    )


def open_translator(arguments: argparse.Namespace, directory: Path) -> Translator:
    """The model at `directory`, once it is known to serve the direction.

    Raises ModelDirectoryError, UnsupportedDirection, or ValueError for a machine that is not there.
    """
    if arguments.threads is not None:
        if arguments.threads < 1:
            raise ValueError(f"--threads is {arguments.threads}, must be at least 1")
        torch.set_num_threads(arguments.threads)
    translator = load_translator(directory, device=arguments.device, dtype=arguments.dtype)
    translator.prepare("", arguments.source_language, arguments.target_language)
    accelerate(translator, engine=arguments.engine, dtype=arguments.dtype, threads=arguments.threads)
    return translator
