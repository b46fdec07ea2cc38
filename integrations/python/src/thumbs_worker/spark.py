"""Thumbnails in Apache Spark: a worker for each task, one row out for each row in."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from pyspark import TaskContext
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import from_arrow_type
from pyspark.sql.types import StructField, StructType

from thumbs_worker.arrow import RESULT, column_items, retried, with_results
from thumbs_worker.object_storage import endpoint
from thumbs_worker.options import Options, Size
from thumbs_worker.worker import DEFAULT_WINDOW, Worker

# The host of a URL, lower-cased below; empty for what is none. parse_url would fail the job for a bad URL.
_HOST = r"^(?i:https?)://(?:[^/?#]*@)?(\[[^\]/?#]*\]|[^/?#:\[]*?)\.?(?=[:/?#]|$)"
_PARTITIONS_PER_CORE = 4
_RESULT_TYPE = from_arrow_type(RESULT)


def task_worker(options: Options, program: str | None, window: int) -> Worker:
    """The worker of a task, for as many processors as Spark has counted for it: its neighbours use the rest."""
    context = TaskContext.get()
    if context is not None:
        options = options.for_processors(context.cpus())
    return Worker(options, program=program, window=window)


@dataclass(frozen=True, repr=False)
class _Task:
    """What runs for a partition; sent to the executors."""

    options: Options
    window: int
    program: str | None
    url: str
    is_data: bool
    column: str

    def items_of(self) -> Callable[[pa.RecordBatch], Any]:
        return lambda batch: column_items(batch, self.url, self.is_data)

    def add(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        with task_worker(self.options, self.program, self.window) as worker:
            yield from with_results(worker, batches, self.items_of(), self.column)

    def retry(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        with task_worker(self.options, self.program, self.window) as worker:
            for batch in batches:
                yield retried(worker, batch, self.items_of(), self.column)


def host(url: str | Column) -> Column:
    """The host of a column of URLs, as for `hosts_of`; an empty text where there is none."""
    column = F.col(url) if isinstance(url, str) else url
    column = F.when(F.lower(F.substring(column, 1, 5)) == "s3://", endpoint()).otherwise(column)
    return F.lower(F.coalesce(F.regexp_extract(column, _HOST, 1), F.lit("")))


def by_host(df: DataFrame, url: str = "url", partitions: int | None = None) -> DataFrame:
    """The rows with all URLs of a host in one partition, so that one worker keeps the host's limits.

    Where a few hosts have most of the rows, more partitions do not help: the hosts' limits are what it takes. Without
    a number there are some partitions for each core: Spark would go by the size of the rows, and URLs are short.
    """
    return df.repartition(partitions or _partitions(df), host(url))


def _partitions(df: DataFrame) -> int:
    """Enough partitions that cores whose hosts are done find others."""
    try:
        cores = int(df.sparkSession.sparkContext.defaultParallelism)
    except Exception:  # Spark Connect has no context, and says so by exceptions of several kinds.
        return int(df.sparkSession.conf.get("spark.sql.shuffle.partitions") or _PARTITIONS_PER_CORE)
    return cores * _PARTITIONS_PER_CORE


def thumbnails(
    df: DataFrame, url: str = "url", sizes: Sequence[Size] = (256,), *, column: str = "thumbs", data: str | None = None,
    group_by_host: bool = True, partitions: int | None = None, options: Options | None = None,
    window: int = DEFAULT_WINDOW, program: str | None = None,
) -> DataFrame:  # fmt: skip
    """The rows of `df`, each once, with the column `column` of results.

    The column is a struct with the names of `Result`: `status`, `error.code`, `error.retry`, `source.width`,
    `thumbnails[0].data` and so on. What failed is a row, too. `data` names a column of images' bytes in place of
    `url`. With `group_by_host` the rows are partitioned anew, see `by_host`; without it, each partition has a worker
    with limits of its own. `options` is all that the worker is started with; `sizes` counts if it is None.

    It runs as often as Spark needs the rows: store what it returns (`df.write.parquet`) before using it twice.
    """
    if column in df.columns:
        raise ValueError(f"the rows have a column {column} already: name another one with column=")
    if group_by_host and data is None:
        df = by_host(df, url, partitions)
    elif partitions is not None:
        df = df.repartition(partitions)
    task = _Task(options or Options(sizes=tuple(sizes)), window, program, data or url, data is not None, column)
    schema = StructType([*df.schema.fields, StructField(column, _RESULT_TYPE)])
    return df.mapInArrow(task.add, schema)


def retry_failed(
    df: DataFrame, url: str = "url", sizes: Sequence[Size] = (256,), *, column: str = "thumbs", data: str | None = None,
    group_by_host: bool = True, partitions: int | None = None, options: Options | None = None,
    window: int = DEFAULT_WINDOW, program: str | None = None,
) -> DataFrame:  # fmt: skip
    """The rows of `df`, each once, of which those that failed and may succeed now were tried again.

    `df` has the column of `thumbnails`, and should come from storage: Spark would compute it anew. A row passes through
    or is tried again in one step, so none is lost or doubled between the two.
    """
    if group_by_host and data is None:
        df = by_host(df, url, partitions)
    elif partitions is not None:
        df = df.repartition(partitions)
    task = _Task(options or Options(sizes=tuple(sizes)), window, program, data or url, data is not None, column)
    return df.mapInArrow(task.retry, df.schema)
