"""`thumbs worker` as an object: items in, results out, each exactly once, whatever becomes of the process."""

from __future__ import annotations

import collections
import os
import queue
import threading
import time
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from types import TracebackType
from typing import Any

from thumbs_worker.errors import WorkerError, WorkerFailed
from thumbs_worker.options import LONGEST_LINE, Options
from thumbs_worker.process import WorkerProcess
from thumbs_worker.program import find_program
from thumbs_worker.protocol import InvalidItem, Item, Result, decode_line, encode_item, failure, header

# How many items are under way at once unless told otherwise: enough for downloads to overlap with decodes.
DEFAULT_WINDOW = 256
# How many bytes of lines are put together into one write.
_WRITE_SIZE = 64 * 1024
# An item that was under way in so many crashes is sent alone. A crash then may still be somebody's kill; the second one
# tells that the item is to blame.
_CRASHES_BEFORE_ALONE = 2
# The longest pause before the process is started again, in seconds; the first is this divided by 2 to the 6th.
_LONGEST_PAUSE = 5.0
# What those are told who want results of a worker that is closed.
_CLOSED = "the worker is closed"
# Exit statuses after which another start ends the same way: 3 is --max-failures, the others are from sysexits.h.
_LASTING_STATUSES = frozenset({3, 64, 66, 73, 77, 78, 126, 127})


class _Request:
    """An item that has been sent or is to be sent."""

    __slots__ = ("crashes", "deliver", "identity", "index", "line")

    def __init__(self, line: bytes, index: int, identity: Any, deliver: Callable[[Result | WorkerError], None]) -> None:
        self.line = line
        self.index = index
        self.identity = identity
        self.deliver = deliver
        self.crashes = 0


