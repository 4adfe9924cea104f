"""What is written in one turn of the event loop goes out at once, in order, and nothing is held back at the end."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, cast

from service.joined_writes import LARGEST, JoinedWrites


class Pipe:
    """A transport that notes what is done to it."""

    def __init__(self) -> None:
        self.done: list[bytes | str] = []

    def write(self, data: bytes) -> None:
        self.done.append(data)

    def close(self) -> None:
        self.done.append("closed")

    def is_closing(self) -> bool:
        return "closed" in self.done


def written(use: Callable[[Any], None]) -> list[bytes | str]:
    """What came out in the turn of `use`, a bar, and what came out afterwards."""
    pipe = Pipe()

    async def run() -> None:
        use(JoinedWrites(cast(Any, pipe), asyncio.get_running_loop()))
        pipe.done.append("|")
        await asyncio.sleep(0)

    asyncio.run(run())
    return pipe.done


def test_what_is_written_in_one_turn_is_sent_at_once_after_it() -> None:
    def use(transport: Any) -> None:
        transport.write(b"head ")
        transport.write(b"body")

    assert written(use) == ["|", b"head body"]


def test_closing_sends_what_waits_first() -> None:
    def use(transport: Any) -> None:
        transport.write(b"last words")
        transport.close()
        assert transport.is_closing()

    assert written(use) == [b"last words", "closed", "|"]


def test_much_does_not_wait_and_stays_behind_what_came_before() -> None:
    much = b"x" * LARGEST

    def use(transport: Any) -> None:
        transport.write(b"head ")
        transport.write(much)
        transport.write(b"end")

    assert written(use) == [b"head " + much, "|", b"end"]
