"""Thumbnails in Dask: a worker for each process of Dask, shared by its threads."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import pandas as pd
import pyarrow as pa

from thumbs_worker.arrow import HOST, column_items, hosts_of, results_of
from thumbs_worker.options import Options, Size
from thumbs_worker.pool import shared_worker
from thumbs_worker.protocol import Result

# The columns of a row: their names after the prefix, their types, and what of a result they hold.
_ROW: Mapping[str, tuple[pa.DataType, Callable[[Result], Any]]] = {
    "status": (pa.string(), lambda result: result.status),
    "code": (pa.string(), lambda result: result.error and result.error.code),
    "message": (pa.string(), lambda result: result.error and result.error.message),
    "retry": (pa.bool_(), lambda result: result.error and result.error.retry),
    "source_width": (pa.int32(), lambda result: result.source and result.source.width),
    "source_height": (pa.int32(), lambda result: result.source and result.source.height),
    "source_format": (pa.string(), lambda result: result.source and result.source.format),
    "source_bytes": (pa.int64(), lambda result: result.source and result.source.bytes),
}
# Those of each thumbnail, which are attributes of `Thumbnail`.
_THUMBNAIL: Mapping[str, pa.DataType] = {
    "width": pa.int32(),
    "height": pa.int32(),
    "format": pa.string(),
    "sha256": pa.string(),
    "path": pa.string(),
    "data": pa.binary(),
}

# Partitions that have given their thread up and still run, of a process at once: all of them keep their results.
_lent = threading.BoundedSemaphore(4)


def by_host(df: Any, url: str = "url", partitions: int | None = None) -> Any:
    """The rows with all URLs of a host in one partition, so that one worker keeps the host's limits."""
    number = partitions or df.npartitions
    if number == df.npartitions == 1:
        return df
    meta = _with_host(df._meta, url)
    return df.map_partitions(_with_host, url, meta=meta).shuffle(on=HOST, npartitions=number).drop(columns=HOST)


def thumbnails(
    df: Any, url: str = "url", sizes: Sequence[Size] = (256,), *, prefix: str = "thumb_", data: str | None = None,
    options: Options | None = None, program: str | None = None, retries: int = 0,
    group_by_host: bool = True, partitions: int | None = None,
) -> Any:  # fmt: skip
    """The rows of a `dask.dataframe.DataFrame`, each once, with columns of results.

    They are `thumb_status`, `thumb_code`, `thumb_message`, `thumb_retry`, `thumb_source_width` and so on, and
    `thumb_data`, `thumb_width`, `thumb_height`, `thumb_format`, `thumb_sha256` and `thumb_path` of the thumbnail; with
    several sizes these end with the size, `thumb_data_400x300`. All have Arrow types. `data` names a column of images'
    bytes in place of `url`. It runs as often as Dask needs the rows. Those that failed for a passing reason are tried
    `retries` times more, at the end of their partition. With `group_by_host` the rows are partitioned anew, see
    `by_host`; without it, each process has limits of its own.
    """
    if group_by_host and data is None:
        df = by_host(df, url, partitions)
    chosen = options or Options(sizes=tuple(sizes))
    empty = {name: _series([], kind, df._meta.index[:0]) for name, kind in _columns(chosen, prefix).items()}
    meta = df._meta.assign(**empty)
    return df.map_partitions(_add, data or url, data is not None, prefix, chosen, program, retries, meta=meta)


def retry_failed(
    df: Any, url: str = "url", sizes: Sequence[Size] = (256,), *, prefix: str = "thumb_", data: str | None = None,
    options: Options | None = None, program: str | None = None, group_by_host: bool = True,
    partitions: int | None = None,
) -> Any:  # fmt: skip
    """The rows of `thumbnails`, each once, of which those that failed and may succeed now were tried again. Read them
    from storage: Dask would compute them anew."""
    if group_by_host and data is None:
        df = by_host(df, url, partitions)
    chosen = options or Options(sizes=tuple(sizes))
    return df.map_partitions(_retry, data or url, data is not None, prefix, chosen, program, meta=df._meta)


