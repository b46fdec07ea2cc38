"""Lists and shards in object storage: moto's S3 server, which says SlowDown, and a run that is killed."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest

pytest.importorskip("pyarrow")
pytest.importorskip("PIL")
s3fs = pytest.importorskip("s3fs")

from thumbs_worker.img2dataset import layout, ledger, storage  # noqa: E402
from thumbs_worker.img2dataset.__main__ import main  # noqa: E402
from thumbs_worker.img2dataset.storage import Output  # noqa: E402

OPTIONS = [
    "--output_format=webdataset", "--image_size=48", "--resize_mode=keep_ratio_largest", "--resize_only_if_bigger",
    "--number_sample_per_shard=4", "--jobs=1", "--max_wait=0",
]  # fmt: skip


def objects(system: Any, folder: str) -> dict[str, bytes]:
    """The objects of an output that have the same bytes in each run."""
    found = {path.removeprefix(f"{folder}/"): system.cat_file(path) for path in system.find(folder)}
    return {name: data for name, data in found.items() if not name.endswith("_stats.json")}


def test_a_killed_run_goes_on_and_storage_that_is_slow_gets_every_shard(
    program: str, bucket: Any, urls: list[str], origin: str, tmp_path: Path
) -> None:
    lines = "".join(f"{url}\n" for url in [*urls * 3, f"{origin}/status/503", f"{origin}/status/404"])
    bucket.pipe_file("bucket/lists/list.txt", lines.encode())
    local = tmp_path / "list.txt"
    local.write_text(lines)
    assert main(["--url_list", str(local), "--output_folder", str(tmp_path / "here"), *OPTIONS]) == 0
    there = ["--url_list", "s3://bucket/lists", "--output_folder", "s3://bucket/out", *OPTIONS]
    process = subprocess.Popen(
        [sys.executable, "-m", "thumbs_worker.img2dataset", *there], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    while process.poll() is None and not bucket.glob("bucket/out/*_stats.json"):
        # Real time: another process writes them.
        time.sleep(0.05)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert main(there) == 0
    expected = {
        str(path.relative_to(tmp_path / "here")): path.read_bytes()
        for path in (tmp_path / "here").rglob("*") if path.is_file() and not path.name.endswith("_stats.json")
    }  # fmt: skip
    found = objects(bucket, "bucket/out")
    entries = [name for name in found if name.startswith(ledger.FOLDER)]
    assert len(entries) == 1 and set(found) == set(expected)
    assert {name: data for name, data in found.items() if name not in entries} == {
        name: data for name, data in expected.items() if name not in entries
    }
    assert len(bucket.glob("bucket/out/*_stats.json")) == len([name for name in found if name.endswith(".tar")])
    assert main(["verify", "s3://bucket/out"]) == 0
    count = len(found)
    assert main(["--only_failed", "--output_folder", "s3://bucket/out", *OPTIONS]) == 0
    # The tar, the rows, the manifest and the ledger of one more shard.
    assert len(objects(bucket, "bucket/out")) == count + 4
    assert main(["verify", "s3://bucket/out"]) == 0


def test_a_shard_that_was_changed_in_storage_is_found(
    program: str, bucket: Any, urls: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    listed = tmp_path / "list.txt"
    listed.write_text(f"{urls[0]}\n")
    command = ["--url_list", str(listed), "--output_folder", "s3://bucket/files", *OPTIONS, "--output_format=files"]
    assert main(command) == 0 and main(["verify", "s3://bucket/files"]) == 0
    (picture,) = bucket.glob("bucket/files/00000/*.jpg")
    bucket.pipe_file(picture, bucket.cat_file(picture)[:-1])
    assert main(["verify", "s3://bucket/files"]) == 1
    assert "00000 has other bytes" in capsys.readouterr().err
    assert f"bucket/files/{layout.MANIFEST}/00000.manifest" in bucket.find("bucket/files")


def test_the_ledger_of_an_earlier_shard_is_gone_when_its_successor_is_committed(bucket: Any, tmp_path: Path) -> None:
    stale, marker = f"bucket/again/{ledger.FOLDER}/00000.parquet", "bucket/again/00000_stats.json"
    bucket.pipe_file(stale, b"rows of a run that was killed")
    output = Output("s3://bucket/again")
    layout.write_statistics(output.stage, "00000", {})
    with pytest.raises(FileExistsError, match="_ledger/00000.parquet is in the way"):
        output.published("00000")
    columns = layout.pa.schema([])
    entry = {"key": "0", "code": "", "message": "", "first_failed": 0.0, "not_before": 0.0}
    (tmp_path / layout.TEMPORARY).mkdir()
    ledger.write(tmp_path, "00000", columns, [entry])
    bucket.put_file(str(tmp_path / ledger.FOLDER / "00000.parquet"), stale)
    bucket.pipe_file(f"bucket/again/{layout.MANIFEST}/00000.manifest", b'{"files": {}}')
    move = output._move

    def checked(file: str, target: str) -> None:
        assert not bucket.exists(stale) and not bucket.exists(marker)
        move(file, target)

    output._move = checked
    output.published("00000")
    assert bucket.exists(marker)
    output.close()
    # The next run knows the shard by its name alone.
    bucket.pipe_file(stale, b"")
    output = Output("s3://bucket/again")
    output.begin(needs_ledger=False)
    assert layout.done_shards(output.folder) == {0: "00000"} and not (output.folder / ledger.FOLDER).exists()
    output.close()


@pytest.mark.parametrize("has_keys, text, pauses", [(True, "connect", 5), (False, "credentials", 0)])
def test_storage_that_cannot_be_reached_is_tried_again_and_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
    has_keys: bool, text: str, pauses: int,
) -> None:  # fmt: skip
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        monkeypatch.delenv(name)
    # A port on which nothing listens.
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{unused.getsockname()[1]}")
        for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY") if has_keys else ():
            monkeypatch.setenv(name, "a")
        monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
        monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
        monkeypatch.setenv("HOME", str(tmp_path))
        monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
        s3fs.S3FileSystem.clear_instance_cache()
        waited: list[float] = []
        monkeypatch.setattr(storage, "time", Mock(sleep=waited.append))
        (tmp_path / "list.txt").write_text("http://h/\n")
        there = ["--output_folder", "s3://bucket/out", "--url_list"]
        for words in ([*there, str(tmp_path / "list.txt"), *OPTIONS], ["verify", "s3://bucket/out"],
                      [*there, "s3://bucket/list.txt", *OPTIONS, "--output_folder", str(tmp_path / "out")]):  # fmt: skip
            waited.clear()
            assert main(words) == 73 and len(waited) == pauses
            assert text in capsys.readouterr().err
        assert not list(tmp_path.glob("thumbs-output-*"))
    s3fs.S3FileSystem.clear_instance_cache()


def test_storage_that_is_not_there_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--url_list", "gopher://x/y", "--output_folder", "images"]) == 64
    assert "gopher" in capsys.readouterr().err


@pytest.mark.parametrize("output_format", ["webdataset", "files"])
def test_the_driver_of_spark_takes_over_what_its_tasks_have_sent(
    program: str, bucket: Any, urls: list[str], origin: str, tmp_path: Path, output_format: str
) -> None:
    spark_output = pytest.importorskip("thumbs_worker.spark_output")
    listed = tmp_path / "list.txt"
    listed.write_text("".join(f"{url}\n" for url in [*urls[:5], f"{origin}/status/503"]))
    written = []
    for root in (f"s3://bucket/out-{output_format}", str(tmp_path / "here")):
        task = f"{root}/_temporary/{'0' * 32}/0-0"
        command = ["--url_list", str(listed), "--output_folder", task, *OPTIONS, f"--output_format={output_format}"]
        assert main(command) == 0
        reports = [
            {"folder": task, "name": name, "count": count, "successes": successes}
            for name, count, successes in (("00001", 2, 1), ("00000", 4, 4))
        ]
        output = Output(root)
        # Another job's, as Hadoop names it, stays.
        other = f"{root}/_temporary/0/part-00000".removeprefix("s3://")
        system = bucket if "://" in root else storage._system(other)[0]
        system.makedirs(other.rpartition("/")[0], exist_ok=True)
        system.pipe_file(other, b"rows")
        written.append(spark_output._commit(output, reports))
        output.sweep("_temporary", spark_output._JOB)
        assert system.find(f"{root}/_temporary".removeprefix("s3://")) == [other]
        system.rm(f"{root}/_temporary".removeprefix("s3://"), recursive=True)
        assert {name[:5] for name in output.names() if name[0] != "_"} == {"00000", "00001"}
        assert "_SUCCESS" in output.names() and "_temporary" not in output.names() and output.verify() == []
        output.close()
    assert written[0] == written[1] == spark_output.Written(2, 6, 5)
    here = {
        str(path.relative_to(tmp_path / "here")): path.read_bytes()
        for path in (tmp_path / "here").rglob("*") if path.is_file() and not path.name.endswith("_stats.json")
    }  # fmt: skip
    there = objects(bucket, f"bucket/out-{output_format}")
    assert set(here) == set(there)
    assert {name for name in here if here[name] != there[name]} <= {f"{ledger.FOLDER}/00000.parquet"}
