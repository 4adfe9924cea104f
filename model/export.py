"""python -m model.export: a model directory as a model of another engine, checked before it is there."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from model.directory import load_translator, located, read_parts
from model.exchange import notes
from model.exchange.folder import new_folder, write_companions
from model.exchange.parity import Engine, OurEngine, OurLogits, Parity, Tolerance, compare, sentences_for
from model.translator import Translator

LIMIT = 100  # pieces of a greedy output that is compared
EXAMPLES = """examples:
  %(prog)s pretrained/en-de --format ctranslate2 --output en-de-ct2
  %(prog)s pretrained/en-de --format onnx --output en-de-onnx
  %(prog)s pretrained/en-de --format ctranslate2 --quantization int8 --output en-de-int8 --sentences news.en
"""


class ExportError(ValueError):
    """The export cannot be made, and nothing was left behind."""


@dataclass(frozen=True, kw_only=True)
class Target:
    """An engine that models are exported to."""

    name: str
    quantizations: dict[
        str, Tolerance
    ]  # by the kind of numbers that weights are stored as, the first by default
    write: Callable[
        [Translator, Path, str], tuple[Engine, Engine]
    ]  # … and gives both sides of the comparison
    program: str


def main(arguments: Sequence[str] | None = None) -> int:
    """The exit status; errors go to stderr."""
    options = _parser().parse_args(arguments)
    try:
        texts = options.sentences.read_text(encoding="utf-8").splitlines() if options.sentences else []
        parity = export(
            options.model, options.output, to=options.format, quantization=options.quantization, texts=texts
        )
    except (ValueError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    print(f"{options.output}: {parity}")
    return 0


def export(
    directory: Path, output: Path, *, to: str, quantization: str | None = None, texts: Sequence[str] = ()
) -> Parity:
    """Write `output` and check it against the model; what was found. `output` is there only if all is well.

    `texts` are sentences to check with; up to parity.SENTENCES of them are made up. Raises ExportError,
    ModelDirectoryError, ParityError, SentenceTooLong, FileExistsError.
    """
    target = TARGETS[to]
    kind = quantization or next(iter(target.quantizations))
    if kind not in target.quantizations:
        allowed = ", ".join(target.quantizations)
        raise ExportError(f"--quantization is {kind!r}; {to} can be written as {allowed}")
    translator = load_translator(directory, device="cpu", dtype="float32")
    card = read_parts(located(directory))["MODEL_CARD.md"].decode()
    sentences = sentences_for(translator, texts)
    with new_folder(output) as folder:
        try:
            ours, theirs = target.write(translator, folder, kind)
        except ModuleNotFoundError as error:
            raise ExportError(f"{error.name} is not installed: `make install-exchange` brings it") from error
        limit = min(LIMIT, translator.model.config.max_positions - 1)
        parity = compare(ours, theirs, sentences, limit=limit)
        parity.check(target.quantizations[kind])
        text = notes.note(translator, target.program, engine=target.name, kind=kind, parity=parity)
        write_companions(translator, folder, card=card, note=text)
    return parity


def _to_ctranslate2(translator: Translator, folder: Path, kind: str) -> tuple[Engine, Engine]:
    from model.exchange import to_ctranslate2

    to_ctranslate2.write(translator, folder, quantization=None if kind == "float32" else kind)
    theirs = to_ctranslate2.CTranslate2Engine(translator, folder, compute_type=kind)
    return OurEngine(translator), theirs


def _to_onnx(translator: Translator, folder: Path, kind: str) -> tuple[Engine, Engine]:
    from model.exchange import to_onnx

    to_onnx.write(translator, folder)
    return OurLogits(translator), to_onnx.OnnxEngine(translator, folder)


TARGETS = {
    "ctranslate2": Target(
        name="CTranslate2",
        # Eight bits change words; they may not change what the model holds likely by much (docs/EXCHANGE.md).
        quantizations={"float32": Tolerance(largest=1e-3), "int8": Tolerance(mean=0.1, identical=0.5)},
        write=_to_ctranslate2,
        program=notes.CTRANSLATE2,
    ),
    "onnx": Target(
        name="ONNX",
        quantizations={"float32": Tolerance(largest=1e-4)},
        write=_to_onnx,
        program=notes.ONNX,
    ),
}


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m model.export",
        description="Write a model for another engine, and check that it says the same there.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("model", type=Path, metavar="MODEL_DIR", help="a model directory")
    parser.add_argument("--format", required=True, choices=TARGETS, help="the engine to write for")
    parser.add_argument(
        "--output", required=True, type=Path, metavar="DIR", help="a folder that is not there yet"
    )
    parser.add_argument("--quantization", metavar="KIND", help="float32 (default), or int8 for ctranslate2")
    parser.add_argument(
        "--sentences",
        type=Path,
        metavar="FILE",
        help="sentences to check with, a line each (default: made up)",
    )
    return parser


if __name__ == "__main__":
    sys.exit(main())
