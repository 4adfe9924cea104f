"""python -m model.import_opus_mt: a downloaded OPUS-MT checkpoint as a model directory."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from model.directory import load_translator, save_translator
from model.exchange.from_marian import read_marian
from model.translator import Translator

EXAMPLES = """examples:
  %(prog)s opus-mt-en-de --output models/en-de
  %(prog)s opus-mt-en-ROMANCE --output models/en-romance --target-language fr --target-language it
  %(prog)s opus-mt-mul-en --output models/to-en --source-language de --source-language fr
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """The exit status; errors go to stderr."""
    options = _parser().parse_args(arguments)
    try:
        translator = import_opus_mt(
            options.checkpoint,
            options.output,
            sources=options.source_language,
            targets=options.target_language,
        )
    except (ValueError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    pairs = ", ".join(f"{source}→{target}" for source, target in translator.directions)
    print(f"{options.output}: {translator.parameters:,} parameters, {pairs}")
    return 0


def import_opus_mt(
    checkpoint: Path, output: Path, *, sources: Sequence[str] = (), targets: Sequence[str] = ()
) -> Translator:
    """Write the model directory `output`, and give back what is loaded from it.

    Raises ForeignModel, UnknownLanguages, FileExistsError: nothing is ever replaced.
    """
    if output.exists():
        raise FileExistsError(f"{output} exists already; remove it or name another place")
    translator, dtype = read_marian(checkpoint, sources=sources, targets=targets)
    save_translator(translator, output, card=_card(translator, checkpoint), dtype=dtype)
    return load_translator(output, device="cpu", dtype="float32")


def _card(translator: Translator, checkpoint: Path) -> str:
    pairs = ", ".join(f"{source} → {target}" for source, target in translator.directions)
    own = checkpoint / "README.md"
    its_card = own.read_text(encoding="utf-8", errors="replace") if own.exists() else "It had none.\n"
    return f"""# {translator.name}

{pairs}; {translator.parameters:,} parameters. Imported from the MarianMT checkpoint `{translator.name}` with
`python -m model.import_opus_mt`: the same weights under other names. It was not trained by this project; what it
learnt from, how good it is and its licence are for its own card to say, which follows.

---

{its_card}"""


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m model.import_opus_mt",
        description="Turn an OPUS-MT (MarianMT) checkpoint into a model directory.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "checkpoint",
        type=Path,
        metavar="HF_DIR",
        help="a folder with config.json, model.safetensors, source.spm, target.spm, vocab.json",
    )
    parser.add_argument(
        "--output", required=True, type=Path, metavar="DIR", help="a folder that is not there yet"
    )
    for side, otherwise in (("source", "what the checkpoint says"), ("target", "all that it has")):
        parser.add_argument(
            f"--{side}-language",
            action="append",
            default=[],
            metavar="CODE",
            help=f"such as en or de; again for several (default: {otherwise})",
        )
    return parser


if __name__ == "__main__":
    sys.exit(main())
