"""Hosts in Ray and Dask: each is on one worker, which keeps its limit, and one with most of the rows stops no other."""

from __future__ import annotations

import pytest

pytest.importorskip("pyarrow")

from crowd import LIMIT, OPTIONS, ROWS, Crowd  # noqa: E402


def _check(crowd: Crowd, urls: list[str], statuses: list[str]) -> None:
    assert sorted(urls) == sorted(crowd.urls()) and set(statuses) == {"ok"}
    assert max(crowd.most.values()) <= LIMIT


def test_a_job_of_ray_keeps_the_limits_of_hosts(program: str, crowd: Crowd) -> None:
    ray = pytest.importorskip("ray")
    from thumbs_worker.ray import thumbnails

    ray.init(num_cpus=3, include_dashboard=False, log_to_driver=False)
    try:
        dataset = ray.data.from_items([{"url": url} for url in crowd.urls()])
        made = thumbnails(dataset, options=OPTIONS, concurrency=2, program=program)
        rows = made.take_all()
    finally:
        ray.shutdown()
    assert set(rows[0]) == {"url", "thumbs"}
    _check(crowd, [row["url"] for row in rows], [row["thumbs"]["status"] for row in rows])


@pytest.mark.parametrize("processes", [1, 2])
def test_a_job_of_dask_keeps_the_limits_of_hosts(program: str, crowd: Crowd, processes: int) -> None:
    dd = pytest.importorskip("dask.dataframe")
    pd = pytest.importorskip("pandas")
    distributed = pytest.importorskip("distributed")
    from thumbs_worker.dask import thumbnails

    frame = dd.from_pandas(pd.DataFrame({"url": crowd.urls(), "n": range(len(ROWS))}), npartitions=6)
    made = thumbnails(frame, options=OPTIONS, program=program)
    with distributed.Client(n_workers=processes, threads_per_worker=1, dashboard_address=None):
        rows = made.compute()
    assert list(rows.columns)[:3] == ["url", "n", "thumb_status"]
    _check(crowd, list(rows["url"]), list(rows["thumb_status"]))
