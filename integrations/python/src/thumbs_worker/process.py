"""One process of `thumbs worker` with the threads that write, read and watch it."""

from __future__ import annotations

import collections
import os
import select
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import IO

# How many bytes are read at once: several results with their thumbnails.
_READ_SIZE = 1 << 20
# How many lines of standard error an exception shows.
_KEPT_ERRORS = 20
# How long a process that was asked to end may take before it is killed, in seconds.
_PATIENCE = 5.0


class WorkerProcess:
    """A running process.

    - `next_lines()` is called by the writing thread: it blocks until there is something to write, and returns None to
      end the input.
    - `received(line)` is called by the reading thread for each line of output.
    - `overdue(now)` returns how many seconds from now, on the monotonic clock, the process may stay silent; None for
      any time, 0 or less to kill it.
    - `ended(process)` is called once, by the reading thread, when the process has ended and all of its output is read.
    """

    def __init__(
        self,
        command: Sequence[str],
        environment: Mapping[str, str] | None,
        next_lines: Callable[[WorkerProcess], bytes | None],
        received: Callable[[WorkerProcess, bytes], None],
        overdue: Callable[[WorkerProcess, float], float | None],
        ended: Callable[[WorkerProcess], None],
    ) -> None:
        self._next_lines = next_lines
        self._received = received
        self._overdue = overdue
        self._ended = ended
        self._errors: collections.deque[str] = collections.deque(maxlen=_KEPT_ERRORS)
        self.answers = 0
        self.was_silent = False
        # A session of its own: Ctrl-C in a terminal reaches this program alone, which then ends the process in order.
        self._process = subprocess.Popen(
            list(command),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            env=None if environment is None else {**os.environ, **environment},
            start_new_session=True,
        )
        name = f"thumbs-{self._process.pid}"
        self._threads = [
            threading.Thread(target=target, name=f"{name}-{what}", daemon=True)
            for what, target in (("write", self._write), ("errors", self._read_errors), ("read", self._read))
        ]

    def start(self) -> None:
        """Starts the threads. Apart from the initialiser, so that callbacks find the process where it is stored."""
        for thread in self._threads:
            thread.start()

    @property
    def pid(self) -> int:
        """The id of the process."""
        return self._process.pid

    @property
    def status(self) -> int | None:
        """The exit status, negative for a signal; None while it runs."""
        return self._process.returncode

    @property
    def errors(self) -> str:
        """The last lines of its standard error."""
        return "\n".join(self._errors).strip()

    def kill(self) -> None:
        """Ends the process at once. What it has not answered is lost."""
        self._process.kill()

    def end(self, patience: float = _PATIENCE) -> None:
        """Asks the process to end with what it is doing, and kills it where that takes too long."""
        self._process.terminate()
        try:
            self._process.wait(patience)
        except subprocess.TimeoutExpired:
            self._process.kill()

    def join(self, timeout: float | None = None) -> bool:
        """Waits until the process has ended and its output is read; False when the time ran out."""
        reader = self._threads[-1]
        if reader is not threading.current_thread():
            reader.join(timeout)
        return not reader.is_alive()

    def forget(self) -> None:
        """In a forked child: closes the pipes, which are the parent's. Else the process would never see their end."""
        for stream in (self._process.stdin, self._process.stdout, self._process.stderr):
            if stream is not None:
                stream.close()
        # The process is no child of ours: nobody may wait for it here.
        self._process.returncode = 0

    def _write(self) -> None:
        stream = _pipe(self._process.stdin)
        try:
            while (lines := self._next_lines(self)) is not None:
                view = memoryview(lines)
                while view:
                    view = view[stream.write(view) or 0 :]
        except (OSError, ValueError):
            # The process has ended; the reading thread finds that out, too, and knows what was lost.
            pass
        finally:
            try:
                stream.close()
            except OSError:
                pass

    def _read_errors(self) -> None:
        stream = _pipe(self._process.stderr)
        rest = b""
        while block := _read_block(stream):
            *lines, rest = (rest + block).split(b"\n")
            self._errors.extend(line.decode("utf-8", "replace") for line in lines)
            rest = rest[-_READ_SIZE:]
        if rest:
            self._errors.append(rest.decode("utf-8", "replace"))

    def _read(self) -> None:
        stream = _pipe(self._process.stdout)
        poll = select.poll()
        poll.register(stream.fileno(), select.POLLIN)
        pieces: list[bytes] = []
        while True:
            patience = self._overdue(self, time.monotonic())
            if patience is not None and patience <= 0 and not self.was_silent:
                self.was_silent = True
                self.kill()
            waits = None if patience is None or self.was_silent else max(1.0, patience * 1000)
            # The silence begins anew with each line that is sent; looking again each second is soon enough.
            if not poll.poll(1000.0 if waits is None else min(waits, 1000.0)):
                continue
            block = _read_block(stream)
            if not block:
                break
            *whole, rest = block.split(b"\n")
            for line in whole:
                pieces.append(line)
                self.answers += 1
                self._received(self, b"".join(pieces))
                pieces.clear()
            if rest:
                pieces.append(rest)
        # A piece without an end of line is a line that was cut off when the process died: it does not count.
        self._process.wait()
        self._threads[1].join(_PATIENCE)
        self._ended(self)
        stream.close()


def _pipe(stream: IO[bytes] | None) -> IO[bytes]:
    """The pipe, which is there since it was asked for."""
    assert stream is not None
    return stream


def _read_block(stream: IO[bytes]) -> bytes:
    """What has arrived, up to `_READ_SIZE`; empty at the end."""
    try:
        return stream.read(_READ_SIZE) or b""
    except (OSError, ValueError):
        return b""
