"""Deadlines for clients that send or read too slowly, on the level of the connection.

| what | deadline | then |
| --- | --- | --- |
| a new connection, or a request head once it has begun | head_seconds | closed |
| a body | body_seconds, kept by middleware.BodyLimit | 408, closed |
| reading an answer | reply_seconds | closed |
| silence between two requests | uvicorn's timeout_keep_alive, 5 s | closed |
"""

from __future__ import annotations

import asyncio
import json
import socket
from typing import Any, cast

from uvicorn.protocols.http.h11_impl import H11Protocol

from service.joined_writes import JoinedWrites


class DeadlineProtocol(H11Protocol):
    """uvicorn's HTTP/1.1 with the deadlines that it lacks, and JSON where it would answer in plain text."""

    def __init__(self, *arguments: Any, head_seconds: float, reply_seconds: float, **keywords: Any) -> None:
        super().__init__(*arguments, **keywords)
        self._head_seconds = head_seconds
        self._reply_seconds = reply_seconds
        self._head_deadline: asyncio.TimerHandle | None = None
        self._reply_deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(cast(asyncio.Transport, JoinedWrites(transport, self.loop)))
        # Without this a part of a streamed answer may wait 40 ms for the client to acknowledge the one before;
        # asyncio sets it itself on listeners of its own only.
        transport.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        # Whatever the system does not take at once counts as unread. Closing waits until everything is written, so
        # that an unread answer would hold the connection for ever.
        transport.set_write_buffer_limits(high=0)
        self._expect_head()

    def data_received(self, data: bytes) -> None:
        if self._awaits_head:
            self._expect_head()
        super().data_received(data)
        if not self._awaits_head:
            self._cancel_head_deadline()

    def connection_lost(self, exc: Exception | None) -> None:
        self._cancel_head_deadline()
        self._cancel_reply_deadline()
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        super().pause_writing()
        self._reply_deadline = self.loop.call_later(self._reply_seconds, self.transport.abort)

    def resume_writing(self) -> None:
        self._cancel_reply_deadline()
        super().resume_writing()

    def send_400_response(self, msg: str) -> None:
        body = json.dumps({"error": {"code": "bad_request", "message": msg}})
        head = f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\nConnection: close\r\n"
        self.transport.write(f"HTTP/1.1 400 Bad Request\r\n{head}\r\n{body}".encode("ascii"))
        self.transport.close()

    @property
    def _awaits_head(self) -> bool:
        # uvicorn declares the cycle without the None that it is before the first request.
        return self.cycle is None or self.cycle.response_complete  # type: ignore[redundant-expr]

    def _expect_head(self) -> None:
        if self._head_deadline is None:
            self._head_deadline = self.loop.call_later(self._head_seconds, self.transport.abort)

    def _cancel_head_deadline(self) -> None:
        if self._head_deadline is not None:
            self._head_deadline.cancel()
            self._head_deadline = None

    def _cancel_reply_deadline(self) -> None:
        if self._reply_deadline is not None:
            self._reply_deadline.cancel()
            self._reply_deadline = None
