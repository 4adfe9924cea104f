"""The stand-in for CUDA's capture finds what CUDA would."""

import pytest
import torch

from tests.model.graphs.tape import on_tape


def test_a_replay_repeats_on_the_same_addresses() -> None:
    total, added = torch.zeros(3), torch.tensor([1.0, 2.0, 3.0])

    def run() -> None:
        total.add_((added * 2)[:2].sum())

    replay = on_tape(run)
    total.zero_()
    added.copy_(torch.tensor([5.0, 6.0, 0.0]))
    replay()
    replay()
    assert total.tolist() == [44.0] * 3


def test_a_number_of_the_host_stays_as_it_was_when_it_was_recorded() -> None:
    total, step = torch.zeros(()), [1]

    def run() -> None:
        total.copy_(torch.full((), step[0]))

    replay = on_tape(run)
    step[0] = 2
    replay()
    assert total == 1


def test_what_waits_for_a_number_is_an_error() -> None:
    flag = torch.tensor(True)
    with pytest.raises(AssertionError, match="cannot be captured"):
        on_tape(lambda: print() if flag else None)