def _ends(options: Options) -> list[str]:
    """What the names of the thumbnails' columns end with."""
    return [""] if len(options.sizes) == 1 else [f"_{size}" for size in options.sizes]


def _columns(options: Options, prefix: str) -> dict[str, pa.DataType]:
    """The names and types of the columns."""
    columns = {f"{prefix}{name}": kind for name, (kind, _) in _ROW.items()}
    for end in _ends(options):
        columns |= {f"{prefix}{name}{end}": kind for name, kind in _THUMBNAIL.items()}
    return columns


def _series(values: list[Any], kind: pa.DataType, index: Any) -> Any:
    array = pa.chunked_array([pa.array(values, type=kind)])
    return pd.Series(pd.arrays.ArrowExtensionArray(array), index=index)


def _with_host(frame: pd.DataFrame, url: str) -> pd.DataFrame:
    hosts = hosts_of(pa.array(frame[url], from_pandas=True))
    return frame.assign(**{HOST: _series(hosts.to_pylist(), pa.string(), frame.index)})


@contextlib.contextmanager
def _place() -> Iterator[Callable[[], None]]:
    """What gives the place of this task in its process up, as soon as its rows do not keep the worker busy.

    Dask binds partitions to processes by how long others took. Those that wait behind one with a slow host begin then.
    """
    with contextlib.ExitStack() as stack:
        is_lent = False

        def give_up() -> None:
            nonlocal is_lent
            if is_lent or not _lent.acquire(blocking=False):
                return
            is_lent = True
            stack.callback(_lent.release)
            # There is no such place in Dask's own threads and processes, and a task has one alone.
            with contextlib.suppress(ImportError, ValueError, AttributeError, KeyError):
                from distributed import secede

                secede()

        yield give_up


def _add(
    frame: pd.DataFrame, url: str, is_data: bool, prefix: str, options: Options, program: str | None, retries: int
) -> pd.DataFrame:
    table = pa.table({url: pa.array(frame[url], from_pandas=True)})
    with _place() as give_up:
        found = results_of(shared_worker(options, program), column_items(table, url, is_data), retries, give_up)
        results = sorted(found, key=lambda result: result.index)
    values: dict[str, list[Any]] = {
        f"{prefix}{name}": [value(result) for result in results] for name, (_, value) in _ROW.items()
    }
    for position, end in enumerate(_ends(options)):
        for name in _THUMBNAIL:
            values[f"{prefix}{name}{end}"] = [
                getattr(result.thumbnails[position], name) if result.ok else None for result in results
            ]
    kinds = _columns(options, prefix)
    return frame.assign(**{name: _series(values[name], kind, frame.index) for name, kind in kinds.items()})


def _retry(
    frame: pd.DataFrame, url: str, is_data: bool, prefix: str, options: Options, program: str | None
) -> pd.DataFrame:
    # Whether each row may succeed later; a row without a status has not been tried.
    states = zip(_values(frame, f"{prefix}status"), _values(frame, f"{prefix}retry"), strict=True)
    places = [place for place, (status, retry) in enumerate(states) if status is None or retry]
    if not places:
        return frame
    kinds = _columns(options, prefix)
    again = _add(frame.iloc[places].drop(columns=list(kinds)), url, is_data, prefix, options, program, 0)
    columns = {}
    for name, kind in kinds.items():
        values = _values(frame, name)
        for place, value in zip(places, _values(again, name), strict=True):
            values[place] = value
        columns[name] = _series(values, kind, frame.index)
    return frame.assign(**columns)


def _values(frame: pd.DataFrame, name: str) -> list[Any]:
    values: list[Any] = pa.array(frame[name], from_pandas=True).to_pylist()
    return values
