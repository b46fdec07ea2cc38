"""Workers in several processes of one machine, with Python's own multiprocessing.

One `Worker` uses all cores by itself. This is for programs that have several processes anyway, because of what else
they do with the results.
"""

from __future__ import annotations

import atexit
import itertools
import multiprocessing
import os
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from typing import Any, TypeVar

from thumbs_worker.errors import WorkerError
from thumbs_worker.options import Options
from thumbs_worker.protocol import Item, Result
from thumbs_worker.worker import Worker

T = TypeVar("T")

_lock = threading.Lock()
_shared: dict[tuple[Options, str | None], Worker] = {}
# A fork in the middle of a look-up would leave the child's lock held.
os.register_at_fork(before=_lock.acquire, after_in_parent=_lock.release, after_in_child=_lock.release)


def shared_worker(options: Options | None = None, program: str | None = None) -> Worker:
    """The worker of this process of Python for these options: made at the first call, closed at the end.

    In a child of a fork it starts a process of its own.
    """
    options = options or Options()
    with _lock:
        worker = _shared.get((options, program))
        if worker is None or not worker.is_usable:
            if not _shared:
                atexit.register(_close_shared)
            worker = _shared[options, program] = Worker(options, program=program)
        return worker


def _close_shared() -> None:
    with _lock:
        workers = list(_shared.values())
        _shared.clear()
    for worker in workers:
        worker.close(drain=False)


def thumbnails(items: Sequence[Item], options: Options | None = None, program: str | None = None) -> list[Result]:
    """The results of some items in their order, by the worker of this process: a function for pools.

    Give it some hundred items at a time (`Pool.imap(thumbnails, chunks)`): the worker has them all under way at once.
    """
    return list(shared_worker(options, program).map(items, ordered=True))


def results(items: Sequence[Result]) -> list[Result]:
    """What `map` does with the results of a chunk unless told otherwise: nothing."""
    return list(items)


def map(
    items: Iterable[Item],
    processes: int = 2,
    *,
    then: Callable[[list[Result]], list[T]] = results,  # type: ignore[assignment]
    options: Options | None = None,
    program: str | None = None,
    chunk: int = 256,
    restarts: int = 10,
) -> Iterator[T]:
    """What `then` makes of the results, in any order: each item's exactly once, also when a process is killed.

    Each of the `processes` has a worker, `chunk` items at a time, and calls `then` with their results, whose `index` is
    the position among all items. `then` and what it returns are sent between processes; where a process was killed it
    is called again for the same items. Raises `WorkerError` after `restarts` kills.
    """
    numbered = enumerate(iter(items))
    chunks: dict[Future[list[T]], list[tuple[int, Item]]] = {}
    waiting: list[list[tuple[int, Item]]] = []
    # Forking a program with threads is not safe; what this needs is imported anew.
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(processes, mp_context=context)
    try:
        while True:
            while len(chunks) < 2 * processes:
                some = waiting.pop() if waiting else list(itertools.islice(numbered, chunk))
                if not some:
                    break
                try:
                    chunks[pool.submit(_work, some, then, options, program)] = some
                except BrokenProcessPool:
                    waiting.append(some)
                    break
            if not chunks and not waiting:
                return
            done, _ = wait(chunks, return_when=FIRST_COMPLETED)
            is_broken = not chunks
            ready: list[list[T]] = []
            for future in done:
                some = chunks.pop(future)
                try:
                    ready.append(future.result())
                except BrokenProcessPool:
                    waiting.append(some)
                    is_broken = True
            if is_broken:
                restarts -= 1
                if restarts < 0:
                    raise WorkerError("processes of the pool keep being killed: is the memory too small?")
                # A pool that has lost a process fails all that it had.
                waiting += chunks.values()
                chunks.clear()
                pool.shutdown(cancel_futures=True)
                pool = ProcessPoolExecutor(processes, mp_context=context)
            for values in ready:
                yield from values
    finally:
        pool.shutdown(cancel_futures=True)


def _work(
    some: list[tuple[int, Item]],
    then: Callable[[list[Result]], list[Any]],
    options: Options | None,
    program: str | None,
) -> list[Any]:
    from dataclasses import replace

    found = thumbnails([item for _, item in some], options, program)
    return then([replace(result, index=some[result.index][0]) for result in found])
