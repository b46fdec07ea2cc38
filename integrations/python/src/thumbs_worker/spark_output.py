"""A folder of shards, written by Spark's tasks and committed by its driver."""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import re
import uuid
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark import TaskContext
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import to_arrow_schema

from thumbs_worker.errors import shown
from thumbs_worker.img2dataset import layout, ledger
from thumbs_worker.img2dataset.fill import Filler
from thumbs_worker.img2dataset.reader import Shard
from thumbs_worker.img2dataset.settings import RESERVED, Settings
from thumbs_worker.img2dataset.storage import Output, is_elsewhere
from thumbs_worker.options import Options, seconds
from thumbs_worker.protocol import Result
from thumbs_worker.spark import by_host, task_worker
from thumbs_worker.worker import DEFAULT_WINDOW

# Where tasks write until the driver commits, and what says that all is there: the names that Spark itself uses.
_TEMPORARY = "_temporary"
_SUCCESS = "_SUCCESS"
_JOB = "[0-9a-f]{32}"
_SHARD = re.compile(r"[0-9]{5,}(\.tar|\.parquet|_stats\.json)?")
_DIGITS = 5
_OUTPUTS = ("webdataset", "files", "parquet")
_FORMATS = {"jpg": "jpeg", "png": "png", "webp": "webp"}
# Columns of img2dataset that are not written here, or only where they are asked for.
_NOT_WRITTEN = {"caption", "url", "exif", "md5", "sha512"}
# What a task says of each of its shards.
_REPORT = "partition int, shard int, folder string, name string, count long, successes long"


@dataclass(frozen=True)
class Written:
    """What is in the folder: shards, rows, and how many of the rows have an image."""

    shards: int
    rows: int
    successes: int


@dataclass(frozen=True, repr=False)
class _Task:
    """What runs for a partition."""

    options: Options
    window: int
    program: str | None
    folder: str
    settings: Settings
    # The columns that the output takes over, in the order in which Spark sends them.
    columns: pa.Schema
    # Whether the rows are those of a ledger.
    is_again: bool

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        context = TaskContext.get()
        assert context is not None
        partition = context.partitionId()
        # Two attempts at one partition, as Spark starts them for slow ones, have folders of their own. It takes the
        # reports of one of them alone, and so does the driver.
        output = Output(f"{self.folder}/{partition}-{context.taskAttemptId()}")
        output.begin(needs_ledger=False)
        reports: list[dict[str, Any]] = []

        def report(shard: Shard, document: dict[str, Any]) -> None:
            output.published(shard.name)
            values = [partition, shard.number, output.address, shard.name, document["count"], document["successes"]]
            reports.append(dict(zip(_REPORT_SCHEMA.names, values, strict=True)))

        options = replace(self.options, max_wait="0", max_failures=None)
        try:
            with task_worker(options, self.program, self.window) as worker:
                filler = Filler(self.settings, _Plain(), self.options, output.stage, report)
                filler.run(worker, self._shards(batches, partition))
        finally:
            output.close()
        yield pa.RecordBatch.from_pylist(reports, schema=_REPORT_SCHEMA)

    def _shards(self, batches: Iterable[pa.RecordBatch], partition: int) -> Iterator[Shard]:
        """The rows in shards, in their order."""
        size = self.settings.number_sample_per_shard
        rest: list[pa.RecordBatch] = []
        number = 0
        for batch in itertools.chain(batches, [None]):
            if batch is not None:
                rest.append(batch)
            count = sum(each.num_rows for each in rest)
            while count >= size or batch is None and count > 0:
                table = pa.Table.from_batches(rest)
                yield self._shard(table.slice(0, size), partition, number)
                number += 1
                rest = table.slice(size).to_batches()
                count = sum(each.num_rows for each in rest)

    def _shard(self, rows: pa.Table, partition: int, number: int) -> Shard:
        count = rows.num_rows
        if self.is_again:
            keys, failed = rows.column("key").to_pylist(), rows.column("first_failed").to_pylist()
        else:
            digits = len(str(self.settings.number_sample_per_shard - 1))
            keys, failed = [f"{partition:05d}{number:04d}{row:0{digits}d}" for row in range(count)], [None] * count
        columns = pa.table({field.name: rows.column(place) for place, field in enumerate(self.columns)})
        return Shard(number, layout.shard_name(number, _DIGITS), columns, keys, failed, completes=self.is_again)