class Worker:
    """A `thumbs worker` process that is started when it is first needed, and started again when it dies.

    >>> with Worker(Options(sizes=[256])) as worker:
    ...     for result in worker.map(urls):
    ...         print(result.index, result.status, result.error)

    All methods may be called by several threads at once: they share the process. An object that is pickled or that
    comes into a forked child starts a process of its own there.

    Parameters: `options` as for the command; `program` where it is found (see `find_program`); `window` how many items
    are under way at once; `restarts` how often in a row the process may die without having answered anything;
    `silence` after how many seconds without any answer it counts as hung and is killed, None for never; `environment`
    adds variables to its environment.
    """

    def __init__(
        self,
        options: Options | None = None,
        *,
        program: str | os.PathLike[str] | None = None,
        window: int = DEFAULT_WINDOW,
        restarts: int = 10,
        silence: float | None = 600.0,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        if window < 1:
            raise ValueError(f"window is {window}: at least one item has to be under way")
        self.options = options or Options()
        self.window = window
        self._headers = [header(each) for each in self.options.headers]
        self._program = program
        self._restarts = restarts
        self._silence = silence
        self._environment = dict(environment) if environment is not None else None
        # How often the process has been started again, over the life of this object.
        self.restarted = 0
        self._begin()

    def _begin(self) -> None:
        """Sets up what belongs to this process of Python alone."""
        self._changed = threading.Condition()
        self._process: WorkerProcess | None = None
        self._open: dict[int, _Request] = {}
        self._unsent: collections.deque[int] = collections.deque()
        # The items under way, and by which line of the process each was sent.
        self._in_flight: set[int] = set()
        self._by_line: dict[int, int] = {}
        self._lines_sent = 0
        self._alone: set[int] = set()
        self._postponed: set[int] = set()
        self._next = 0
        self._fruitless = 0
        self._progress = 0.0
        self._is_closed = False
        self._failure: WorkerError | None = None
        _workers.add(self)

    # Using it

    def __enter__(self) -> Worker:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close(drain=error is None)

    def map(self, items: Iterable[Item], *, window: int | None = None, ordered: bool = False) -> Iterator[Result]:
        """The result of each item, exactly one, as they become ready or, with `ordered`, in the order of the items.

        An item is a URL, or a mapping with the fields of the protocol (`url`, `path`, `base64` or, in bytes, `data`,
        and `id`, `sizes`, …). `result.index` is its position among the items. At most `window` items are taken ahead
        of the results. What cannot be sent, such as None, has a failure as its result. Raises `WorkerError` when the
        worker cannot be started or keeps dying. Whoever stops iterating gives up what is under way.
        """
        limit = self.window if window is None else window
        if limit < 1:
            raise ValueError(f"window is {limit}: at least one item has to be under way")
        return self._map(items, limit, ordered)

    def _map(self, items: Iterable[Item], window: int, ordered: bool) -> Iterator[Result]:
        ready: queue.SimpleQueue[Result | WorkerError] = queue.SimpleQueue()
        sent: dict[int, int] = {}
        held: dict[int, Result] = {}
        turn = 0

        def taken(answer: Result | WorkerError) -> Iterator[Result]:
            nonlocal turn
            if isinstance(answer, WorkerError):
                raise answer
            sent.pop(answer.index, None)
            if not ordered:
                yield answer
                return
            held[answer.index] = answer
            while turn in held:
                turn += 1
                yield held.pop(turn - 1)

        try:
            for index, item in enumerate(items):
                while len(sent) + len(held) >= window or not ready.empty():
                    yield from taken(ready.get())
                number = self.submit(item, index, ready.put)
                sent[index] = number
            while sent:
                yield from taken(ready.get())
        finally:
            if sent:
                self.give_up(sent.values())

    def result(self, item: Item) -> Result:
        """The result of one item."""
        for result in self.map([item]):
            return result
        raise AssertionError("an item has a result")

    @property
    def is_usable(self) -> bool:
        """Whether it takes items: it is not closed, and its process has not failed for good."""
        with self._changed:
            return not self._is_closed and self._failure is None

    @property
    def pid(self) -> int | None:
        """The id of the running process; None before the first item and after the end."""
        with self._changed:
            return None if self._process is None else self._process.pid

    def close(self, drain: bool = True, timeout: float = 60.0) -> None:
        """Ends the process, and waits for that: with `drain`, after what is under way has been answered.

        After `timeout` seconds it is killed. Whoever still waits for results gets a `WorkerError`. Does nothing the
        second time.
        """
        with self._changed:
            was_closed, self._is_closed = self._is_closed, True
            process = self._process
            # What was given up is not waited for.
            drain = drain and (bool(self._open) or not self._in_flight)
            dropped = [] if drain else self._take_open()
            self._changed.notify_all()
        _fail(dropped, _CLOSED)
        if was_closed:
            return
        while process is not None:
            if not drain:
                process.end()
            if not process.join(timeout):
                with self._changed:
                    dropped = self._take_open()
                process.kill()
                _fail(dropped, _CLOSED)
                process.join(timeout)
            with self._changed:
                # One that died meanwhile has a successor while something is open.
                process = self._process if self._process is not process else None

    # Pickling and forking

    def __getstate__(self) -> dict[str, Any]:
        return {
            "options": self.options,
            "program": self._program,
            "window": self.window,
            "restarts": self._restarts,
            "silence": self._silence,
            "environment": self._environment,
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        Worker.__init__(self, **state)

    def _after_fork(self) -> None:
        process = self._process
        self._begin()
        if process is not None:
            process.forget()

    # Sending

    def submit(self, item: Item, index: int, deliver: Callable[[Result | WorkerError], None]) -> int:
        """Queues an item; returns its number. `deliver` is called once, on another thread or on this one."""
        with self._changed:
            if self._failure is not None:
                raise self._failure
            if self._is_closed:
                raise WorkerError(_CLOSED)
            number = self._next
            self._next += 1
        identity = item.get("id") if isinstance(item, Mapping) else None
        try:
            line = encode_item(
                item, longest=LONGEST_LINE, needs_key=self.options.output is not None,
                headers=self._headers,
            )  # fmt: skip
        except InvalidItem as error:
            deliver(failure(error.code, str(error), index=index, identity=identity))
            return number
        with self._changed:
            self._open[number] = _Request(line, index, identity, deliver)
            self._unsent.append(number)
            if self._process is None:
                try:
                    self._start()
                except WorkerError:
                    del self._open[number]
                    raise
            self._changed.notify_all()
        return number

    def _start(self) -> None:
        """Starts the process. The lock is held."""
        command = [find_program(self._program), "worker", *replace(self.options, headers=()).arguments()]
        try:
            self._process = WorkerProcess(
                command, self._environment, self._next_lines, self._received, self._overdue, self._ended
            )
        except OSError as error:
            raise WorkerError(f"{command[0]} cannot be started: {error.strerror or error}") from error
        self._progress = time.monotonic()
        self._lines_sent = 0
        self._process.start()

    def _take_open(self) -> list[_Request]:
        """Takes all requests out, of which none will have a result. The lock is held."""
        requests = list(self._open.values())
        self._open.clear()
        self._unsent.clear()
        self._alone.clear()
        return requests

    def give_up(self, numbers: Iterable[int]) -> None:
        """Drops requests whose results nobody reads any more; their answers are ignored."""
        with self._changed:
            for number in list(numbers):
                self._open.pop(number, None)
                self._alone.discard(number)
            self._changed.notify_all()

    # Called by the threads of the process

    def _next_lines(self, process: WorkerProcess) -> bytes | None:
        with self._changed:
            while True:
                if process is not self._process:
                    return None
                lines = self._take_unsent()
                if lines:
                    return b"".join(lines)
                if self._is_closed and not self._open:
                    return None
                self._changed.wait()

    def _take_unsent(self) -> list[bytes]:
        """The next lines to write, and marks them as under way. The lock is held."""
        lines: list[bytes] = []
        size = 0
        while self._unsent and size < _WRITE_SIZE:
            if self._alone and (self._in_flight or lines):
                break
            number = self._unsent.popleft()
            request = self._open.get(number)
            if request is None:
                continue
            if not self._in_flight:
                self._progress = time.monotonic()
            self._in_flight.add(number)
            self._lines_sent += 1
            self._by_line[self._lines_sent] = number
            lines.append(request.line)
            size += len(request.line)
        return lines

    def _received(self, process: WorkerProcess, line: bytes) -> None:
        sent, not_tried, make = decode_line(line)
        with self._changed:
            self._progress = time.monotonic()
            number = None if sent is None else self._by_line.pop(sent, None)
            if number is None or process is not self._process:
                # A line that answers no item of ours, or answers it twice.
                return
            if not_tried:
                # Somebody else asked the process to end. The item stays under way and goes to the next process.
                self._postponed.add(number)
                return
            self._in_flight.discard(number)
            self._alone.discard(number)
            self._fruitless = 0
            request = self._open.pop(number, None)
            if self._alone or self._is_closed:
                self._changed.notify_all()
        if request is None:
            return
        try:
            result = make(request.index, request.identity)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            message = f"thumbs said something that this package cannot read ({error!r}): install both of one version"
            result = failure("unreadable-result", message, index=request.index, identity=request.identity)
        request.deliver(result)

    def _overdue(self, process: WorkerProcess, now: float) -> float | None:
        if self._silence is None:
            return None
        with self._changed:
            return self._progress + self._silence - now if self._in_flight else None

    def _ended(self, process: WorkerProcess) -> None:
        with self._changed:
            if process is not self._process:
                return
            self._process = None
            lost = sorted(number for number in self._in_flight if number in self._open)
            self._in_flight.clear()
            self._by_line.clear()
            guilty = self._requeue(lost, process)
            self._postponed.clear()
            status = process.status
            if process.answers == 0:
                self._fruitless += 1
            # Whoever waits for room is woken in any case.
            self._changed.notify_all()
            is_needed = bool(self._open)
            lasting = status in _LASTING_STATUSES or self._fruitless > self._restarts
            pause = _LONGEST_PAUSE / 2 ** max(0, 7 - self._fruitless) if self._fruitless else 0.0
        if guilty is not None:
            request, result = guilty
            request.deliver(result)
        if is_needed:
            self._restart(process, lasting, pause)

    def _requeue(self, lost: list[int], process: WorkerProcess) -> tuple[_Request, Result] | None:
        """Puts what was lost in front of what waits; returns what is given up since it alone was under way."""
        what = "fell silent" if process.was_silent else f"ended with status {process.status}"
        again: list[int] = []
        guilty = None
        for number in lost:
            request = self._open[number]
            if number not in self._postponed:
                request.crashes += 1
            if request.crashes > _CRASHES_BEFORE_ALONE + 1 and len(lost) == 1:
                del self._open[number]
                self._alone.discard(number)
                code = "worker-silent" if process.was_silent else "worker-crashed"
                message = f"thumbs worker {what} {request.crashes} times while it had this item"
                guilty = (request, failure(code, message, index=request.index, identity=request.identity))
                continue
            if request.crashes >= _CRASHES_BEFORE_ALONE:
                self._alone.add(number)
            again.append(number)
        self._unsent.extendleft(reversed(again))
        return guilty

    def _restart(self, process: WorkerProcess, lasting: bool, pause: float) -> None:
        """Starts the process again for what is open, or fails all of it."""
        try:
            if lasting:
                raise WorkerFailed(_explanation(process), process.status, process.errors)
            with self._changed:
                if pause:
                    self._changed.wait_for(lambda: self._is_closed and not self._open, pause)
                if self._open and self._process is None:
                    self.restarted += 1
                    self._start()
        except WorkerError as error:
            with self._changed:
                self._failure = error
                requests = self._take_open()
                self._changed.notify_all()
            _fail(requests, error)


def _fail(requests: Iterable[_Request], error: WorkerError | str) -> None:
    """Tells those who wait for results that there are none. The lock is not held."""
    for request in requests:
        request.deliver(WorkerError(error) if isinstance(error, str) else error)


def _explanation(process: WorkerProcess) -> str:
    """Why a process is not started again."""
    status = process.status
    if status == 3:
        return "thumbs worker stopped, since more items failed than --max-failures allows"
    if status == 64:
        return "thumbs worker does not understand how it was started (is thumbs older than this package?)"
    return f"thumbs worker keeps ending before it has answered anything, last with status {status}"


# All workers of this process of Python, for forked children.
_workers: weakref.WeakSet[Worker] = weakref.WeakSet()


def _forget_all() -> None:
    for worker in list(_workers):
        worker._after_fork()


os.register_at_fork(after_in_child=_forget_all)
