"""Makes one corpus of cleaned shards: without duplicates, and divided so that its parts share no text.

    python -m training.merge_shards cleaned/* --output corpora/big --held-out 2000
    python -m training.train tatoeba-en-de --set corpus=big --output runs/big

Give the shards in the same order each time: of two duplicates, the first is kept.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from training.corpora.pairs import CorpusError
from training.corpora.shards import Shard, merge_shards


def main(arguments: Sequence[str] | None = None) -> int:
    """The exit status: 0 done, 1 a named error."""
    options = _parser().parse_args(arguments)
    try:
        if options.output.exists():
            raise CorpusError(f"{options.output} is there already; remove it or name another --output")
        counts = merge_shards(
            [Shard(folder) for folder in options.shards],
            options.output,
            held_out=options.held_out,
            seed=options.seed,
            licence=options.licence,
            attribution=options.attribution,
        )
    except (CorpusError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    print(json.dumps(counts))
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m training.merge_shards",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("shards", type=Path, nargs="+", metavar="DIR", help="what training.clean_shard wrote")
    parser.add_argument("--output", type=Path, required=True, metavar="DIR", help="the corpus folder")
    parser.add_argument(
        "--held-out",
        type=int,
        default=2000,
        metavar="N",
        help="pairs in validation and in test (default: 2000)",
    )
    parser.add_argument(
        "--seed", type=int, default=1, metavar="N", help="draws other held-out pairs (default: 1)"
    )
    parser.add_argument("--licence", default="not stated", help="of the text, for the model card")
    parser.add_argument("--attribution", default="", help="whom to name on the model card")
    return parser


if __name__ == "__main__":
    sys.exit(main())
