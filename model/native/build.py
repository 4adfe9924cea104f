"""python -m model.native.build: compile the native engine before it is needed, as an image does."""

from __future__ import annotations

import argparse
import platform
import sys
from collections.abc import Sequence

from model.native.library import CLASSES, NoNativeEngine, compile_library, library_path, this_processor


def main(arguments: Sequence[str] | None = None) -> int:
    """The exit status: 1 where one could not be compiled."""
    parser = argparse.ArgumentParser(prog="python -m model.native.build", description=__doc__)
    parser.add_argument(
        "--all", action="store_true", help="for every class of x86-64 processors, not for this one alone"
    )
    options = parser.parse_args(arguments)
    if options.all and platform.machine() != "x86_64":
        print(f"error: classes are of x86_64, this is {platform.machine()}", file=sys.stderr)
        return 1
    for processors in CLASSES if options.all else (this_processor(),):
        try:
            compile_library(processors)
        except NoNativeEngine as error:
            print(f"error: {error}", file=sys.stderr)
            return 1
        print(library_path(processors))
    return 0


if __name__ == "__main__":
    sys.exit(main())