class _Plain:
    """Takes the worker's images as they are."""

    def item(self, url: str) -> dict[str, Any]:
        return {"url": url}

    def refusal(self, result: Result) -> str | None:
        return None

    def again(self, result: Result, url: str) -> dict[str, Any] | None:
        return None

    def image(self, result: Result, is_second: bool) -> tuple[bytes, int | None, int | None]:
        thumbnail = result.thumbnails[0]
        if thumbnail.data is None:
            raise ValueError("the worker sends no bytes: leave output out of the options")
        return thumbnail.data, thumbnail.width, thumbnail.height


_REPORT_SCHEMA = pa.schema(
    [
        ("partition", pa.int32()),
        ("shard", pa.int32()),
        ("folder", pa.string()),
        ("name", pa.string()),
        ("count", pa.int64()),
        ("successes", pa.int64()),
    ]
)


def write(
    df: DataFrame,
    output: str | os.PathLike[str],
    url: str = "url",
    size: int | str = 256,
    *,
    output_format: str = "webdataset",
    encode_format: str = "jpg",
    caption: str | None = None,
    columns: Sequence[str] | None = None,
    rows_per_shard: int = 10_000,
    group_by_host: bool = True,
    partitions: int | None = None,
    options: Options | None = None,
    window: int = DEFAULT_WINDOW,
    program: str | None = None,
    retries: int = 0,
) -> Written:
    """Writes the rows and their thumbnails into a folder in img2dataset's layout, and waits for it.

    `output` is a folder that the driver and all executors reach under this path, or an address such as
    `s3://bucket/shards` (fsspec), with keys in the environment of all of them. `output_format` is `webdataset`
    (`00000.tar` with `.jpg`, `.json` and `.txt` for `caption`), `files` or `parquet`; in each case `00000.parquet` has
    a row for each row, failures too, with `columns` (all other columns, unless told otherwise), and `00000_stats.json`
    the counts. Tasks write below `_temporary`; the driver renames (in object storage: copies) what the attempts that
    count have written, and makes `_SUCCESS` last. A folder with shards is refused. It has one
    writer at a time: what it finds below `_temporary`, a driver that was killed has left, and is removed.

    Rows are partitioned by Spark's hash of their host and sorted by URL, so the same rows in as many `partitions` give
    the same bytes. Those of a host that asks for a pause wait for it, at most as long as `options.max_wait` says (60 s);
    others that fail for a passing reason are tried again as long, or `retries` times. What may still come after that is
    in `_ledger`, for `write_failed`.
    """
    with contextlib.closing(_output(output)) as there:
        _check(there, output_format, encode_format)
        kept = [name for name in (df.columns if columns is None else columns) if name not in (url, caption)]
        names = list(dict.fromkeys([*kept, *([caption] if caption is not None else []), url]))
        wanted = df.select(*names)
        if group_by_host:
            wanted = by_host(wanted, url, partitions)
        elif partitions is not None:
            wanted = wanted.repartition(partitions)
        # Ties are rows with the same values, whose order does not matter.
        wanted = wanted.sortWithinPartitions(F.col(url), F.to_json(F.struct(*names)))
        task = _Task(
            _options(options, size, encode_format), window, program, "",
            _settings(output_format, encode_format, caption, rows_per_shard, retries),
            _columns(wanted, kept, url, caption), False,
        )  # fmt: skip
        return _run(task, wanted, there)


