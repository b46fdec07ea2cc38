"""The rows of an output that may still come: with when and why, in a file for each shard."""

from __future__ import annotations

import contextlib
import io
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet

from thumbs_worker.img2dataset import layout
from thumbs_worker.protocol import Failure

FOLDER = layout.LEDGER
# What is known of a row, beside the columns of the list.
FIELDS = [
    ("key", pa.string()),
    ("code", pa.string()),
    ("message", pa.string()),
    # Seconds since 1970: when the row failed first, and before when another attempt is useless.
    ("first_failed", pa.float64()),
    ("not_before", pa.float64()),
]


def entry(columns: Mapping[str, Any], error: Failure, first_failed: float | None) -> dict[str, Any]:
    """An entry for a row that failed now, and before that at `first_failed`."""
    now = time.time()
    return {
        **columns,
        "code": error.code,
        "message": error.message,
        "first_failed": now if first_failed is None else first_failed,
        "not_before": now + (error.retry_after or 0.0),
    }


def is_ours(data: bytes, _: Mapping[str, Any]) -> bool:
    """Whether the bytes are those of a ledger."""
    with contextlib.suppress(pa.ArrowException, OSError):
        return bool(pa.parquet.read_schema(io.BytesIO(data)).names[-len(FIELDS) :] == [name for name, _ in FIELDS])
    return False


def write(folder: Path, name: str, columns: pa.Schema, entries: list[dict[str, Any]]) -> None:
    """Writes the entries of a shard; no file without any."""
    target = folder / FOLDER / f"{name}.parquet"
    if not entries:
        target.unlink(missing_ok=True)
        return
    schema = pa.schema([*columns, *(pa.field(name, kind) for name, kind in FIELDS)])
    with layout.new_file(folder, target) as path:
        pa.parquet.write_table(pa.Table.from_pylist(entries, schema=schema), path)


def pending(
    folder: Path,
    until: float | None = None,
    patience: float = 0.0,
    fetch: Callable[[str], Path] | None = None,
) -> pa.Table | None:
    """The rows that may come now, or within `patience` seconds; None if there are none. With `until`, those that failed
    first more than so many seconds ago are left out. A row counts as its last shard has it. `fetch` gets a file of an
    output that is elsewhere."""
    tables: list[pa.Table] = []
    later: set[str] = set()
    for name in reversed(layout.done_shards(folder).values()):
        path = folder / FOLDER / f"{name}.parquet"
        if path.exists():
            tables.insert(0, _without(pa.parquet.read_table(path), later))
        if layout.manifest(folder, name).get("completes"):
            file = f"{name}.parquet"
            path = folder / file if fetch is None else fetch(file)
            later.update(_values(pa.parquet.read_table(path, columns=["key"]), "key"))
    if not tables:
        return None
    table = pa.concat_tables(tables, promote_options="default")
    now = time.time()
    rows = [
        row
        for row, (failed, due) in enumerate(zip(_values(table, "first_failed"), _values(table, "not_before"), strict=True))
        if due <= now + patience and (until is None or now - failed <= until)
    ]
    return table.take(pa.array(rows, type=pa.int64())) if rows else None


def _without(table: pa.Table, keys: set[str]) -> pa.Table:
    return table.filter(pa.array([key not in keys for key in _values(table, "key")], type=pa.bool_()))


def _values(table: pa.Table, name: str) -> list[Any]:
    if name not in table.column_names:
        raise ValueError(f"a file of {FOLDER} has no column {name}: others have changed it, remove it")
    values: list[Any] = table.column(name).to_pylist()
    return values
