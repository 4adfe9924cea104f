"""python -m training.train, but for one process, in which an update fails: for tests, under torchrun.

FAULTY_RANK names the process, FAULTY_UPDATE the update.
"""

import os
import sys

from training.train import main
from training.trainer import Trainer


def break_an_update(number: int) -> None:
    sound = Trainer._update

    def update(self: Trainer, batches):
        if self.progress.update + 1 == number:
            raise RuntimeError(f"injected into update {number}")
        return sound(self, batches)

    Trainer._update = update  # type: ignore[method-assign]


if __name__ == "__main__":
    if os.environ["RANK"] == os.environ["FAULTY_RANK"]:
        break_an_update(int(os.environ["FAULTY_UPDATE"]))
    sys.exit(main())