def write_failed(
    session: SparkSession,
    output: str | os.PathLike[str],
    size: int | str = 256,
    *,
    output_format: str = "webdataset",
    encode_format: str = "jpg",
    until: str | None = None,
    rows_per_shard: int = 10_000,
    partitions: int | None = None,
    options: Options | None = None,
    window: int = DEFAULT_WINDOW,
    program: str | None = None,
    retries: int = 0,
) -> Written:
    """Tries the rows of `write`'s ledger again that may come now, and adds shards of them to the folder, with their
    keys. `until`, such as `7d`, leaves out those that failed first longer ago. Returns what was added.

    Throws `FileNotFoundError` where `write` has not come to its end: move its shards away, and run it again."""
    with contextlib.closing(_output(output)) as there:
        if _SUCCESS not in there.names():
            raise FileNotFoundError(f"{shown(there.address)} has no {_SUCCESS}: write has not ended there: move the folder away, then run it again")
        there.begin(needs_ledger=True)
        rows = ledger.pending(there.folder, None if until is None else seconds(until), fetch=there.fetch)
        if rows is None:
            return Written(0, 0, 0)
        extra = {name for name, _ in ledger.FIELDS}
        columns = pa.schema([field for field in rows.schema if field.name not in extra])
        frame = session.createDataFrame(rows)
        frame = by_host(frame, "url", partitions).sortWithinPartitions("url", "key")
        caption = "caption" if "caption" in columns.names else None
        task = _Task(
            _options(options, size, encode_format), window, program, "",
            _settings(output_format, encode_format, caption, rows_per_shard, retries), columns, True,
        )  # fmt: skip
        return _run(task, frame.select(*columns.names, "key", "first_failed"), there)


def _options(options: Options | None, size: int | str, encode_format: str) -> Options:
    chosen = options or Options(sizes=(size,), format=_FORMATS[encode_format])
    # A larger thumbnail of an earlier run would be the source of this one.
    return replace(chosen, disk_cache=0) if chosen.disk_cache is None else chosen


def _settings(
    output_format: str, encode_format: str, caption: str | None, rows_per_shard: int, retries: int
) -> Settings:
    return Settings(
        url_list="rows", output_format=output_format, encode_format=encode_format, extract_exif=False, retries=retries,
        caption_col=caption, number_sample_per_shard=rows_per_shard, oom_shard_count=_DIGITS,
    )  # fmt: skip


def _output(output: str | os.PathLike[str]) -> Output:
    address = os.fspath(output).removeprefix("file://")
    return Output(address.rstrip("/") if is_elsewhere(address) else str(Path(address).absolute()))


def _run(task: _Task, rows: DataFrame, output: Output) -> Written:
    """Has Spark fill the shards, and commits them."""
    job = f"{output.address}/{_TEMPORARY}/{uuid.uuid4().hex}"
    output.sweep(_TEMPORARY, _JOB)
    try:
        reports = rows.mapInArrow(replace(task, folder=job), _REPORT).collect()
        reports.sort(key=lambda each: (each["partition"], each["shard"]))
        return _commit(output, reports)
    finally:
        output.sweep(_TEMPORARY, _JOB)


def _check(output: Output, output_format: str, encode_format: str) -> None:
    if output_format not in _OUTPUTS:
        raise ValueError(f"output_format is one of {', '.join(_OUTPUTS)}, not {output_format}")
    if encode_format not in _FORMATS:
        raise ValueError(f"encode_format is one of {', '.join(_FORMATS)}, not {encode_format}")
    output.claim()
    if any(map(_is_ours, output.names())):
        raise FileExistsError(f"{shown(output.address)} has shards already: move it away, or name another folder")


def _is_ours(name: str) -> bool:
    return name in (_SUCCESS, layout.MANIFEST, ledger.FOLDER) or _SHARD.fullmatch(name) is not None


def _columns(df: DataFrame, kept: Sequence[str], url: str, caption: str | None) -> pa.Schema:
    """The columns that the output takes over, with its names."""
    arrow = to_arrow_schema(df.schema)
    fields = [arrow.field(name) for name in kept]
    if caption is not None:
        fields.append(arrow.field(caption).with_name("caption"))
    columns = pa.schema([*fields, arrow.field(url).with_name("url")])
    taken = RESERVED - _NOT_WRITTEN
    doubled = sorted({name for name in kept if name in taken or columns.names.count(name) > 1})
    if doubled:
        raise ValueError(f"the output has columns of its own called {', '.join(doubled)}: leave these out (columns=)")
    return columns


def _commit(output: Output, reports: Sequence[Any]) -> Written:
    """Gives the shards their names, one after the other, and then says that all is there."""
    first = max(layout.done_shards(output.folder), default=-1) + 1
    for number, report in enumerate(reports, first):
        output.adopt(report["folder"], report["name"], layout.shard_name(number, _DIGITS))
    written = Written(len(reports), sum(each["count"] for each in reports), sum(each["successes"] for each in reports))
    output.write(_SUCCESS, vars(written))
    return written
