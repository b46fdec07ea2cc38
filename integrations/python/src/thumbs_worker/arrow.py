"""Results as Arrow columns, for the engines. Needs pyarrow."""

from __future__ import annotations

import queue
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from thumbs_worker.errors import WorkerError
from thumbs_worker.hosts import Hosts
from thumbs_worker.protocol import OK, Item, Result, host_of
from thumbs_worker.worker import Worker

# A batch given back to an engine holds at most so many bytes of thumbnails and so many rows: Arrow's offsets have 32
# bits, and Spark holds a batch twice.
_BATCH_BYTES = 32 << 20
_BATCH_ROWS = 4096
# Batches of Spark that are begun at once: rows of a slow host keep theirs open.
_BATCHES_AT_ONCE = 4
# The column of hosts by which an engine partitions rows.
HOST = "thumbs_host"
# The longest time that is waited for another attempt, in seconds.
_LONGEST_PAUSE = 60.0

_ERROR = pa.struct(
    {
        "stage": pa.string(), "code": pa.string(), "message": pa.string(), "retry": pa.bool_(),
        "retry_after": pa.float64(),
    }
)  # fmt: skip
_SOURCE = pa.struct(
    {
        "width": pa.int32(), "height": pa.int32(), "format": pa.string(), "bytes": pa.int64(),
        "downloaded": pa.int64(), "left": pa.int64(),
    }
)  # fmt: skip
_THUMBNAIL = pa.struct(
    {
        "size": pa.string(), "width": pa.int32(), "height": pa.int32(), "format": pa.string(), "bytes": pa.int64(),
        "sha256": pa.string(), "cache_key": pa.string(), "origin": pa.string(), "stored": pa.bool_(),
        "data": pa.binary(), "path": pa.string(), "thumb_hash": pa.string(), "colour": pa.string(),
    }
)  # fmt: skip
# The column of results: the names of `Result`, without what only its own process needs.
RESULT = pa.struct(
    {
        "status": pa.string(), "error": _ERROR, "source": _SOURCE, "thumbnails": pa.list_(_THUMBNAIL),
        "http_status": pa.int32(), "attempts": pa.int32(), "damaged": pa.bool_(), "ms": pa.float64(),
    }
)  # fmt: skip


def result_value(result: Result) -> dict[str, Any]:
    """A result as a value of the column."""
    return {
        "status": result.status,
        "error": None if result.error is None else vars(result.error),
        "source": None if result.source is None else vars(result.source),
        "thumbnails": [vars(thumbnail) for thumbnail in result.thumbnails],
        "http_status": result.http_status,
        "attempts": result.attempts,
        "damaged": result.damaged,
        "ms": result.ms,
    }


def result_array(results: Iterable[Result]) -> pa.Array:
    """Results as a column."""
    return pa.array(map(result_value, results), type=RESULT)


def column_items(batch: Any, url: str, is_data: bool = False) -> list[Item]:
    """The items of a batch or table: a URL of each row or, with `is_data`, the bytes of the image."""
    values = batch.column(url).to_pylist()
    # What is null is nothing that can be sent: its row fails, and is there.
    return [{"data": value} if is_data and value is not None else value for value in values]


def hosts_of(urls: pa.Array | pa.ChunkedArray) -> pa.Array:
    """The host of each URL, as for `host_of` but without the port: it may redirect from http to https."""
    return pa.array([host_of(url or "").rpartition(":")[0] for url in urls.to_pylist()], type=pa.string())


def results_of(
    worker: Worker, items: list[Item], retries: int = 0, idle: Callable[[], None] = lambda: None
) -> Iterator[Result]:
    """The results of some items, in any order. Those that failed for a passing reason come last: they are tried again,
    `retries` times at most, when their servers say, if that is soon. For `idle` see `_in_turn`."""
    rows = list(range(len(items)))
    for attempt in range(retries + 1):
        pauses: dict[int, float] = {}
        for result in _in_turn(worker, ((row, items[row]) for row in rows), idle):
            error = result.error
            pause = None if error is None or not error.retry else error.retry_after or 2.0**attempt
            if pause is None or pause > _LONGEST_PAUSE or attempt == retries:
                yield result
            else:
                pauses[result.index] = pause
        if not pauses:
            return
        idle()
        time.sleep(max(pauses.values()))
        rows = list(pauses)


