"""What Spark's rows come to, beyond what the examples show. One session for all, which takes a while to start."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from addresses import ADDRESSES, ENDPOINT
from crowd import LIMIT, OPTIONS, ROWS, Crowd

pytest.importorskip("pyspark")
pytest.importorskip("pyarrow")
from pyspark.sql import SparkSession  # noqa: E402

from thumbs_worker import Options  # noqa: E402
from thumbs_worker.img2dataset import layout, ledger  # noqa: E402
from thumbs_worker.img2dataset.storage import Output  # noqa: E402
from thumbs_worker.spark import host, retry_failed, thumbnails  # noqa: E402
from thumbs_worker.spark_output import write, write_failed  # noqa: E402


@pytest.fixture(scope="module")
def spark(engine_environment: dict[str, str], program: str, bucket: Any) -> Iterator[SparkSession]:
    # The executors have the environment of this moment, with the keys of the bucket.
    os.environ.update(engine_environment)
    session = SparkSession.builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    yield session
    session.stop()


def test_hosts_are_those_of_the_urls(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL_S3", ENDPOINT)
    rows = spark.createDataFrame([(url,) for url in [*ADDRESSES, None]], "url string")
    found = {row["url"]: row["host"] for row in rows.withColumn("host", host("url")).collect()}
    assert found == {**ADDRESSES, None: ""}


def test_a_host_with_most_rows_stops_no_other_in_its_task(spark: SparkSession, crowd: Crowd, tmp_path: Path) -> None:
    frame = spark.createDataFrame([(url,) for url in crowd.urls()], "url string")
    rows = thumbnails(frame, options=OPTIONS, window=32, partitions=2).collect()
    assert sorted(row["url"] for row in rows) == sorted(crowd.urls())
    assert {row["thumbs"]["status"] for row in rows} == {"ok"}
    crowd.answered.clear()
    written = write(frame, tmp_path / "out", options=OPTIONS, window=32, partitions=2)
    assert (written.rows, written.successes) == (len(ROWS), len(ROWS)) and max(crowd.most.values()) <= LIMIT


def test_other_columns_stay_and_failures_are_rows(
    spark: SparkSession, origin: str, urls: list[str], images: list[Path], tmp_path: Path
) -> None:
    every: list[Any] = [urls[0], None, f"{origin}/status/503", "nonsense", urls[0], urls[1]]
    rows = [(number, url, None if number % 2 else 2**60, {"a": [number]}) for number, url in enumerate(every)]
    frame = spark.createDataFrame(rows, "number int, url string, big long, nested struct<a: array<int>>")
    options = Options(sizes=[64], cache_dir=str(tmp_path / "cache"), max_wait="0")
    thumbnails(frame, options=options).write.parquet(str(tmp_path / "first"))
    first = spark.read.parquet(str(tmp_path / "first"))
    found = {row["number"]: row for row in first.collect()}
    assert len(found) == first.count() == len(every)
    assert [found[number]["thumbs"]["status"] for number in range(6)] == ["ok", *["failed"] * 3, "ok", "ok"]
    assert all((row["big"], row["nested"]["a"]) == (rows[n][2], [n]) for n, row in found.items())
    assert found[2]["thumbs"]["error"]["retry"] and not found[3]["thumbs"]["error"]["retry"]
    # Only what may succeed is tried again: its URL leads to a picture now.
    mended = first.replace(f"{origin}/status/503", urls[1], "url").replace("nonsense", urls[1], "url")
    again = {row["number"]: row["thumbs"]["status"] for row in retry_failed(mended, options=options).collect()}
    assert again == {0: "ok", 1: "failed", 2: "ok", 3: "failed", 4: "ok", 5: "ok"}
    bytes_of = spark.createDataFrame([(images[0].read_bytes(),), (None,), (b"no picture",)], "image binary")
    statuses = [row["thumbs"]["status"] for row in thumbnails(bytes_of, data="image", options=options).collect()]
    assert statuses == ["ok", "failed", "failed"]


def test_a_folder_with_shards_is_refused(
    spark: SparkSession, urls: list[str], tmp_path: Path
) -> None:
    frame = spark.createDataFrame([(url, "x") for url in urls[:3]], "url string, extra string")
    for output_format, names in (("files", {"00000", "00000.parquet"}), ("parquet", {"00000.parquet"})):
        output = tmp_path / output_format
        written = write(frame, output, size=64, output_format=output_format, partitions=1)
        assert (written.shards, written.rows, written.successes) == (1, 3, 3)
        assert {path.name for path in output.iterdir()} == names | {"00000_stats.json", "_SUCCESS", "_manifest"}
        with pytest.raises(FileExistsError, match="move it away"):
            write(frame, output, size=64, output_format=output_format)
        with contextlib.closing(Output(str(output))) as other:
            other.claim()
            with pytest.raises(BlockingIOError, match="another run"):
                write(frame, output, size=64, output_format=output_format)
    for taken in ("status", "sha256", "message", "jpg"):
        with pytest.raises(ValueError, match=taken):
            write(frame.withColumnRenamed("extra", taken), tmp_path / "other")


def test_the_same_rows_give_the_same_shards_whatever_their_order(
    spark: SparkSession, urls: list[str], tmp_path: Path
) -> None:
    rows = [(f"{url}?{number % 7}", number, {"n": [number]}) for number, url in enumerate(urls * 4)]
    manifests = []
    for name, some, slices in (("one", rows, 2), ("two", rows[::-1], 5)):
        frame = spark.createDataFrame(
            spark.sparkContext.parallelize(some, slices), "url string, number int, nested map<string, array<int>>"
        )
        write(frame, tmp_path / name, size=32, partitions=3, rows_per_shard=10)
        folder = tmp_path / name / layout.MANIFEST
        manifests.append({path.name: path.read_text() for path in folder.iterdir()})
        assert Output(str(tmp_path / name)).verify() == []
    assert manifests[0] == manifests[1] and len(manifests[0]) > 1


def test_rows_that_failed_for_a_passing_reason_are_added_by_further_shards(
    spark: SparkSession, origin: str, urls: list[str], tmp_path: Path
) -> None:
    output = tmp_path / "out"
    some = [urls[0], f"{origin}/status/503", f"{origin}/status/404", urls[1]]
    frame = spark.createDataFrame([(url, "a lake") for url in some], "url string, text string")
    options = Options(sizes=[32], format="jpeg", max_wait="0")
    assert write(frame, output, caption="text", partitions=1, options=options).successes == 2
    found = ledger.pending(output)
    assert found is not None and found.column("url").to_pylist() == [some[1]]
    before = (output / "00000.tar").read_bytes()
    # It fails again, and stays.
    written = write_failed(spark, output, options=options, partitions=1)
    assert (written.shards, written.rows, written.successes) == (1, 1, 0)
    assert layout.manifest(output, "00001")["completes"] and (output / "00000.tar").read_bytes() == before
    again = ledger.pending(output)
    assert again is not None and again.num_rows == 1
    assert again.column("first_failed").to_pylist() == found.column("first_failed").to_pylist()
    assert again.column("key").to_pylist() == found.column("key").to_pylist()
    assert write_failed(spark, output, options=options, until="0s").rows == 0
    assert Output(str(output)).verify() == []


def test_a_write_that_was_interrupted_is_refused_until_it_is_written_again(
    spark: SparkSession, origin: str, urls: list[str], tmp_path: Path
) -> None:
    output = tmp_path / "out"
    frame = spark.createDataFrame([(urls[0],), (f"{origin}/status/503",)], "url string")
    options = Options(sizes=[32], format="jpeg", max_wait="0")
    with pytest.raises(FileNotFoundError, match="_SUCCESS"):
        write_failed(spark, output, options=options)
    write(frame, output, partitions=1, options=options)
    # As a driver leaves it that is killed while it commits, after another one.
    (output / "_SUCCESS").unlink()
    (output / f"_temporary/{'0' * 32}/0-0/_tmp").mkdir(parents=True)
    with pytest.raises(FileNotFoundError, match="move the folder away"):
        write_failed(spark, output, options=options)
    with pytest.raises(FileExistsError):
        write(frame, output, options=options)
    output.rename(tmp_path / "moved")
    assert write(frame, output, partitions=1, options=options).rows == 2
    assert write_failed(spark, output, options=options).rows == 1
    assert not (output / "_temporary").exists() and Output(str(output)).verify() == []


def _executors(session: SparkSession) -> list[int]:
    """The processes of the session's executors, which name the driver's port."""
    port = f":{session.sparkContext.getConf().get('spark.driver.port')}"
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            words = path.read_bytes().decode(errors="replace")
            if "CoarseGrainedExecutorBackend" in words and port in words:
                found.append(int(path.parent.name))
    return found


def test_rows_in_object_storage_are_complete_whatever_is_killed_or_refused(
    spark: SparkSession, bucket: Any, origin: str, urls: list[str], tmp_path: Path
) -> None:
    some = [f"{url}?{number}" for number in range(3) for url in urls] + [f"{origin}/status/503"]
    frame = spark.createDataFrame([(url,) for url in some], "url string")
    options = Options(sizes=[32], format="jpeg", max_wait="0", jobs=1)
    arguments: dict[str, Any] = {"partitions": 3, "rows_per_shard": 10, "options": options, "group_by_host": False}
    here = write(frame, tmp_path / "here", **arguments)
    is_done, killed = threading.Event(), list[int]()

    def kill_one() -> None:
        while not is_done.wait(0.05) and not killed:
            if bucket.find("bucket/out-spark/_temporary"):
                for executor in _executors(spark)[:1]:
                    os.kill(executor, signal.SIGKILL)
                    killed.append(executor)

    killer = threading.Thread(target=kill_one)
    killer.start()
    try:
        there = write(frame, "s3://bucket/out-spark", **arguments)
    finally:
        is_done.set()
        killer.join()
    assert there == here and len(killed) == 1
    output = Output("s3://bucket/out-spark")
    assert output.verify() == [] and "_temporary" not in output.names()
    for shard in (tmp_path / "here").glob("*.tar"):
        assert bucket.cat_file(f"bucket/out-spark/{shard.name}") == shard.read_bytes()
    assert write_failed(spark, "s3://bucket/out-spark", options=options).rows == 1
    assert output.verify() == []
    output.close()
