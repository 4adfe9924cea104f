"""A full queue is waited for, but not for ever; everything else is nobody's to wait for."""

import asyncio
import time

import pytest

from service.errors import QueueFull, TooMuch
from service.patience import with_patience


def test_work_is_begun_again_until_there_is_room():
    refusals = [QueueFull("busy"), QueueFull("busy")]

    async def work() -> str:
        if refusals:
            raise refusals.pop()
        return "done"

    assert asyncio.run(with_patience(work, seconds=10)) == "done"


@pytest.mark.parametrize("seconds", [0, 0.2])
def test_patience_ends(seconds):
    async def work() -> None:
        raise QueueFull("busy")

    started = time.monotonic()
    with pytest.raises(QueueFull):
        asyncio.run(with_patience(work, seconds=seconds))
    assert seconds <= time.monotonic() - started < seconds + 5


def test_other_errors_come_at_once():
    tries = []

    async def work() -> None:
        tries.append(1)
        raise TooMuch("too much")

    with pytest.raises(TooMuch):
        asyncio.run(with_patience(work, seconds=10))
    assert len(tries) == 1
