"""Look into a model from a command line: `python -m model.inspect MODEL "sentence" … --output picture.svg`."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from model import pictures
from model.arguments import add_direction, add_machine, open_translator
from model.heads import Head, Part
from model.inspection import Inspection, inspect
from model.plain import plain
from model.translator import Translator
from model.what_if import WhatIf

PICTURES: dict[str, Callable[[Inspection], str]] = {
    "flow": pictures.flow,
    "heads": pictures.every_head,
    "beam": pictures.beam,
    "choices": pictures.choices,
    "positions": pictures.positions,
}
DEFAULTS = WhatIf()

EXAMPLES = """\
The name of the output says what is written: .svg a picture, .png the same (needs `make install-exchange`), .json all
numbers, as POST /v1/inspect gives them. Layers and heads are counted from 1.

examples:
  %(prog)s pretrained/en-de "Good morning!" --source-language en --target-language de --output flow.svg
  %(prog)s pretrained/en-de "Good morning!" --source-language en --target-language de \\
      --picture cross.3.2 --output head.svg
  %(prog)s pretrained/en-de "Good morning!" --source-language en --target-language de \\
      --prefix Schönen --silent cross.1.1 cross.1.2 --temperature 1.5 --picture beam --output what-if.svg
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """The exit status; errors go to stderr."""
    options = _parser().parse_args(arguments)
    try:
        _run(options)
    except (ValueError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


def parse_head(name: str) -> Head:
    """`cross.3.2` is the second head of the decoder's third layer that looks at the source; ValueError explains."""
    part, *numbers = name.split(".")
    parts: dict[str, Part] = {"encoder": "encoder", "decoder": "decoder", "cross": "cross"}
    if (
        part not in parts
        or len(numbers) != 2
        or not all(number.isdecimal() and int(number) for number in numbers)
    ):
        raise ValueError(
            f"no head {name!r}; a head is PART.LAYER.HEAD, such as cross.3.2; parts: {', '.join(parts)}"
        )
    layer, head = map(int, numbers)
    return Head(parts[part], layer - 1, head - 1)


def _run(options: argparse.Namespace) -> None:
    suffix = options.output.suffix
    if suffix not in (".svg", ".png", ".json"):
        raise ValueError(f"--output {options.output}: the name must end with .svg, .png or .json")
    translator = open_translator(options, options.model)
    sentence = translator.prepare(options.sentence, options.source_language, options.target_language)
    inspection = inspect(translator, sentence, _what_if(options, translator))
    print(inspection.shown.text)
    if suffix == ".json":
        content = json.dumps(plain(inspection, translator.model.config), ensure_ascii=False).encode()
    else:
        content = _picture(inspection, options.picture).encode()
    if suffix == ".png":
        from model.exchange.to_png import to_png  # an extra: who writes SVG does not need it

        content = to_png(content.decode())
    options.output.write_bytes(content)


def _what_if(options: argparse.Namespace, translator: Translator) -> WhatIf:
    return WhatIf(
        beam_size=options.beam,
        length_penalty=options.length_penalty,
        margin=options.margin,
        temperature=options.temperature,
        prefix=tuple(translator.tokenizer.encode_target(options.prefix)),
        silent_heads=frozenset(map(parse_head, options.silent)),
        follows_greedy=options.greedy,
    )


def _picture(inspection: Inspection, name: str) -> str:
    if name in PICTURES:
        return PICTURES[name](inspection)
    try:
        head = parse_head(name)
    except ValueError as error:
        raise ValueError(
            f"no picture {name!r}; there are {', '.join(PICTURES)}, and heads: {error}"
        ) from None
    return pictures.one_head(inspection, head)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m model.inspect",
        description="Draw what a model does to one sentence.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("model", type=Path, metavar="MODEL", help="model directory")
    parser.add_argument("sentence", metavar="SENTENCE", help="translated as one")
    add_direction(parser)
    parser.add_argument("--output", type=Path, required=True, metavar="FILE", help="such as flow.svg")
    parser.add_argument(
        "--picture",
        default="flow",
        metavar="NAME",
        help=f"{', '.join(PICTURES)}, or one head such as cross.3.2 (default: %(default)s)",
    )
    group = parser.add_argument_group("what if")
    group.add_argument(
        "--beam", type=int, default=DEFAULTS.beam_size, metavar="N", help="beam size (default: %(default)s)"
    )
    group.add_argument(
        "--length-penalty",
        type=float,
        default=DEFAULTS.length_penalty,
        metavar="X",
        help="default: %(default)s",
    )
    group.add_argument(
        "--margin",
        type=float,
        default=DEFAULTS.margin,
        metavar="X",
        help="nats that a hypothesis may be behind (default: %(default)s)",
    )
    group.add_argument(
        "--temperature",
        type=float,
        default=DEFAULTS.temperature,
        metavar="X",
        help="of the softmax (default: %(default)s)",
    )
    group.add_argument("--prefix", default="", metavar="TEXT", help="what the translation has to begin with")
    group.add_argument(
        "--silent", nargs="+", default=[], metavar="HEAD", help="heads switched off, such as cross.3.2"
    )
    group.add_argument("--greedy", action="store_true", help="show the decoder on what greedy search says")
    add_machine(parser)
    return parser


if __name__ == "__main__":
    sys.exit(main())
