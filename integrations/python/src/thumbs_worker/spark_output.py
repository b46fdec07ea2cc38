"""A folder of shards, written by Spark's tasks and committed by its driver."""

from __future__ import annotations

import json
import os
import re
import shutil
import uuid
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark import TaskContext
from pyspark.sql import DataFrame
from pyspark.sql.pandas.types import to_arrow_schema

from thumbs_worker.img2dataset import layout
from thumbs_worker.img2dataset.run import failure_texts
from thumbs_worker.options import Options
from thumbs_worker.protocol import Item, Result
from thumbs_worker.spark import by_host, task_worker
from thumbs_worker.worker import DEFAULT_WINDOW

# Where tasks write until the driver commits, and what says that all is there: the names that Spark itself uses.
_TEMPORARY = "_temporary"
_SUCCESS = "_SUCCESS"
_SHARD = re.compile(r"[0-9]{5,}(\.tar|\.parquet|_stats\.json)?")
_DIGITS = 5
_ENDS = {
    "webdataset": (".tar", ".parquet", "_stats.json"),
    "files": ("", ".parquet", "_stats.json"),
    "parquet": (".parquet", "_stats.json"),
}
_FORMATS = {"jpg": "jpeg", "png": "png", "webp": "webp"}
# What a task says of each of its shards.
_REPORT = "partition int, shard int, folder string, name string, count long, successes long"


@dataclass(frozen=True)
class Written:
    """What is in the folder: shards, rows, and how many of the rows have an image."""

    shards: int
    rows: int
    successes: int


@dataclass(frozen=True)
class _Task:
    """What runs for a partition."""

    options: Options
    window: int
    program: str | None
    folder: str
    output_format: str
    encode_format: str
    url: str
    caption: str | None
    columns: Sequence[str]
    schema: pa.Schema
    rows_per_shard: int

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        context = TaskContext.get()
        assert context is not None
        partition = context.partitionId()
        # Two attempts at one partition, as Spark starts them for slow ones, have folders of their own. It takes the
        # reports of one of them alone, and so does the driver.
        folder = Path(self.folder) / f"{partition}-{context.taskAttemptId()}"
        folder.mkdir(parents=True, exist_ok=True)
        with task_worker(self.options, self.program, self.window) as worker:
            rows = self._results(worker.map, batches)
            for shard, (count, successes) in enumerate(self._shards(rows, folder, partition)):
                report = [partition, shard, str(folder), self._name(shard), count, successes]
                values = dict(zip(_REPORT_SCHEMA.names, report, strict=True))
                yield pa.RecordBatch.from_pylist([values], schema=_REPORT_SCHEMA)

    def _results(self, work: Any, batches: Iterable[pa.RecordBatch]) -> Iterator[tuple[dict[str, Any], Result]]:
        """Rows with their results, in order."""
        rows: list[dict[str, Any]] = []

        def items() -> Iterator[Item]:
            for batch in batches:
                for row in batch.to_pylist():
                    rows.append(row)
                    yield row[self.url]

        begun = 0
        for result in work(items(), ordered=True):
            yield rows[begun], result
            begun += 1
            if begun > self.window:
                del rows[:begun]
                begun = 0

    def _shards(
        self, rows: Iterator[tuple[dict[str, Any], Result]], folder: Path, partition: int
    ) -> Iterator[tuple[int, int]]:
        """Writes shard after shard; yields each one's counts."""
        shard = 0
        first = next(rows, None)
        while first is not None:
            name = self._name(shard)
            writer = layout.WRITERS[self.output_format](folder, name, self.schema, self.encode_format)
            statistics = layout.Statistics()
            pair: tuple[dict[str, Any], Result] | None = first
            try:
                while pair is not None:
                    self._write(writer, statistics, pair, f"{partition:05d}{shard:04d}")
                    pair = next(rows, None) if statistics.count < self.rows_per_shard else None
                writer.close()
            except BaseException:
                writer.abandon()
                raise
            document = statistics.document()
            layout.write_statistics(folder, name, document)
            yield document["count"], document["successes"]
            shard += 1
            first = next(rows, None)

    def _write(
        self,
        writer: layout.ShardWriter,
        statistics: layout.Statistics,
        pair: tuple[dict[str, Any], Result],
        prefix: str,
    ) -> None:
        row, result = pair
        status, kind, message = failure_texts(result) or ("success", "success", None)
        columns: dict[str, Any] = {name: row[name] for name in self.columns}
        if self.caption is not None:
            columns["caption"] = row[self.caption]
        columns["url"] = row[self.url]
        columns["key"] = f"{prefix}{statistics.count:0{len(str(self.rows_per_shard - 1))}d}"
        columns["status"], columns["error_message"] = status, message
        thumbnail = result.thumbnails[0] if result.thumbnails else None
        columns["width"] = thumbnail and thumbnail.width
        columns["height"] = thumbnail and thumbnail.height
        columns["original_width"] = result.source and result.source.width
        columns["original_height"] = result.source and result.source.height
        columns["sha256"] = thumbnail and thumbnail.sha256
        caption = None
        if self.caption is not None:
            caption = "" if columns["caption"] is None else str(columns["caption"])
        statistics.add(status, kind)
        writer.write(None if thumbnail is None else thumbnail.data, caption, columns)

    def _name(self, shard: int) -> str:
        return layout.shard_name(shard, _DIGITS)


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
    overwrite: bool = False,
) -> Written:
    """Writes the rows and their thumbnails into a folder in img2dataset's layout, and waits for it.

    `output` is a folder that the driver and all executors reach under this path. `output_format` is `webdataset`
    (`00000.tar` with `.jpg`, `.json` and `.txt` for `caption`), `files` or `parquet`; in each case `00000.parquet` has
    a row for each row, failures too, with `columns` (all other columns, unless told otherwise), and `00000_stats.json`
    the counts. Tasks write below `_temporary`; the driver renames what the attempts that count have written, and makes
    `_SUCCESS` last. A folder with shards is refused, unless `overwrite` replaces them.
    """
    folder = Path(output).absolute()
    _check(folder, output_format, encode_format, overwrite)
    kept = [name for name in (df.columns if columns is None else columns) if name not in (url, caption)]
    wanted = df.select(*dict.fromkeys([*kept, *([caption] if caption is not None else []), url]))
    if group_by_host:
        wanted = by_host(wanted, url, partitions)
    elif partitions is not None:
        wanted = wanted.repartition(partitions)
    job = folder / _TEMPORARY / uuid.uuid4().hex
    job.mkdir(parents=True)
    chosen = options or Options(sizes=(size,), format=_FORMATS[encode_format])
    task = _Task(
        chosen, window, program, str(job), output_format, encode_format, url, caption, kept,
        _schema(wanted, kept, url, caption), rows_per_shard,
    )  # fmt: skip
    try:
        reports = wanted.mapInArrow(task, _REPORT).collect()
        return _commit(folder, sorted(reports, key=lambda each: (each["partition"], each["shard"])), output_format)
    finally:
        shutil.rmtree(job, ignore_errors=True)
        if not any((folder / _TEMPORARY).iterdir()):
            (folder / _TEMPORARY).rmdir()


