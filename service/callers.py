"""Letting a request in: its key, its pace, and what it will cost."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager

from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from service.errors import TooManyRequests
from service.keys import Account
from service.rates import network_of
from service.state import ServiceState

_ALLOWANCE = "service.allowance"  # in the scope: headers for LimitHeaders


def authorize(state: ServiceState, key: object) -> Account:
    """The account of a key; raises MissingKey or WrongKey. For what costs nothing."""
    return state.accounts.of(key)


def admit(request: Request, state: ServiceState, key: object) -> Account:
    """The account of a key, with one request taken off its pace; raises TooManyRequests too."""
    account = authorize(state, key)
    if account.requests_per_minute:
        by_address = not state.accounts.require_keys
        caller = network_of(request.client.host if request.client else "") if by_address else account.name
        try:
            allowance = state.rates.take(caller, account.requests_per_minute)
        except TooManyRequests as refusal:
            request.scope[_ALLOWANCE] = {
                "RateLimit-Limit": str(refusal.limit),
                "RateLimit-Remaining": "0",
                "RateLimit-Reset": str(refusal.retry_after_seconds),
            }
            raise
        request.scope[_ALLOWANCE] = allowance.headers()
    return account


def charging(state: ServiceState, account: Account, texts: Sequence[str]) -> AbstractContextManager[None]:
    """Charge the characters of the texts for the work inside; raises QuotaExceeded."""
    return state.usage.charging(account, sum(map(len, texts)))


def bearer(request: Request, scheme: str = "bearer") -> str | None:
    """The key in the Authorization header, if it is of that scheme."""
    given, _, key = request.headers.get("authorization", "").partition(" ")
    return key.strip() if given.lower() == scheme.lower() else None


class LimitHeaders:
    """Says on every answer to an admitted request how much of its pace is left."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_with_allowance(message: Message) -> None:
            if message["type"] == "http.response.start" and (allowance := scope.get(_ALLOWANCE)):
                MutableHeaders(scope=message).update(allowance)
            await send(message)

        await self.app(scope, receive, send_with_allowance)
