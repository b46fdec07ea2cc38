"""Hosts in Ray and Dask: each is on one worker, which keeps its limit, and one with most of the rows stops no other."""

from __future__ import annotations

import collections
import http.server
import socketserver
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

pa = pytest.importorskip("pyarrow")

from thumbs_worker import Options  # noqa: E402

LIMIT = 2
HOSTS = [f"127.0.8.{number}" for number in range(1, 9)]
# Its rows are three of five.
LARGEST = HOSTS[0]
ROWS = [f"{host}/{row}" for host in HOSTS for row in range(105 if host == LARGEST else 10)]
OPTIONS = Options(sizes=[32], per_host=LIMIT, jobs=1, max_wait="0", disk_cache=0)


class _Crowd(socketserver.ThreadingMixIn, http.server.HTTPServer):
    """Serves one picture on several hosts, and counts the requests under way of each."""

    daemon_threads = True
    request_queue_size = 256

    def __init__(self, picture: bytes) -> None:
        super().__init__(("0.0.0.0", 0), _Handler)
        self.picture = picture
        self.changed = threading.Condition()
        self.under_way: collections.Counter[str] = collections.Counter()
        self.most: collections.Counter[str] = collections.Counter()
        self.answered: collections.Counter[str] = collections.Counter()

    def urls(self) -> list[str]:
        return [f"http://{host}:{self.server_port}/{path}" for host, _, path in (row.partition("/") for row in ROWS)]

    @property
    def others(self) -> int:
        """The answers of all hosts but the largest."""
        return sum(self.answered.values()) - self.answered[LARGEST]

    def answer(self, host: str) -> None:
        with self.changed:
            self.under_way[host] += 1
            self.most[host] = max(self.most[host], self.under_way[host])
            if host == LARGEST:
                # The largest host responds when all others have.
                self.changed.wait_for(lambda: self.others == len(ROWS) - 105)
            else:
                # Long enough for another worker's requests, of which there should be none.
                self.changed.wait(0.02)
            self.under_way[host] -= 1
            self.answered[host] += 1
            self.changed.notify_all()


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Crowd

    def do_GET(self) -> None:
        self.server.answer(self.headers["Host"].partition(":")[0])
        self.send_response(200)
        self.send_header("Content-Length", str(len(self.server.picture)))
        self.end_headers()
        self.wfile.write(self.server.picture)

    def log_message(self, format: str, *arguments: object) -> None:
        pass


@pytest.fixture
def crowd(images: list[Path]) -> Iterator[_Crowd]:
    with _Crowd(images[0].read_bytes()) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


def _check(crowd: _Crowd, urls: list[str], statuses: list[str]) -> None:
    assert sorted(urls) == sorted(crowd.urls()) and set(statuses) == {"ok"}
    assert max(crowd.most.values()) <= LIMIT


def test_a_job_of_ray_keeps_the_limits_of_hosts(program: str, crowd: _Crowd) -> None:
    ray = pytest.importorskip("ray")
    from thumbs_worker.ray import thumbnails

    ray.init(num_cpus=3, include_dashboard=False, log_to_driver=False)
    try:
        dataset = ray.data.from_items([{"url": url} for url in crowd.urls()])
        made = thumbnails(dataset, options=OPTIONS, concurrency=2, window=32, program=program)
        rows = made.take_all()
    finally:
        ray.shutdown()
    assert set(rows[0]) == {"url", "thumbs"}
    _check(crowd, [row["url"] for row in rows], [row["thumbs"]["status"] for row in rows])


def test_a_job_of_dask_keeps_the_limits_of_hosts(program: str, crowd: _Crowd) -> None:
    dd = pytest.importorskip("dask.dataframe")
    pd = pytest.importorskip("pandas")
    distributed = pytest.importorskip("distributed")
    from thumbs_worker.dask import thumbnails

    frame = dd.from_pandas(pd.DataFrame({"url": crowd.urls(), "n": range(len(ROWS))}), npartitions=6)
    made = thumbnails(frame, options=OPTIONS, program=program)
    with distributed.Client(n_workers=2, threads_per_worker=1, dashboard_address=None):
        rows = made.compute()
    assert list(rows.columns)[:3] == ["url", "n", "thumb_status"]
    _check(crowd, list(rows["url"]), list(rows["thumb_status"]))
