"""Cleans one shard of a corpus that is too large for one process: a worker for each, on any scheduler.

    python -m training.clean_shard shards/0007.en shards/0007.de --source-language en --target-language de \\
        --output cleaned/0007
    python -m training.merge_shards cleaned/* --output corpora/big

A shard is any file that `training.train custom` takes: two aligned texts, a TSV or a TMX, plain or packed. The output
folder appears when it is whole; where it is there already, nothing is done, so a job that was stopped is started again
as it was. The last line printed is a JSON object with the counts.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from training.corpora.corpus import open_files
from training.corpora.pairs import CorpusError
from training.corpora.readers import Faulty
from training.corpora.shards import Shard, write_shard


def main(arguments: Sequence[str] | None = None) -> int:
    """The exit status: 0 done, 1 a named error."""
    options = _parser().parse_args(arguments)
    started = time.process_time()
    try:
        if options.output.exists():
            shard = Shard(options.output)
        else:
            corpus = open_files(options.files, options.source_language, options.target_language)
            faulty: Faulty = "drop" if options.drop_faulty else "refuse"
            shard = write_shard(replace(corpus, faulty=faulty), options.output)
    except (CorpusError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    facts = shard.facts
    seconds = round(time.process_time() - started, 1)
    print(json.dumps({"reading": facts["reading"], **facts["cleaning"], "cpu_seconds": seconds}))
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m training.clean_shard",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("files", type=Path, nargs="+", metavar="FILE", help="the shard")
    parser.add_argument("--source-language", required=True, metavar="XX", help="of the first file or column")
    parser.add_argument("--target-language", required=True, metavar="XX")
    parser.add_argument("--output", type=Path, required=True, metavar="DIR", help="the cleaned shard")
    parser.add_argument(
        "--drop-faulty",
        action="store_true",
        help="leave out, and count, the pairs with a line that is no text or no row (default: stop at the first)",
    )
    return parser


if __name__ == "__main__":
    sys.exit(main())
