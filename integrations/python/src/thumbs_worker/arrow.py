"""Results as Arrow columns, for the engines. Needs pyarrow."""

from __future__ import annotations

import collections
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from thumbs_worker.protocol import OK, Item, Result
from thumbs_worker.worker import Worker

# A batch given back to an engine holds at most so many bytes of thumbnails and so many rows: Arrow's offsets have 32
# bits, and Spark holds a batch twice.
_BATCH_BYTES = 32 << 20
_BATCH_ROWS = 4096
# The longest time that is waited for another attempt, in seconds.
_LONGEST_PAUSE = 60.0

_ERROR = pa.struct(
    [
        ("stage", pa.string()),
        ("code", pa.string()),
        ("message", pa.string()),
        ("retry", pa.bool_()),
        ("retry_after", pa.float64()),
    ]
)
_SOURCE = pa.struct(
    [
        ("width", pa.int32()),
        ("height", pa.int32()),
        ("format", pa.string()),
        ("bytes", pa.int64()),
        ("downloaded", pa.int64()),
        ("left", pa.int64()),
    ]
)
_THUMBNAIL = pa.struct(
    [
        ("size", pa.string()),
        ("width", pa.int32()),
        ("height", pa.int32()),
        ("format", pa.string()),
        ("bytes", pa.int64()),
        ("sha256", pa.string()),
        ("cache_key", pa.string()),
        ("origin", pa.string()),
        ("stored", pa.bool_()),
        ("data", pa.binary()),
        ("path", pa.string()),
        ("thumb_hash", pa.string()),
        ("colour", pa.string()),
    ]
)
# The column of results: the names of `Result`, without what only its own process needs.
RESULT = pa.struct(
    [
        ("status", pa.string()),
        ("error", _ERROR),
        ("source", _SOURCE),
        ("thumbnails", pa.list_(_THUMBNAIL)),
        ("http_status", pa.int32()),
        ("attempts", pa.int32()),
        ("damaged", pa.bool_()),
        ("ms", pa.float64()),
    ]
)


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


def results_of(worker: Worker, items: list[Item], retries: int) -> list[Result]:
    """The results of some items in their order. Those that failed for a passing reason are tried again, `retries` times
    at most, after the others and when their servers say, if that is soon."""
    results = list(worker.map(items, ordered=True))
    for attempt in range(1, retries + 1):
        pauses = {
            row: pause
            for row, result in enumerate(results)
            if result.error is not None
            and result.error.retry
            and (pause := result.error.retry_after or 2.0 ** (attempt - 1)) <= _LONGEST_PAUSE
        }
        if not pauses:
            break
        time.sleep(max(pauses.values()))
        again = worker.map([items[row] for row in pauses], ordered=True)
        for row, result in zip(pauses, again, strict=True):
            results[row] = replace(result, index=row)
    return results


def with_results(
    worker: Worker,
    batches: Iterable[pa.RecordBatch],
    items_of: Callable[[pa.RecordBatch], list[Item]],
    column: str,
) -> Iterator[pa.RecordBatch]:
    """The batches with a column of results, row for row, in smaller batches.

    The worker stays busy from one batch to the next: the items of all of them are one stream.
    """
    taken: collections.deque[pa.RecordBatch] = collections.deque()

    def items() -> Iterator[Item]:
        for batch in batches:
            if batch.num_rows > 0:
                taken.append(batch)
                yield from items_of(batch)

    results: list[Result] = []
    size = 0
    begun = 0
    for result in worker.map(items(), ordered=True):
        results.append(result)
        size += sum(thumbnail.bytes for thumbnail in result.thumbnails)
        batch = taken[0]
        is_whole = begun + len(results) == batch.num_rows
        if is_whole or size >= _BATCH_BYTES or len(results) >= _BATCH_ROWS:
            yield appended(batch.slice(begun, len(results)), column, result_array(results))
            begun = 0 if is_whole else begun + len(results)
            results, size = [], 0
            if is_whole:
                taken.popleft()


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
    results = worker.map(items_of(batch.take(pa.array(rows))), ordered=True)
    new = result_array(results).cast(old.type)
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


__all__ = [
    "RESULT",
    "appended",
    "column_items",
    "result_array",
    "results_of",
    "result_value",
    "retried",
    "with_results",
]
