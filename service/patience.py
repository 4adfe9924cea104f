"""Waiting a little for room rather than sending a client away, who would only come back, several times over."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from service.errors import QueueFull

Result = TypeVar("Result")
_SHORTEST_PAUSE, _LONGEST_PAUSE = 0.05, 1.0


async def with_patience(work: Callable[[], Awaitable[Result]], *, seconds: float) -> Result:
    """What `work` gives, begun again for as long as the queue is full; after `seconds` raises QueueFull."""
    deadline = asyncio.get_running_loop().time() + seconds
    pause = _SHORTEST_PAUSE
    while True:
        try:
            return await work()
        except QueueFull:
            left = deadline - asyncio.get_running_loop().time()
            if left <= 0:
                raise
            await asyncio.sleep(min(pause, left))
            pause = min(2 * pause, _LONGEST_PAUSE)
