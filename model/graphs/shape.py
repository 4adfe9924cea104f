"""How large buffers are: one of few sizes a side, for each shape costs a capture and memory."""

from __future__ import annotations

from typing import NamedTuple

LEAST = 16  # positions of a source or target: below that a step costs the same


class Shape(NamedTuple):
    """What fits into buffers; a step computes all of it, whatever of it is used."""

    sentences: int  # B
    beam: int  # W
    source: int  # S
    target: int  # T, positions that a hypothesis may have

    @property
    def rows(self) -> int:
        """N; those of sentence b are b·W … b·W + W − 1."""
        return self.sentences * self.beam


def shape_for(*, sentences: int, beam: int, source: int, target: int, max_positions: int) -> Shape:
    """The smallest that holds so many; ValueError beyond the positions that the model has."""
    longest = max(source, target)
    if longest > max_positions:
        raise ValueError(f"{longest} positions asked for, this model has {max_positions}")
    return Shape(
        power_of_two(sentences),
        half_step(beam),
        min(power_of_two(max(source, LEAST)), max_positions),
        min(power_of_two(max(target, LEAST)), max_positions),
    )


def power_of_two(count: int) -> int:
    """The first one that is not smaller."""
    return 1 << (count - 1).bit_length()


def half_step(count: int) -> int:
    """The first of 1, 2, 3, 4, 6, 8, 12, 16, … that is not smaller: beams are narrow, and each row of one costs."""
    power = power_of_two(count)
    return power * 3 // 4 if power >= 4 and count <= power * 3 // 4 else power
