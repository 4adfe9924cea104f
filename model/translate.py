"""Translate text on a command line: `python -m model.translate MODEL_DIR … < in > out`, a line for each line."""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from model.arguments import add_decoding, add_direction, add_machine, decoding_options, open_translator
from model.search import DecodingOptions
from model.texts import TranslatedText, translate_texts
from model.translator import Translator

# What a shell reports of programs that were ended by these signals.
ENDED_BY_SIGINT, ENDED_BY_SIGPIPE = 130, 141

EXAMPLES = """\
A line of several sentences is split and put back. Blank lines, blanks around sentences and lines without a
letter stay as they are. Only LF ends a line. Lines are translated in blocks, so memory does not grow with
the input; where each line is wanted as soon as it was sent, say --batch-lines 1.

examples:
  %(prog)s pretrained/en-de --source-language en --target-language de < letter.txt > brief.txt
  echo 'Good morning!' | %(prog)s pretrained/en-de --source-language en --target-language de --greedy
  %(prog)s pretrained/en-de --source-language de --target-language en --n-best 3 --scores < brief.txt
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """The exit status; errors go to stderr."""
    options = _parser().parse_args(arguments)
    try:
        _run(options)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # or Python complains at exit
        return ENDED_BY_SIGPIPE
    except KeyboardInterrupt:
        return ENDED_BY_SIGINT
    except (ValueError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


def translate_stream(
    translator: Translator,
    lines: Iterable[bytes],
    source_language: str,
    target_language: str,
    options: DecodingOptions,
    *,
    block_lines: int,
) -> Iterator[list[TranslatedText]]:
    """Translated blocks of the lines of a binary file, each as soon as it is read.

    Raises ValueError with the number of a line that is not UTF-8, after the lines before it.
    """
    for block in _blocks(_decode(lines), block_lines):
        yield translate_texts(translator, block, source_language, target_language, options)


def row_of_texts(line: TranslatedText) -> str:
    """The candidates, best first, with tabs between them."""
    return "\t".join(candidate.text for candidate in line.candidates)


def row_with_scores(line: TranslatedText) -> str:
    """Score, tab, text of each candidate, best first, with tabs between them."""
    return "\t".join(f"{candidate.score:.4f}\t{candidate.text}" for candidate in line.candidates)


def _run(options: argparse.Namespace) -> None:
    decoding = decoding_options(options, n_best=options.n_best)
    if options.batch_lines < 1:
        raise ValueError(f"--batch-lines is {options.batch_lines}, must be at least 1")
    translator = open_translator(options, options.model)
    row = row_with_scores if options.scores else row_of_texts
    blocks = translate_stream(
        translator,
        sys.stdin.buffer,
        options.source_language,
        options.target_language,
        decoding,
        block_lines=1 if sys.stdin.isatty() else options.batch_lines,
    )
    started = time.perf_counter()
    written = 0
    for block in blocks:
        sys.stdout.buffer.writelines(f"{row(line)}\n".encode() for line in block)
        sys.stdout.buffer.flush()
        for number, line in enumerate(block, start=written + 1):
            if line.truncated:
                print(f"warning: line {number}: its translation was cut by the length limit", file=sys.stderr)
        written += len(block)
        if sys.stderr.isatty() and not sys.stdout.isatty():
            speed = written / (time.perf_counter() - started)
            print(f"\r{written:,} lines, {speed:,.1f} a second ", end="", file=sys.stderr, flush=True)
    if sys.stderr.isatty() and not sys.stdout.isatty():
        print(file=sys.stderr)


def _blocks(lines: Iterator[str], size: int) -> Iterator[list[str]]:
    block: list[str] = []
    try:
        for line in lines:
            block.append(line)
            if len(block) == size:
                yield block
                block = []
    except ValueError:
        yield block  # what came before a bad line is not lost
        raise
    yield block


def _decode(lines: Iterable[bytes]) -> Iterator[str]:
    for number, raw in enumerate(lines, start=1):
        try:
            line = raw.removesuffix(b"\n").decode()
        except UnicodeDecodeError as error:
            raise ValueError(
                f"line {number} of the input: byte 0x{raw[error.start]:02X} at its position {error.start + 1} "
                f"is not UTF-8 ({error.reason}); convert the input to UTF-8"
            ) from error
        yield line.removeprefix("\ufeff") if number == 1 else line


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m model.translate",
        description="Translate stdin to stdout: exactly one line out for each line in.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("model", type=Path, metavar="MODEL_DIR", help="a model directory")
    add_direction(parser)
    add_decoding(parser)
    parser.add_argument(
        "--n-best", type=int, default=1, metavar="N", help="that many translations a line, with tabs between"
    )
    parser.add_argument(
        "--scores", action="store_true", help="put each translation's score and a tab before it"
    )
    parser.add_argument(
        "--batch-lines",
        type=int,
        default=256,
        metavar="N",
        help="lines that are translated together (default: %(default)s; of a terminal, 1)",
    )
    add_machine(parser)
    return parser


if __name__ == "__main__":
    sys.exit(main())
