"""Thumbnails in Ray Data: actors that hold a worker each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa

from thumbs_worker.arrow import HOST, column_items, hosts_of, in_parts, result_array, results_of, retried
from thumbs_worker.options import Options, Size
from thumbs_worker.protocol import Item
from thumbs_worker.worker import DEFAULT_WINDOW, Worker

# How many batches an actor works on at once: while one waits for its last images, the next one keeps the worker busy.
_BATCHES_AT_ONCE = 2
# What an actor counts for. Actors keep what they have, and those with a whole processor each would leave none for Ray's
# own reading and writing on a machine that has no more of them: nothing would ever begin.
_PROCESSORS = 0.5
# Blocks of hosts for each batch at once, so that an actor whose hosts are done finds others.
_BLOCKS_PER_BATCH = 4


class Thumbnails:
    """For `Dataset.map_batches` with `batch_format="pyarrow"`: adds a column of results to each batch.

    Its arguments are those of `thumbnails`. It may be called by several threads at once (`max_concurrency`).
    """

    def __init__(
        self,
        url: str = "url",
        sizes: Sequence[Size] = (256,),
        column: str = "thumbs",
        data: str | None = None,
        options: Options | None = None,
        window: int = DEFAULT_WINDOW,
        program: str | None = None,
        retries: int = 0,
        is_again: bool = False,
    ) -> None:
        self._url = data or url
        self._is_data = data is not None
        self._column = column
        self._retries = retries
        self._is_again = is_again
        self._worker = Worker(options or Options(sizes=tuple(sizes)), program=program, window=window)

    def __call__(self, batch: pa.Table) -> Iterator[pa.Table]:
        if HOST in batch.column_names:
            batch = batch.drop_columns([HOST])
        if self._is_again:
            parts = batch.combine_chunks().to_batches()
            done = [retried(self._worker, part, self._items, self._column) for part in parts]
            yield pa.Table.from_batches(done, schema=batch.schema)
            return
        results = results_of(self._worker, self._items(batch), self._retries)
        for some in in_parts(results):
            rows = batch.take(pa.array([result.index for result in some], type=pa.int64()))
            yield rows.append_column(self._column, result_array(some))

    def _items(self, batch: Any) -> list[Item]:
        return column_items(batch, self._url, self._is_data)


def by_host(dataset: Any, url: str, partitions: int) -> Any:
    """The rows with all URLs of a host in one block, which one actor works on, so that it keeps the host's limits. They
    have a further column with the host."""

    def with_host(batch: pa.Table) -> pa.Table:
        return batch.append_column(HOST, hosts_of(batch.column(url)))

    hosts = dataset.map_batches(with_host, batch_format="pyarrow", batch_size=None)
    return hosts.repartition(partitions, keys=[HOST])


def thumbnails(
    dataset: Any, url: str = "url", sizes: Sequence[Size] = (256,), *, concurrency: int | tuple[int, int] = 1,
    num_cpus: float = _PROCESSORS, batch_size: int | None = None, column: str = "thumbs", data: str | None = None,
    options: Options | None = None, window: int = DEFAULT_WINDOW, program: str | None = None,
    retries: int = 0, group_by_host: bool = True, partitions: int | None = None,
) -> Any:  # fmt: skip
    """The rows of a `ray.data.Dataset`, each once, with a column of results.

    `concurrency` is the number of actors, or the least and the most of them, each with a worker that decodes one image
    more at once than the actor counts for in processors, `num_cpus`, unless `options.jobs` says otherwise. Leave a
    processor free for Ray's own reading and writing. The column is a struct with the names of `Result`. `data` names a
    column of images' bytes in place of `url`. Rows that failed for a passing reason are tried `retries` times more, at
    the end of their batch, which is a block unless `batch_size` says otherwise. With `group_by_host` the rows are
    partitioned anew, see `by_host`; without it, each actor has limits of its own.
    """
    if group_by_host and data is None:
        dataset = by_host(dataset, url, partitions or _partitions(concurrency))
    arguments = {"url": url, "column": column, "data": data, "window": window, "program": program, "retries": retries}
    return _mapped(dataset, arguments, options or Options(sizes=tuple(sizes)), concurrency, num_cpus, batch_size)


def retry_failed(
    dataset: Any, url: str = "url", sizes: Sequence[Size] = (256,), *, concurrency: int | tuple[int, int] = 1,
    num_cpus: float = _PROCESSORS, batch_size: int | None = None, column: str = "thumbs", data: str | None = None,
    options: Options | None = None, window: int = DEFAULT_WINDOW, program: str | None = None,
    group_by_host: bool = True, partitions: int | None = None,
) -> Any:  # fmt: skip
    """The rows of `thumbnails`, each once, of which those that failed and may succeed now were tried again. Read them
    from storage: Ray would compute them anew."""
    if group_by_host and data is None:
        dataset = by_host(dataset, url, partitions or _partitions(concurrency))
    arguments = {"url": url, "column": column, "data": data, "window": window, "program": program, "is_again": True}
    return _mapped(dataset, arguments, options or Options(sizes=tuple(sizes)), concurrency, num_cpus, batch_size)


def _partitions(concurrency: int | tuple[int, int]) -> int:
    most = concurrency if isinstance(concurrency, int) else concurrency[1]
    return most * _BATCHES_AT_ONCE * _BLOCKS_PER_BATCH


def _mapped(
    dataset: Any,
    arguments: dict[str, Any],
    options: Options,
    concurrency: int | tuple[int, int],
    num_cpus: float,
    batch_size: int | None,
) -> Any:
    from ray.data import ActorPoolStrategy

    if isinstance(concurrency, int):
        pool = ActorPoolStrategy(size=concurrency)
    else:
        pool = ActorPoolStrategy(min_size=concurrency[0], max_size=concurrency[1])
    return dataset.map_batches(
        Thumbnails,
        fn_constructor_kwargs={**arguments, "options": options.for_processors(num_cpus)},
        batch_format="pyarrow",
        batch_size=batch_size,
        compute=pool,
        num_cpus=num_cpus,
        max_concurrency=_BATCHES_AT_ONCE,
    )
