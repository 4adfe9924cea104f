"""Work that ends when its client leaves."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from starlette.requests import Request

from service.errors import ClientDisconnected

T = TypeVar("T")


async def while_connected(request: Request, work: Coroutine[Any, Any, T]) -> T:
    """The result of `work`, which is cancelled, with ClientDisconnected raised, once the client hangs up.

    The body must have been read: only then the next thing to receive is the disconnect.
    """
    handler = asyncio.current_task()
    assert handler is not None
    has_left = False

    async def cancel_when_left() -> None:
        nonlocal has_left
        while (await request.receive())["type"] != "http.disconnect":
            pass
        has_left = True
        handler.cancel()

    watching = asyncio.create_task(cancel_when_left())
    try:
        return await work
    except asyncio.CancelledError:
        if has_left and handler.uncancel() == 0:  # else the server ends, and cancels too
            raise ClientDisconnected("The client closed the connection.") from None
        raise
    finally:
        watching.cancel()
