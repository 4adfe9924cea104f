"""How often a caller may ask: so many requests a minute, by account, or by address where there are no keys."""

from __future__ import annotations

import ipaddress
import math
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import NamedTuple

from service.errors import TooManyRequests

MAX_CALLERS = 10_000  # of which anything is remembered; the ones heard of least recently are forgotten first

_ROUNDING = 1e-9  # what waits of fractions of seconds may lose, so that who waits as long as told is let in


class Allowance(NamedTuple):
    """What a caller has left."""

    limit: int
    remaining: int
    reset_seconds: int  # until all of it is there again

    def headers(self) -> dict[str, str]:
        return {
            "RateLimit-Limit": str(self.limit),
            "RateLimit-Remaining": str(self.remaining),
            "RateLimit-Reset": str(self.reset_seconds),
        }


class Rates:
    """A bucket a caller, which holds a minute's requests and fills evenly: a burst is fine, a stream is not."""

    def __init__(
        self, *, clock: Callable[[], float] = time.monotonic, max_callers: int = MAX_CALLERS
    ) -> None:
        self._clock = clock
        self._max_callers = max_callers
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()  # caller: (tokens, when)

    def __len__(self) -> int:
        return len(self._buckets)

    def take(self, caller: str, limit: int) -> Allowance:
        """One request of `limit` a minute; raises TooManyRequests, which says when to come back."""
        now = self._clock()
        tokens, then = self._buckets.get(caller, (float(limit), now))
        tokens = min(float(limit), tokens + (now - then) * limit / 60)
        if tokens < 1 - _ROUNDING:
            self._put(caller, tokens, now)
            raise TooManyRequests(
                f"More than {limit} requests a minute.",
                limit=limit,
                retry_after_seconds=max(1, math.ceil((1 - tokens) * 60 / limit)),
            )
        tokens = max(1.0, tokens)
        self._put(caller, tokens - 1, now)
        return Allowance(limit, int(tokens - 1), math.ceil((limit - tokens + 1) * 60 / limit))

    def _put(self, caller: str, tokens: float, now: float) -> None:
        self._buckets[caller] = (tokens, now)
        self._buckets.move_to_end(caller)
        while len(self._buckets) > self._max_callers:
            self._buckets.popitem(last=False)


def network_of(address: str) -> str:
    """What counts as one caller: an IPv4 address, or the /64 that one subscriber of IPv6 has to himself."""
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return "unknown"
    if parsed.version == 4:
        return str(parsed)
    if parsed.ipv4_mapped is not None:
        return str(parsed.ipv4_mapped)
    return str(ipaddress.ip_network((int(parsed), 64), strict=False))