def _check(folder: Path, output_format: str, encode_format: str, overwrite: bool) -> None:
    if output_format not in _ENDS:
        raise ValueError(f"output_format is one of {', '.join(_ENDS)}, not {output_format}")
    if encode_format not in _FORMATS:
        raise ValueError(f"encode_format is one of {', '.join(_FORMATS)}, not {encode_format}")
    if folder.is_dir() and not overwrite and any(_is_ours(entry.name) for entry in folder.iterdir()):
        raise FileExistsError(f"{folder} has shards already: name another folder, or pass overwrite=True")


def _is_ours(name: str) -> bool:
    return name == _SUCCESS or _SHARD.fullmatch(name) is not None


def _schema(df: DataFrame, kept: Sequence[str], url: str, caption: str | None) -> pa.Schema:
    arrow = to_arrow_schema(df.schema)
    fields = [arrow.field(name) for name in kept]
    if caption is not None:
        fields.append(arrow.field(caption).with_name("caption"))
    taken = {field.name for field in fields}
    result = layout.schema(pa.schema([*fields, arrow.field(url).with_name("url")]), False, "sha256")
    doubled = [name for name in taken if result.names.count(name) > 1]
    if doubled:
        raise ValueError(f"the output has columns of its own called {', '.join(doubled)}: leave these out (columns=)")
    return result


def _commit(folder: Path, reports: Sequence[Any], output_format: str) -> Written:
    """Gives the shards their names, one after the other, and then says that all is there."""
    (folder / _SUCCESS).unlink(missing_ok=True)
    for entry in list(folder.iterdir()):
        if _is_ours(entry.name):
            shutil.rmtree(entry) if entry.is_dir() else entry.unlink()
    for number, report in enumerate(reports):
        for end in _ENDS[output_format]:
            source = Path(report["folder"]) / f"{report['name']}{end}"
            source.rename(folder / f"{layout.shard_name(number, _DIGITS)}{end}")
    written = Written(len(reports), sum(each["count"] for each in reports), sum(each["successes"] for each in reports))
    temporary = folder / _TEMPORARY / _SUCCESS
    temporary.write_text(json.dumps(vars(written)) + "\n")
    temporary.rename(folder / _SUCCESS)
    return written
