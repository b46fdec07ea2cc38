"""Lists and shards in object storage: moto's S3 server, which says SlowDown, and a run that is killed."""

from __future__ import annotations

import collections
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest

pytest.importorskip("pyarrow")
pytest.importorskip("PIL")
s3fs = pytest.importorskip("s3fs")
pytest.importorskip("moto.server")
from moto.server import DomainDispatcherApplication, create_backend_app  # noqa: E402
from werkzeug.serving import make_server  # noqa: E402

from thumbs_worker.img2dataset import layout, ledger, storage  # noqa: E402
from thumbs_worker.img2dataset.__main__ import main  # noqa: E402
from thumbs_worker.img2dataset.storage import Output  # noqa: E402

SLOW_DOWN = b"<?xml version='1.0'?><Error><Code>SlowDown</Code><Message>Please reduce your request rate.</Message></Error>"
OPTIONS = [
    "--output_format=webdataset", "--image_size=48", "--resize_mode=keep_ratio_largest", "--resize_only_if_bigger",
    "--number_sample_per_shard=4", "--jobs=1", "--max_wait=0",
]  # fmt: skip


@pytest.fixture(scope="module")
def bucket() -> Iterator[Any]:
    """The file system of a server with a bucket, on which every first write of an object is refused, twice."""
    inner = DomainDispatcherApplication(create_backend_app)
    writes: collections.Counter[str] = collections.Counter()

    def application(environment: Any, respond: Any) -> Any:
        path = environment["PATH_INFO"]
        if environment["REQUEST_METHOD"] == "PUT" and path.startswith("/bucket/out"):
            writes[path] += 1
            if writes[path] <= 2:
                environment["wsgi.input"].read(int(environment.get("CONTENT_LENGTH") or 0))
                respond("503 Slow Down", [("Content-Type", "application/xml")])
                return [SLOW_DOWN]
        return inner(environment, respond)

    server = make_server("127.0.0.1", 0, application, threaded=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    names = {
        "AWS_ENDPOINT_URL": f"http://127.0.0.1:{server.server_port}", "AWS_ACCESS_KEY_ID": "a", "AWS_REGION": "us-east-1",
        "AWS_SECRET_ACCESS_KEY": "b", "AWS_DEFAULT_REGION": "us-east-1", "AWS_MAX_ATTEMPTS": "1",
    }  # fmt: skip
    before = {name: os.environ.get(name) for name in names}
    os.environ.update(names)
    system = s3fs.S3FileSystem(use_listings_cache=False)
    system.mkdir("bucket")
    yield system
    for name, value in before.items():
        if value is None:
            del os.environ[name]
        else:
            os.environ[name] = value
    server.shutdown()


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
    layout.write_statistics(output.folder, "00000", {})
    put = output._put

    def checked(path: Path) -> None:
        assert f"bucket/again/{path.name}" == marker and not bucket.exists(stale)
        put(path)

    output._put = checked
    output.published("00000")
    assert bucket.exists(marker)
    output.close()
    # The next run knows the shard by its name alone.
    bucket.pipe_file(stale, b"")
    output = Output("s3://bucket/again")
    output.begin(overwrite=False, needs_ledger=False)
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
