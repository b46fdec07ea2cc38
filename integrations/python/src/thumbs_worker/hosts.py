"""Which row is sent next: rows of a host that asks for a pause are parked, and no host has all rows under way."""

from __future__ import annotations

import collections
import heapq
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

T = TypeVar("T")

# The longest time between two attempts at a row whose server names none, in seconds; the first is 1 s.
_LONGEST_PAUSE = 15.0


@dataclass
class _Host(Generic[T]):
    """A host with rows that wait or are under way."""

    waiting: collections.deque[T] = field(default_factory=collections.deque)
    under_way: int = 0
    # Rows that have failed by themselves and come again after a pause.
    delayed: int = 0
    # Until when no row is sent, on the monotonic clock; after that one alone, until it has shown that the host works.
    held_until: float = 0.0
    is_on_trial: bool = False
    # When the host began to fail with nothing good since; None while it works.
    failing_since: float | None = None


class Hosts(Generic[T]):
    """Rows by host.

    Rows that wait are sent host by host in turn, at most `share` of a host at once. `patience` is how long a host may
    go on failing before its rows are no longer parked, in seconds.
    """

    def __init__(self, share: int, patience: float, now: Callable[[], float] = time.monotonic) -> None:
        self._share = share
        self._patience = patience
        self._now = now
        self._hosts: dict[str, _Host[T]] = {}
        self._turns: collections.deque[str] = collections.deque()
        # When a host or a row may be tried again; the number keeps rows from being compared.
        self._held: list[tuple[float, int, str]] = []
        self._delayed: list[tuple[float, int, str, T]] = []
        self._number = 0
        # The rows that wait here.
        self.waiting = 0

    def add(self, name: str, row: T, delay: float = 0.0) -> None:
        """Queues a row of a host, for later with a delay in seconds."""
        self.waiting += 1
        self._number += 1
        if delay > 0:
            heapq.heappush(self._delayed, (self._now() + delay, self._number, name, row))
            self._host(name).delayed += 1
            return
        self._queue(name, row)

    def next(self) -> T | None:
        """A row that may be sent now. `ended` has to be called for it."""
        now = self._now()
        while self._delayed and self._delayed[0][0] <= now:
            _, _, name, row = heapq.heappop(self._delayed)
            self._hosts[name].delayed -= 1
            self._queue(name, row)
        while self._held and self._held[0][0] <= now:
            name = heapq.heappop(self._held)[2]
            self._turns.append(name)
            if name in self._hosts:
                self._forget(name, self._hosts[name])
        while self._turns:
            name = self._turns.popleft()
            host = self._hosts.get(name)
            most = 1 if host is not None and host.is_on_trial else self._share
            if host is None or not host.waiting or host.under_way >= most or host.held_until > now:
                continue
            host.under_way += 1
            self.waiting -= 1
            row = host.waiting.popleft()
            if host.waiting:
                self._turns.append(name)
            return row
        return None

    def wake(self) -> float | None:
        """In how many seconds a parked row may be sent; None if none is parked."""
        times = [heap[0][0] for heap in (self._delayed, self._held) if heap]
        return max(0.0, min(times) - self._now()) if times else None

    def ended(self, name: str, *, works: bool, pause: float | None = None, since: float | None = None) -> bool:
        """A row has its result: whether the host works, and for how many seconds it is to be left alone.

        Returns whether the row, which has failed `since` then, is worth another attempt: whether patience lasts until
        the pause is over, with the row and with its host.
        """
        now = self._now()
        host = self._hosts[name]
        host.under_way -= 1
        if works:
            host.failing_since, host.is_on_trial = None, False
        elif host.failing_since is None:
            host.failing_since = now
        end = now + (pause or 0.0) - self._patience
        has_patience = host.failing_since is None or end <= host.failing_since
        # Without patience the rows go by and come another time: the worker answers at once for a host that it holds.
        host.is_on_trial = not works and pause is not None and has_patience
        if host.is_on_trial:
            host.held_until = max(host.held_until, now + (pause or 0.0))
            self._number += 1
            heapq.heappush(self._held, (host.held_until, self._number, name))
        elif not has_patience:
            host.held_until = 0.0
        self._turns.append(name)
        self._forget(name, host)
        return has_patience and end <= (now if since is None else since)

    def _queue(self, name: str, row: T) -> None:
        self._host(name).waiting.append(row)
        self._turns.append(name)

    def _host(self, name: str) -> _Host[T]:
        host = self._hosts.get(name)
        if host is None:
            host = self._hosts[name] = _Host()
        return host

    def _forget(self, name: str, host: _Host[T]) -> None:
        if not host.waiting and not host.under_way and not host.delayed and host.held_until <= self._now():
            del self._hosts[name]


def pause_after(attempts: int) -> float:
    """How long to wait before another attempt where the server names no time, in seconds."""
    return float(min(2.0 ** (attempts - 1), _LONGEST_PAUSE))
