"""What a run has done so far, as plain values: the part of a checkpoint that is not tensors."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from typing import Any

from training.batches import Place

START = Place()


@dataclass
class Progress:
    update: int = 0
    place: Place = START
    target_pieces: int = 0  # trained on
    seconds: float = 0.0  # of training, over all sessions
    skipped: int = 0  # updates whose gradient was not finite
    skipped_in_a_row: int = 0
    best: list[tuple[float, int]] = field(default_factory=list)  # (BLEU, update), best first
    validations_without_gain: int = 0

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return dataclasses.asdict(self)

    @classmethod
    def from_json(cls, fields: dict[str, Any]) -> Progress:
        """The inverse of `to_json`."""
        return cls(
            **{
                **fields,
                "place": Place(*fields["place"]),
                "best": [(score, update) for score, update in fields["best"]],
            }
        )

    def record(self, score: float, keep: int) -> bool:
        """Enter the score of a validation at this update; larger is better. Says whether it is the best so far."""
        # A score that is still zero has not begun to move: no reason to lose patience, and the newest knows most.
        has_moved = score > 0 or any(old > 0 for old, _ in self.best)
        is_best = not self.best or score > self.best[0][0] or not has_moved
        self.best = sorted(
            [(score, self.update), *self.best] if not has_moved else [*self.best, (score, self.update)],
            key=lambda entry: -entry[0],
        )[:keep]
        self.validations_without_gain = 0 if is_best or not has_moved else self.validations_without_gain + 1
        return is_best
