"""The examples as they stand, on real engines in local cluster mode; each is skipped where its engine is missing."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
# An engine's start takes half a minute on a busy machine.
PATIENCE = 300


def needs(*modules: str) -> pytest.MarkDecorator:
    missing = [module for module in modules if importlib.util.find_spec(module) is None]
    return pytest.mark.skipif(bool(missing), reason=f"{', '.join(missing)} not installed")


@pytest.fixture
def listed(urls: list[str], origin: str, tmp_path: Path) -> tuple[Path, list[str]]:
    """A list with a picture that is not there."""
    every = [*urls[:6], f"{origin}/status/404", *urls[:2]]
    path = tmp_path / "list.txt"
    path.write_text("".join(f"{url}\n" for url in every))
    return path, every


@pytest.fixture
def run(program: str, tmp_path: Path, engine_environment: dict[str, str]):  # type: ignore[no-untyped-def]
    def start(name: str, *words: object) -> str:
        environment = {**os.environ, **engine_environment, "THUMBS": program, "XDG_CACHE_HOME": str(tmp_path / "cache")}
        process = subprocess.run(
            [sys.executable, EXAMPLES / name, *map(str, words)],
            env=environment, capture_output=True, text=True, timeout=PATIENCE,
        )  # fmt: skip
        assert process.returncode == 0, process.stderr[-4000:]
        return process.stdout

    return start


def test_an_example_has_about_15_lines() -> None:
    for path in EXAMPLES.glob("*.py"):
        lines = [line for line in path.read_text().splitlines() if line.strip()]
        assert len(lines) <= 16, path.name


def test_worker_files_writes_a_file_for_each_url(run, listed, tmp_path) -> None:  # type: ignore[no-untyped-def]
    path, every = listed
    output = run("worker_files.py", path, tmp_path / "out")
    assert len(output.splitlines()) == len(every) and output.count("not-found") == 1
    assert len(list((tmp_path / "out").glob("*.jpg"))) == len(every) - 1


@needs("redis")
@pytest.mark.skipif(shutil.which("redis-server") is None, reason="redis-server is not installed")
def test_entries_of_a_redis_stream_are_delivered_again_until_they_have_an_answer(  # type: ignore[no-untyped-def]
    run, listed, origin, tmp_path
) -> None:
    import redis

    socket = tmp_path / "redis.sock"
    command = ["redis-server", "--port", "0", "--unixsocket", str(socket), "--save", "", "--dir", str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        while "ready to accept" not in process.stdout.readline().lower():
            assert process.poll() is None
        server = redis.Redis(unix_socket_path=str(socket))
        for url in [*listed[1], f"{origin}/status/503"]:
            server.xadd("pictures", {"url": url})
        arguments = ("redis_stream.py", f"unix://{socket}", tmp_path / "out")
        output = run(*arguments, 0)
        assert output.count(" ok\n") == len(listed[1]) - 1 and output.count("not-found") == 1
        # What may succeed later stays, and comes again, but not at once.
        assert server.xpending("pictures", "thumbs")["pending"] == 1
        assert run(*arguments, 600_000) == ""
        assert run(*arguments, 0).count("\n") == 1
        process.terminate()


def test_pool_hashes_gives_each_row_once(run, listed) -> None:  # type: ignore[no-untyped-def]
    path, every = listed
    rows = run("pool_hashes.py", path).splitlines()
    assert sorted(row.rpartition(" ")[0] for row in rows) == sorted(every)
    assert sum(row.endswith("None") for row in rows) == 1


@needs("pyspark", "pyarrow")
def test_spark_columns_has_a_row_for_each_url(run, listed, tmp_path) -> None:  # type: ignore[no-untyped-def]
    import pyarrow.parquet

    path, every = listed
    run("spark_columns.py", path, tmp_path / "out")
    for name in ("first", "second"):
        rows = pyarrow.parquet.read_table(tmp_path / "out" / name).to_pylist()
        assert sorted(row["url"] for row in rows) == sorted(every)
        codes = [row["thumbs"]["error"]["code"] for row in rows if row["thumbs"]["status"] == "failed"]
        assert codes == ["not-found"]
        assert all(row["thumbs"]["thumbnails"][0]["data"] for row in rows if row["thumbs"]["status"] == "ok")


@needs("pyspark", "pyarrow")
def test_spark_webdataset_commits_its_shards(run, listed, tmp_path) -> None:  # type: ignore[no-untyped-def]
    import pyarrow
    import pyarrow.parquet

    every = listed[1]
    table = pyarrow.table({"url": every, "caption": [f"text {index}" for index in range(len(every))]})
    pyarrow.parquet.write_table(table, tmp_path / "rows.parquet")
    out = tmp_path / "out"
    assert f"{len(every)} rows, {len(every) - 1} of them" in run("spark_webdataset.py", tmp_path / "rows.parquet", out)
    written = json.loads((out / "_SUCCESS").read_text())
    assert written["rows"] == len(every) and not (out / "_temporary").exists()
    names: list[str] = []
    for tar in out.glob("*.tar"):
        with tarfile.open(tar) as archive:
            names += archive.getnames()
    assert len(names) == len(set(names)) == 3 * (len(every) - 1)
    rows = [row for path in out.glob("*.parquet") for row in pyarrow.parquet.read_table(path).to_pylist()]
    assert sorted(row["url"] for row in rows) == sorted(every)


@needs("ray", "pyarrow")
def test_ray_data_has_a_row_for_each_url(run, listed, tmp_path) -> None:  # type: ignore[no-untyped-def]
    path, every = listed
    assert f"{len(every)} rows" in run("ray_data.py", path, tmp_path / "out")


@needs("dask", "distributed", "pyarrow")
def test_dask_frame_has_a_row_for_each_url(run, listed, tmp_path) -> None:  # type: ignore[no-untyped-def]
    path, every = listed
    assert f"{len(every)} rows" in run("dask_frame.py", path, tmp_path / "out")
