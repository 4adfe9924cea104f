"""Writes a folder of small translations to try things on: `python -m training.primer translations`.

everyday.en and everyday.de are aligned texts; house.tmx is a translation memory of a shop that has words of its own.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from itertools import islice
from pathlib import Path

from training.primer.house import in_house, write_memory
from training.primer.write import primer


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m training.primer", description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--pairs", type=int, default=2000, help="of everyday text (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="another one writes other sentences")
    options = parser.parse_args(arguments)
    if options.pairs < 100:
        parser.error(f"--pairs is {options.pairs}, must be at least 100")
    options.folder.mkdir(parents=True, exist_ok=True)
    train, validation, test = primer(seed=options.seed, pairs=2 * options.pairs, held_out=1)
    pairs = [*test, *validation, *train]
    everyday, others = pairs[: options.pairs], pairs[options.pairs :]
    for side, language in enumerate(("en", "de")):
        text = "".join(f"{pair[side]}\n" for pair in everyday)
        (options.folder / f"everyday.{language}").write_text(text, encoding="utf-8", newline="\n")
    memory = list(islice(filter(None, map(in_house, others)), options.pairs // 5))
    write_memory(options.folder / "house.tmx", memory)
    print(
        f"{options.folder}: {len(everyday):,} pairs in everyday.en and everyday.de, {len(memory):,} in house.tmx"
    )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
