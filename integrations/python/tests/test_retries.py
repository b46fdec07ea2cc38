"""Rows that fail for a passing reason, those that may not be fetched, and whole files: a server that fails by plan."""

from __future__ import annotations

import collections
import http.server
import importlib.util
import io
import json
import queue
import struct
import tarfile
import threading
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

pa = pytest.importorskip("pyarrow")
pytest.importorskip("PIL")
import pyarrow.parquet as pq  # noqa: E402

from thumbs_worker import Options, WorkerFailed  # noqa: E402
from thumbs_worker.img2dataset import download, layout, ledger, robots  # noqa: E402
from thumbs_worker.img2dataset.__main__ import main  # noqa: E402
from thumbs_worker.img2dataset.fill import Filler  # noqa: E402
from thumbs_worker.img2dataset.reader import Shard  # noqa: E402
from thumbs_worker.img2dataset.resize import Resizer  # noqa: E402
from thumbs_worker.img2dataset.settings import SettingError, Settings  # noqa: E402
from thumbs_worker.img2dataset.storage import Output  # noqa: E402
from thumbs_worker.img2dataset.tfrecord import Records  # noqa: E402
from thumbs_worker.protocol import Failure, Result  # noqa: E402

Plan = Callable[[str, int], tuple[int, dict[str, str], bytes]]


class Origin:
    """A server whose `plan` makes a response of a path and of how often it was requested before."""

    def __init__(self, plan: Plan) -> None:
        self.counts: collections.Counter[str] = collections.Counter()
        lock = threading.Lock()
        origin = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                with lock:
                    count = origin.counts[self.path]
                    origin.counts[self.path] += 1
                status, fields, body = plan(self.path, count)
                self.send_response(status)
                for name, value in fields.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *arguments: object) -> None:
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def url(self, path: str) -> str:
        return f"http://127.0.0.1:{self.server.server_address[1]}/{path}"


@pytest.fixture
def planned() -> Iterator[Callable[[Plan], Origin]]:
    """Starts servers."""
    origins: list[Origin] = []

    def start(plan: Plan) -> Origin:
        origins.append(Origin(plan))
        return origins[-1]

    yield start
    for origin in origins:
        origin.server.shutdown()


@pytest.fixture
def picture(images: list[Path]) -> bytes:
    """A JPEG."""
    return next(path for path in images if path.suffix == ".jpg").read_bytes()


@pytest.fixture
def run(program: str, tmp_path: Path) -> Callable[..., Path]:
    """Downloads URLs into a folder, which it returns."""

    def start(urls: list[str], name: str = "out", **settings: Any) -> Path:
        listed = tmp_path / f"{name}.txt"
        listed.write_text("".join(f"{url}\n" for url in urls))
        chosen = {
            "output_format": "webdataset", "image_size": 64, "resize_mode": "keep_ratio_largest", "jobs": 1,
            "resize_only_if_bigger": True, "number_sample_per_shard": 4, "output_folder": str(tmp_path / name),
            "max_wait": "0", **settings,
        }  # fmt: skip
        download(chosen.pop("url_list", str(listed)), program=program, **chosen)
        return Path(str(chosen["output_folder"]))

    return start


def rows_of(folder: Path) -> dict[str, dict[str, Any]]:
    """The rows by their keys, those of later shards in place of earlier ones."""
    rows = (row for path in sorted(folder.glob("*.parquet")) for row in pq.read_table(path).to_pylist())
    return {row["key"]: row for row in rows}


def test_attempts_at_a_row_are_one_failure_of_those_allowed(planned: Any, picture: bytes, run: Any) -> None:
    def plan(path: str, count: int) -> tuple[int, dict[str, str], bytes]:
        if path == "/gone":
            return 404, {}, b""
        return (503, {}, b"") if path.startswith("/busy") and count == 0 else (200, {}, picture)

    origin = planned(plan)
    urls = [origin.url(name) for name in ("busy1", "busy2", "gone", "ok")]
    run(urls, options=Options(max_failures=1), max_wait="30s")
    for allowed in (0, "20%"):
        with pytest.raises(WorkerFailed, match="max_failures") as raised:
            run(urls, f"out-{allowed}", options=Options(max_failures=allowed), max_wait="30s")
        assert raised.value.status == 3
    with pytest.raises(ValueError, match="many"):
        run(urls, "other", options=Options(max_failures="many"))