def _in_turn(
    worker: Worker, items: Iterator[tuple[int, Item] | None], idle: Callable[[], None] = lambda: None
) -> Iterator[Result]:
    """The results of numbered items. Hosts take turns, so that one with most of them does not fill the window.

    Items are taken while there is room for them; None says that there are none until another result is read. `idle` is
    called while the worker could take more items than there are.
    """
    turns: Hosts[tuple[int, Item]] = Hosts(min(worker.options.rows_per_host, worker.window // 2) or 1, 0.0)
    ready: queue.SimpleQueue[Result | WorkerError] = queue.SimpleQueue()
    sent: dict[int, tuple[str, int]] = {}
    try:
        while True:
            while len(sent) < worker.window:
                row = turns.next()
                if row is None and (new := next(items, None)) is not None:
                    turns.add(_host(*new), new)
                    continue
                if row is None:
                    idle()
                    break
                number, item = row
                sent[number] = (_host(number, item), worker.submit(item, number, ready.put))
            if not sent:
                return
            answer = ready.get()
            if isinstance(answer, WorkerError):
                raise answer
            turns.ended(sent.pop(answer.index)[0], works=True)
            yield answer
    finally:
        worker.give_up(number for _, number in sent.values())


def _host(number: int, item: Item) -> str:
    """Whose turn it is; that of the item alone, if it is no URL."""
    return (host_of(item) if isinstance(item, str) else "") or str(number)


def in_parts(results: Iterable[Result]) -> Iterator[list[Result]]:
    """The results in lists that an engine can hold as batches; the last one may be empty."""
    some: list[Result] = []
    size = 0
    for result in results:
        some.append(result)
        size += sum(thumbnail.bytes for thumbnail in result.thumbnails)
        if size >= _BATCH_BYTES or len(some) >= _BATCH_ROWS:
            yield some
            some, size = [], 0
    yield some


@dataclass(repr=False)
class _Begun:
    """A batch of which rows are under way, the number of its first row, and results that are not given back yet."""

    batch: pa.RecordBatch
    first: int
    missing: int
    results: list[Result] = field(default_factory=list)
    size: int = 0


def with_results(
    worker: Worker,
    batches: Iterable[pa.RecordBatch],
    items_of: Callable[[pa.RecordBatch], list[Item]],
    column: str,
) -> Iterator[pa.RecordBatch]:
    """The rows of the batches, each once, with a column of results, in smaller batches and in any order.

    The worker stays busy from one batch to the next: their items are one stream, in which hosts take turns.
    """
    begun: dict[int, _Begun] = {}
    owners: dict[int, _Begun] = {}

    def items() -> Iterator[tuple[int, Item] | None]:
        first = 0
        for batch in batches:
            if batch.num_rows == 0:
                continue
            while len(begun) >= _BATCHES_AT_ONCE:
                yield None
            one = begun[first] = _Begun(batch, first, batch.num_rows)
            for number, item in enumerate(items_of(batch), first):
                owners[number] = one
                yield number, item
            first += batch.num_rows

    for result in _in_turn(worker, items()):
        one = owners.pop(result.index)
        one.results.append(result)
        one.size += sum(thumbnail.bytes for thumbnail in result.thumbnails)
        one.missing -= 1
        if one.missing == 0 or one.size >= _BATCH_BYTES or len(one.results) >= _BATCH_ROWS:
            done = sorted(one.results, key=lambda result: result.index)
            rows = one.batch.take(pa.array([result.index - one.first for result in done], type=pa.int64()))
            one.results, one.size = [], 0
            if one.missing == 0:
                del begun[one.first]
            yield appended(rows, column, result_array(done))


def appended(batch: pa.RecordBatch, column: str, values: pa.Array) -> pa.RecordBatch:
    """A batch with one more column."""
    schema = batch.schema.append(pa.field(column, values.type))
    return pa.RecordBatch.from_arrays([*batch.columns, values], schema=schema)


def retried(
    worker: Worker,
    batch: pa.RecordBatch,
    items_of: Callable[[pa.RecordBatch], list[Item]],
    column: str,
) -> pa.RecordBatch:
    """The batch, in which the rows that failed and may succeed now have new results."""
    position = batch.schema.get_field_index(column)
    old = batch.column(position)
    rows = [row for row, may in enumerate(_may_retry(old)) if may]
    if not rows:
        return batch
    results = results_of(worker, items_of(batch.take(pa.array(rows))))
    new = result_array(sorted(results, key=lambda result: result.index)).cast(old.type)
    places = list(range(batch.num_rows))
    for place, row in enumerate(rows):
        places[row] = batch.num_rows + place
    columns = list(batch.columns)
    columns[position] = pa.concat_arrays([old, new]).take(pa.array(places))
    return pa.RecordBatch.from_arrays(columns, schema=batch.schema)


def _may_retry(results: pa.Array) -> list[bool]:
    """Whether each value of the column is a failure that may succeed later, or is missing."""
    statuses = pc.struct_field(results, "status").to_pylist()
    retries = pc.struct_field(results, ["error", "retry"]).to_pylist()
    return [status is None or status != OK and bool(retry) for status, retry in zip(statuses, retries, strict=True)]
