"""Reads lists of URLs in img2dataset's formats, as shards."""

from __future__ import annotations

import gzip
import json
from collections.abc import Container, Iterator
from dataclasses import dataclass
from typing import IO, Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.json
import pyarrow.parquet

from thumbs_worker.img2dataset import layout, ledger, storage
from thumbs_worker.img2dataset.settings import SettingError, Settings


@dataclass(frozen=True, repr=False)
class Shard:
    """Some rows of the list: the shard's number and name, the columns that the output takes over, the rows' keys, and
    when they failed first, in seconds since 1970. `completes` says that earlier shards have the same rows."""

    number: int
    name: str
    rows: pa.Table
    keys: list[str]
    first_failed: list[float | None]
    completes: bool = False


def shard_of(number: int, rows: pa.Table, settings: Settings) -> Shard:
    """A shard of new rows."""
    digits, size = settings.oom_shard_count, settings.number_sample_per_shard
    keys = [layout.sample_key(row, number, size, digits) for row in range(rows.num_rows)]
    return Shard(number, layout.shard_name(number, digits), rows, keys, [None] * rows.num_rows)


def input_files(settings: Settings) -> list[str]:
    """The files to read: the one that is named, or those of a folder whose names end with the format."""
    try:
        files = storage.listed(settings.url_list, f".{settings.input_format}")
    except FileNotFoundError as error:
        raise SettingError(str(error)) from error
    if files is None:
        return [settings.url_list]
    if not files:
        raise SettingError(f"no file in {settings.url_list} ends with .{settings.input_format}")
    return files


def failed_shards(settings: Settings, rows: pa.Table, first: int) -> Iterator[Shard]:
    """Shards of the rows of a ledger."""
    size = settings.number_sample_per_shard
    extra = {name for name, _ in ledger.FIELDS}
    kept = [name for name in rows.column_names if name not in extra]
    if settings.verify_hash is not None and settings.verify_hash[1] not in kept:
        raise SettingError(f"verify_hash: the ledger has no {settings.verify_hash[1]}; the first run was without it")
    for number, begin in enumerate(range(0, rows.num_rows, size), first):
        part = _part(rows, begin, size)
        yield Shard(
            number, layout.shard_name(number, settings.oom_shard_count), part.select(kept),
            part.column("key").to_pylist(), part.column("first_failed").to_pylist(), completes=True,
        )  # fmt: skip


def shards(settings: Settings, first: int, done: Container[int]) -> Iterator[Shard]:
    """The shards of the list, but for those that are done. Each file begins a shard, as img2dataset has it, and is read
    once: it may be a pipe."""
    number = first
    size = settings.number_sample_per_shard
    for file in input_files(settings):
        table = _columns(read(file, settings), file, settings)
        for begin in range(0, table.num_rows, size):
            if number not in done:
                yield shard_of(number, _part(table, begin, size), settings)
            number += 1
    if number == first:
        raise SettingError(f"url_list: {settings.url_list} has no rows, or has been read already")


def _part(table: pa.Table, begin: int, count: int) -> pa.Table:
    """Rows as a copy: a slice has the buffers of the whole list, with which it would be sent to a task."""
    rows = table.slice(begin, count)
    return rows.take(pa.array(range(rows.num_rows), type=pa.int64()))


def read(file: str, settings: Settings) -> pa.Table:
    """All columns of a file."""
    form, _, is_compressed = settings.input_format.partition(".")
    if form == "parquet":
        return storage.read(file, pa.parquet.read_table)
    return storage.read(file, lambda stream: _read(form, gzip.GzipFile(fileobj=stream) if is_compressed else stream))


def _read(form: str, stream: IO[bytes] | gzip.GzipFile) -> pa.Table:
    if form == "txt":
        lines = (line.decode("utf-8", "replace").strip() for line in stream)
        return pa.table({"url": pa.array([line for line in lines if line], type=pa.string())})
    if form == "csv":
        return pa.csv.read_csv(stream)
    if form == "tsv":
        return pa.csv.read_csv(stream, parse_options=pa.csv.ParseOptions(delimiter="\t"))
    if form == "jsonl":
        return pa.json.read_json(stream)
    return _records(json.load(stream))


def _records(value: Any) -> pa.Table:
    """The rows of a JSON document: a list of objects, or an object of columns, as pandas writes them."""
    if isinstance(value, list):
        return pa.Table.from_pylist(value)
    columns = {name: list(cells.values()) if isinstance(cells, dict) else cells for name, cells in value.items()}
    return pa.table(columns)


def _columns(table: pa.Table, file: str, settings: Settings) -> pa.Table:
    """The columns that the output takes over, in img2dataset's order and with its names."""
    if settings.input_format.startswith("txt"):
        return table
    wanted = {name: name for name in settings.save_additional_columns or ()}
    if settings.caption_col is not None:
        wanted["caption"] = settings.caption_col
    if settings.verify_hash is not None:
        wanted[settings.verify_hash[1]] = settings.verify_hash[0]
    wanted["url"] = settings.url_col
    for source in wanted.values():
        if source not in table.column_names:
            raise SettingError(f"{file} has no column {source}; it has {', '.join(table.column_names)}")
    return pa.table({name: table.column(source) for name, source in wanted.items()})