def test_what_passes_soon_is_had_in_one_run(planned: Any, picture: bytes, run: Any) -> None:
    def plan(path: str, count: int) -> tuple[int, dict[str, str], bytes]:
        if path.startswith("/busy") and count == 0:
            return 429, {"Retry-After": "1"}, b""
        return 200, {}, picture

    origin = planned(plan)
    urls = [origin.url(f"{'busy' if number % 3 == 0 else 'ok'}{number}") for number in range(10)]
    folder = run(urls, max_wait="30s")
    assert [row["status"] for row in rows_of(folder).values()] == ["success"] * 10
    assert not (folder / ledger.FOLDER).exists()
    # A row comes into its own place, whenever it came.
    plain = run(urls, "plain")
    for shard in folder.glob("*.tar"):
        assert shard.read_bytes() == (plain / shard.name).read_bytes()


def test_a_full_window_waits_for_results_alone(tmp_path: Path) -> None:
    timeouts: list[tuple[int, float | None]] = []
    failure = Failure("download", "http-status", "busy", True)
    results = [Result(0, 0, "failed", error=failure), Result(1, 1, "failed"), Result(2, 2, "failed")]

    class Ready(queue.Queue[Any]):
        def get(self, block: bool = True, timeout: float | None = None) -> Any:
            timeouts.append((len(filler._places), timeout))
            return super().get(block, timeout)

    class Stub:
        window = 1

        def submit(self, item: Any, index: int, deliver: Callable[[Any], None]) -> None:
            deliver(results[index])

    (tmp_path / layout.TEMPORARY).mkdir()
    settings = Settings(url_list="list.txt", output_format="dummy", extract_exif=False)
    filler = Filler(settings, Resizer(settings), Options(max_wait="30s"), tmp_path, lambda shard, document: None)
    filler._ready = Ready()
    rows = pa.table({"url": ["http://a/", "http://b/"]})
    filler.run(Stub(), iter([Shard(0, "00000", rows, ["0", "1"], [None, None])]))
    # The first row is parked while the second one is under way, and then comes again.
    full = [timeout for under_way, timeout in timeouts if under_way == 1]
    assert full == [None] * 3 and len(timeouts) > 3


def test_rows_that_may_come_later_are_in_the_ledger_and_come_with_an_extra_shard(
    planned: Any, picture: bytes, run: Any
) -> None:
    is_up = threading.Event()

    def plan(path: str, count: int) -> tuple[int, dict[str, str], bytes]:
        if path == "/gone":
            return 404, {}, b""
        return (200, {}, picture) if path.startswith("/ok") or is_up.is_set() else (503, {"Retry-After": "900"}, b"")

    origin, other = planned(plan), planned(plan)
    urls = [origin.url("ok1"), other.url("down1"), origin.url("gone"), origin.url("ok2"), other.url("down2")]
    folder = run(urls)
    before = {path.name: path.read_bytes() for path in folder.glob("0*")}
    found = ledger.pending(folder, patience=1000)
    assert found is not None
    assert found.column("url").to_pylist() == [other.url("down1"), other.url("down2")]
    assert {"rate-limited", "host-closed"} >= set(found.column("code").to_pylist())
    assert ledger.pending(folder) is None and ledger.pending(folder, until=0.0, patience=1000) is None
    is_up.set()
    # They are not due yet, so nothing is done.
    run([], only_failed=True)
    assert len(list(folder.glob("*.tar"))) == 2
    run([], only_failed=True, max_wait="20m")
    rows = rows_of(folder)
    assert [row["status"] for row in rows.values()] == ["success", "success", "failed_to_download", "success", "success"]
    assert {path.name: path.read_bytes() for path in folder.glob("0*") if path.name in before} == before
    with tarfile.open(folder / "00002.tar") as tar:
        assert [name for name in tar.getnames() if name.endswith(".jpg")] == ["000001.jpg", "000010.jpg"]
    assert ledger.pending(folder, patience=1000) is None
    assert main(["verify", str(folder)]) == 0


