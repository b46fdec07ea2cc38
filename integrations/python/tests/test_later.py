"""Rows that come later in Ray and Dask: their functions on batches, which the engines call."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

pa = pytest.importorskip("pyarrow")

from thumbs_worker import Options, Worker  # noqa: E402
from thumbs_worker.arrow import results_of  # noqa: E402

OPTIONS = Options(sizes=[32], jobs=1, max_wait="0", disk_cache=0)


@pytest.fixture
def some(origin: str, urls: list[str]) -> list[str | None]:
    """URLs of which the second fails for a passing reason, and the last two for good."""
    return [urls[0], f"{origin}/status/503", f"{origin}/status/404", None]


def test_rows_that_are_tried_again_come_last(program: str, some: list[Any]) -> None:
    with Worker(OPTIONS, program=program) as worker:
        results = list(results_of(worker, some, retries=1))
    # The one that was tried again is the last.
    assert results[-1].index == 1
    results.sort(key=lambda result: result.index)
    assert [(result.index, result.status) for result in results] == list(enumerate(["ok", *["failed"] * 3]))
    assert [result.retry for result in results] == [False, True, False, False]


def test_ray_tries_rows_again_that_may_succeed_now(program: str, some: list[Any], urls: list[str]) -> None:
    from thumbs_worker.ray import Thumbnails

    table = pa.table({"url": pa.array(some), "n": [1, 2, 3, 4]})
    first = pa.concat_tables(Thumbnails(options=OPTIONS, program=program)(table)).sort_by("n")
    mended = first.set_column(0, "url", pa.array([*some[:1], *urls[:3]]))
    again = Thumbnails(options=OPTIONS, program=program, is_again=True)
    assert [row["status"] for row in pa.concat_tables(again(mended))["thumbs"].to_pylist()] == [
        "ok", "ok", "failed", "failed",
    ]  # fmt: skip
    assert [part.schema for part in again(mended.slice(0, 0))] == [first.schema]


def test_dask_tries_rows_again_that_may_succeed_now(
    program: str, some: list[Any], urls: list[str], tmp_path: Path
) -> None:
    dd = pytest.importorskip("dask.dataframe")
    pd = pytest.importorskip("pandas")
    from thumbs_worker.dask import retry_failed, thumbnails

    frame = dd.from_pandas(pd.DataFrame({"url": some}, index=[1, 1, 2, 2]), npartitions=1)
    first = thumbnails(frame, options=OPTIONS, program=program).compute(scheduler="threads")
    assert list(first["thumb_status"]) == ["ok", *["failed"] * 3]
    first["url"] = [*some[:1], *urls[:3]]
    again = retry_failed(dd.from_pandas(first, npartitions=1, sort=False), options=OPTIONS, program=program)
    last = again.compute(scheduler="threads")
    assert list(last["thumb_status"]) == ["ok", "ok", "failed", "failed"]
    assert last["thumb_data"].iloc[1] and (last.dtypes == first.dtypes).drop("url").all()


def test_batches_give_each_row_once_whatever_is_empty(program: str, some: list[Any]) -> None:
    from thumbs_worker.arrow import column_items, with_results

    empty = pa.record_batch({"url": pa.array([], pa.string()), "n": pa.array([], pa.int64())})
    urls = [some[0], *some[2:]]
    batches = [*[empty] * 5, *(pa.record_batch({"url": urls, "n": range(n, n + 3)}) for n in range(0, 30, 3)), empty]
    with Worker(OPTIONS, program=program, window=3) as worker:
        made = list(with_results(worker, batches, lambda batch: column_items(batch, "url"), "thumbs"))
        assert not list(with_results(worker, [empty], lambda batch: column_items(batch, "url"), "thumbs"))
    rows = sorted((row for part in made for row in part.to_pylist()), key=lambda row: row["n"])
    assert [(row["n"], row["url"]) for row in rows] == list(enumerate(urls * 10))
    assert [row["thumbs"]["status"] for row in rows] == ["ok", "failed", "failed"] * 10
