"""img2dataset's distributors: shards as tasks of Spark or of Ray, each filled by a worker of the machine it runs on."""

from __future__ import annotations

import itertools
import os
import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from thumbs_worker.img2dataset.reader import Shard

if TYPE_CHECKING:
    from thumbs_worker.img2dataset.run import Run

_Report = tuple[str, dict[str, Any]]


class _Task:
    """Fills one shard; sent to where it runs."""

    def __init__(self, run: Run) -> None:
        self._parts = run.parts

    def __call__(self, shard: Shard) -> _Report:
        from thumbs_worker.img2dataset.run import Run

        return shard.name, Run(*self._parts).filled(shard)


def distribute(run: Run, shards: Iterator[Shard]) -> Iterator[_Report]:
    """The statistics of each shard. As many shards as `subjob_size` says are one job; those that fail are tried again
    `max_shard_retry` times."""
    settings = run.parts[0]
    start = {"pyspark": _on_spark, "ray": _on_ray}[settings.distributor]
    work = start(_Task(run), settings.processes_count)
    while batch := list(itertools.islice(shards, settings.subjob_size)):
        for attempt in range(settings.max_shard_retry + 1):
            failed = []
            for shard, outcome in zip(batch, work(batch), strict=True):
                if isinstance(outcome, Exception):
                    if attempt == settings.max_shard_retry:
                        raise outcome
                    failed.append(shard)
                else:
                    yield outcome
            batch = failed
            if not batch:
                break


class _Caught:
    """Returns an exception, so that the other tasks of a job go on."""

    def __init__(self, task: _Task) -> None:
        self._task = task

    def __call__(self, shard: Shard) -> _Report | Exception:
        try:
            return self._task(shard)
        except Exception as error:
            return error


def _on_spark(task: _Task, processes: int | None) -> Callable[[list[Shard]], list[Any]]:
    from pyspark.sql import SparkSession

    # Without it, tasks on this machine may run with another Python than this one.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder
    session = SparkSession.getActiveSession() or builder.master(f"local[{processes or '*'}]").getOrCreate()
    context = session.sparkContext
    return lambda batch: list(context.parallelize(batch, len(batch)).map(_Caught(task)).collect())


def _on_ray(task: _Task, processes: int | None) -> Callable[[list[Shard]], list[Any]]:
    import ray

    if not ray.is_initialized():
        ray.init(num_cpus=processes)
    caught = _Caught(task)
    work: Any = ray.remote(lambda shard: caught(shard))
    return lambda batch: list(ray.get([work.remote(shard) for shard in batch]))