def test_a_shard_that_changed_or_is_missing_is_found(
    planned: Any, picture: bytes, run: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    origin = planned(lambda path, count: (200, {}, picture))
    for form in ("webdataset", "files", "parquet"):
        folder = run([origin.url(str(number)) for number in range(9)], form, output_format=form)
        assert main(["verify", str(folder)]) == 0
        changed = {"webdataset": "00000.tar", "files": "00000/000000001.jpg", "parquet": "00000.parquet"}[form]
        if form == "files":
            changed = next(str(path.relative_to(folder)) for path in sorted(folder.rglob("*.jpg")))
        data = bytearray((folder / changed).read_bytes())
        data[len(data) // 2] ^= 1
        (folder / changed).write_bytes(data)
        (folder / "00002.parquet").unlink()
        (folder / "stray").touch()
        assert main(["verify", str(folder)]) == 1
        lines = capsys.readouterr().err.splitlines()
        problems = [f"{changed.partition('/')[0]} has other bytes than when it was written", "00002.parquet is missing"]
        assert [line for line in lines if not line.startswith("note:")] == [*problems, "stray is in no manifest"]
    assert main(["verify", str(folder.parent)]) == 1


def test_two_runs_have_the_same_manifest(planned: Any, picture: bytes, run: Any) -> None:
    origin = planned(lambda path, count: (404, {}, b"") if "7" in path else (200, {}, picture))
    urls = [origin.url(str(number)) for number in range(10)]
    one, two = (run(urls, name, output_format="files") for name in ("one", "two"))
    names = sorted(path.name for path in (one / "_manifest").iterdir())
    assert names == ["00000.manifest", "00001.manifest", "00002.manifest"]
    for name in names:
        assert (one / "_manifest" / name).read_bytes() == (two / "_manifest" / name).read_bytes()


def test_servers_that_forbid_the_use_of_an_image_are_obeyed(planned: Any, picture: bytes, run: Any) -> None:
    tags = {"/free": "nofollow", "/all": "NoAI", "/mine": "mybot: noindex", "/others": "otherbot: noai"}
    origin = planned(lambda path, count: (200, {"X-Robots-Tag": tags[path]}, picture))
    urls = [origin.url(path[1:]) for path in tags]
    rows = list(rows_of(run(urls, user_agent_token="mybot")).values())
    assert [row["status"] for row in rows] == ["success", "failed_to_download", "failed_to_download", "success"]
    assert rows[1]["error_message"] == "Use of image disallowed by X-Robots-Tag directive"
    for name, directives in (("none", []), ("other", "nofollow")):
        rows = list(rows_of(run(urls, name, disallowed_header_directives=directives)).values())
        expected = "failed_to_download" if directives else "success"
        assert [row["status"] for row in rows] == [expected, "success", "success", "success"]


@pytest.mark.skipif(importlib.util.find_spec("protego") is None, reason="Protego is not installed")
def test_robots_txt_is_obeyed_when_asked_and_fetched_once_a_host(planned: Any, picture: bytes, run: Any) -> None:
    rules = b"User-agent: *\nDisallow: /private\nAllow: /private/but\n\nUser-agent: mybot\nDisallow: /*.gif$\n"

    def plan(status: int) -> Plan:
        return lambda path, count: (status, {}, rules) if path == "/robots.txt" else (200, {}, picture)

    strict, none, broken = planned(plan(200)), planned(plan(404)), planned(plan(500))
    paths = ["a.jpg", "private/a.jpg", "private/but/a.jpg", "a.gif", "a.gif?b"]
    urls = [origin.url(path) for origin in (strict, none, broken) for path in paths]
    for token, refused in ((None, {1}), ("mybot", {3})):
        folder = run(urls, f"out-{token}", robots=True, user_agent_token=token, number_sample_per_shard=15)
        rows = list(rows_of(folder).values())
        expected = [number in refused or number >= 10 for number in range(15)]
        assert [row["status"] == "failed_to_download" for row in rows] == expected
        assert "robots.txt" in rows[min(refused)]["error_message"]
        found = ledger.pending(folder, patience=1000)
        assert found is not None and found.column("code").to_pylist() == ["robots-unreachable"] * 5
    assert strict.counts["/robots.txt"] == 2 and strict.counts["/private/a.jpg"] == 1
    assert broken.counts["/a.jpg"] == 0


@pytest.mark.skipif(importlib.util.find_spec("protego") is None, reason="Protego is not installed")
def test_rules_of_some_hosts_are_kept_and_the_first_500_kib_are_read(
    planned: Any, program: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = b"User-agent: *\nDisallow: /a\n#" + b"-" * (500 << 10) + b"\nDisallow: /b\n"
    first, second, third = (planned(lambda path, count: (200, {}, text)) for _ in range(3))
    monkeypatch.setattr(robots, "_MOST_HOSTS", 2)
    options = robots.robots_options(Options(max_wait="30s", max_failures=0))
    assert (options.max_wait, options.max_failures) == ("0", None)
    rules = robots.Robots("thumbs", options, program)
    ready: queue.SimpleQueue[Any] = queue.SimpleQueue()
    for origin in (first, second, first, third, first, second):
        rules.ask(origin.url("a"), ready.put)
        found = ready.get(timeout=60)
        assert [rules.refusal(origin.url(path), found) is not None for path in "ab"] == [True, False]
    rules.close()
    assert [origin.counts["/robots.txt"] for origin in (first, second, third)] == [1, 2, 1]


def test_whole_files_have_their_own_hash_and_may_be_kept_as_they_are(
    planned: Any, picture: bytes, run: Any, tmp_path: Path
) -> None:
    origin = planned(lambda path, count: (200, {}, picture if path != "/text" else b"no picture"))
    urls = [origin.url("a"), origin.url("text")]
    digest = sha256(picture).hexdigest()
    folder = run(urls, "whole", whole_files=True)
    first, second = rows_of(folder).values()
    assert first["sha256"] == digest and second["status"] == "failed_to_resize" and second["sha256"] is None
    if importlib.util.find_spec("exifread") is not None:
        assert isinstance(json.loads(first["exif"]), dict)
    for name, settings, count in (
        ("skip", {"skip_reencode": True, "resize_mode": "no"}, 1), ("all", {"disable_all_reencoding": True}, 2),
    ):  # fmt: skip
        folder = run(urls, name, output_format="parquet", **settings)
        kept = [row["jpg"] for row in pq.read_table(folder / "00000.parquet").to_pylist() if row["jpg"] is not None]
        assert kept == [picture, b"no picture"][:count]
    small = run(urls, "small", skip_reencode=True, output_format="parquet")
    assert len(pq.read_table(small / "00000.parquet").to_pylist()[0]["jpg"]) < len(picture)
    listed = tmp_path / "list.parquet"
    pq.write_table(pa.table({"url": [urls[0]] * 2, "sum": [digest, "0" * 64]}), listed)
    folder = run([], "verified", url_list=str(listed), input_format="parquet", verify_hash=["sum", "sha256"])
    rows = rows_of(folder).values()
    assert [(row["status"], row["error_message"]) for row in rows] == [
        ("success", None), ("failed_to_download", "hash mismatch"),
    ]  # fmt: skip
    assert [row["sha256"] for row in rows] == [digest, None]


def test_a_row_that_comes_later_is_still_compared_with_the_hash_of_the_list(
    planned: Any, picture: bytes, run: Any, tmp_path: Path
) -> None:
    is_up = threading.Event()
    origin = planned(lambda path, count: (200, {}, picture) if is_up.is_set() else (503, {}, b""))
    listed = tmp_path / "list.parquet"
    sums = [sha256(picture).hexdigest(), "0" * 64]
    pq.write_table(pa.table({"url": [origin.url("a"), origin.url("b")], "sum": sums}), listed)
    options = {"verify_hash": ["sum", "sha256"]}
    folder = run([], url_list=str(listed), input_format="parquet", **options)
    assert [row["status"] for row in rows_of(folder).values()] == ["failed_to_download"] * 2
    run([origin.url("a")], "plain")
    with pytest.raises(SettingError, match="sha256"):
        run([], "plain", only_failed=True, max_wait="20m", **options)
    is_up.set()
    run([], only_failed=True, max_wait="20m", **options)
    assert [(row["status"], row["error_message"]) for row in rows_of(folder).values()] == [
        ("success", None), ("failed_to_download", "hash mismatch"),
    ]  # fmt: skip


def test_a_folder_has_one_run_at_a_time(planned: Any, picture: bytes, run: Any, tmp_path: Path) -> None:
    has_begun, is_up = threading.Event(), threading.Event()

    def plan(path: str, count: int) -> tuple[int, dict[str, str], bytes]:
        has_begun.set()
        assert is_up.wait(60)
        return 200, {}, picture

    origin = planned(plan)
    urls = [origin.url(str(number)) for number in range(6)]
    first = threading.Thread(target=run, args=(urls,))
    first.start()
    try:
        assert has_begun.wait(60)
        for settings in ({}, {"only_failed": True, "url_list": ""}):
            with pytest.raises(BlockingIOError, match="another run"):
                run(urls, "other", **{**settings, "output_folder": str(tmp_path / "out")})
    finally:
        is_up.set()
        first.join()
    assert [row["status"] for row in rows_of(tmp_path / "out").values()] == ["success"] * 6
    assert Output(str(tmp_path / "out")).verify() == []
    assert not list(run([], only_failed=True, url_list="").glob("00002*"))


@pytest.mark.parametrize("form", ["webdataset", "files", "parquet"])
def test_a_shard_replaces_what_an_interrupted_commit_left_of_another(
    tmp_path: Path, form: str
) -> None:
    columns = pa.schema([("url", pa.string())])

    def filled(name: str, url: str, entries: list[dict[str, Any]]) -> Path:
        folder = tmp_path / name
        folder.mkdir()
        writer = layout.WRITERS[form](folder, "00000", layout.schema(columns, False, None), "jpg")
        writer.write(b"image", None, {"url": url, "key": f"0000{len(url)}", "status": "success"})
        ledger.write(folder, "00000", columns, entries)
        layout.write_manifest(folder, "00000", writer.close(), {"count": 1, "successes": 1}, completes=True)
        layout.write_statistics(folder, "00000", {})
        return folder

    output = tmp_path / "out"
    output.mkdir()
    entry = ledger.entry({"url": "http://first/", "key": "00001"}, Failure("download", "http-status", "", True), None)
    first, second = filled("first", "http://first/", [entry]), filled("second", "http://other/", [])
    (first / "00000_stats.json").unlink()
    Output(str(output)).adopt(str(first), "00000", "00001")
    assert (output / ledger.FOLDER / "00001.parquet").exists()
    Output(str(output)).adopt(str(second), "00000", "00001")
    assert [row["url"] for row in pq.read_table(output / "00001.parquet").to_pylist()] == ["http://other/"]
    assert ledger.pending(output) is None and Output(str(output)).verify() == []
    assert pq.read_table(output / "00001.parquet.before").to_pylist()[0]["url"] == "http://first/"
    (output / "00002.tar").write_text("a user's")
    with pytest.raises(FileExistsError, match="00002.tar is in the way"):
        Output(str(output)).adopt(str(second), "00000", "00002")
    assert (output / "00002.tar").read_text() == "a user's"


def test_dummy_output_is_statistics_alone(planned: Any, picture: bytes, run: Any) -> None:
    origin = planned(lambda path, count: (200, {}, picture))
    folder = run([origin.url("a")], output_format="dummy")
    assert [path.name for path in folder.iterdir() if not path.name.startswith("_")] == ["00000_stats.json"]
    assert json.loads((folder / "00000_stats.json").read_text())["successes"] == 1


@pytest.mark.skipif(importlib.util.find_spec("google_crc32c") is None, reason="google-crc32c is not installed")
def test_tensorflow_records_hold_the_image_and_its_columns(planned: Any, picture: bytes, run: Any) -> None:
    origin = planned(lambda path, count: (200, {}, picture) if path == "/a" else (404, {}, b""))
    data = (run([origin.url("a"), origin.url("b")], output_format="tfrecord") / "00000.tfrecord").read_bytes()
    (length,) = struct.unpack("<Q", data[:8])
    assert len(data) == 8 + 4 + length + 4
    # Read by the package tfrecord as these values.
    stream = io.BytesIO()
    Records(stream).write({"n": -1, "f": 0.5, "t": None, "l": [1, 2]})
    assert stream.getvalue().hex() == (
        "3e00000000000000d9d240e70a3c0a130a016e120e1a0c0a0affffffffffffffffff010a0d0a0166120812060a040000"
        "003f0a090a017412040a020a000a0b0a016c12061a040a0201023f8823af"
    )
    stream = io.BytesIO()
    Records(stream).write({"large": [1e39, -1e39, 3.4e38]})
    assert struct.pack("<3f", float("inf"), float("-inf"), 3.4e38) in stream.getvalue()
