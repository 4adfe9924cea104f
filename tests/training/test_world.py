"""Several processes train what one would: real gloo processes on this machine."""

import torch
from torch import Tensor

from tests.training.processes import together
from training.world import World

CPU = torch.device("cpu")


def test_every_item_is_in_one_share_and_shares_are_equally_long_even_when_uneven() -> None:
    shares = [World(rank, 3).share(range(7)) for rank in range(3)]
    assert shares == [[(0, 1), (3, 1), (6, 1)], [(1, 1), (4, 1), (0, 0)], [(2, 1), (5, 1), (0, 0)]]
    assert World(2, 3).share(range(2)) == [(0, 0)]


def double(items: Tensor) -> Tensor:
    return 2 * items


def divide_and_compare(world: World) -> None:
    for count in range(1, 6):
        items = torch.arange(3.0 * count).view(count, 3)
        assert torch.equal(world.divide(double, items), 2 * items)


def test_divided_work_gives_all_processes_all_results() -> None:
    assert World().divide(double, torch.ones(2, 3)).tolist() == [[2, 2, 2], [2, 2, 2]]
    together(divide_and_compare)


def stop_one(world: World) -> None:
    assert world.agree(world.rank == 1, False) == [True, False]


def test_what_one_process_claims_all_agree_on() -> None:
    together(stop_one)
    assert World().agree(True, False) == [True, False]


def test_alone_a_sum_is_what_it_was() -> None:
    tensor = torch.arange(3.0)
    World().sum_(tensor)
    assert tensor.tolist() == [0, 1, 2]
