"""What is written in one turn of the event loop, sent at once: the head of an answer together with its body."""

from __future__ import annotations

import asyncio
from typing import Any

LARGEST = 1 << 16  # bytes that wait for the end of the turn; with more, there is no point in waiting


class JoinedWrites:
    """A transport in front of a transport. uvicorn writes head and body apart, which would be two calls of the system,
    and two packets that wake the client twice."""

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        self._transport = transport
        self._loop = loop
        self._waiting: list[bytes] = []
        self._bytes = 0  # of them

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    def write(self, data: bytes) -> None:
        if not self._waiting:
            self._loop.call_soon(self._send)
        self._waiting.append(data)
        self._bytes += len(data)
        if self._bytes >= LARGEST:
            self._send()

    def close(self) -> None:
        self._send()
        self._transport.close()

    def _send(self) -> None:
        if self._waiting:
            data = b"".join(self._waiting)
            self._waiting, self._bytes = [], 0
            self._transport.write(data)
