"""What the tests share: the program, a stand-in that misbehaves, and a server of pictures on loopback."""

from __future__ import annotations

import collections
import contextlib
import functools
import http.server
import os
import sys
import threading
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from crowd import Crowd

from thumbs_worker import ProgramNotFound, find_program

ROOT = Path(__file__).resolve().parents[3]
IMAGES = ROOT / "TestImages"
FAKE = Path(__file__).with_name("fake_thumbs.py")
SLOW_DOWN = b"<?xml version='1.0'?><Error><Code>SlowDown</Code><Message>Please reduce your request rate.</Message></Error>"
# What can be read among the test pictures of a landscape, in the order of their names.
GALLERY = sorted(path for path in (IMAGES / "gallery").rglob("*") if path.suffix.lower() in {".jpg", ".png"})


@pytest.fixture(scope="session")
def program() -> str:
    """The real program: $THUMBS, or a build of this tree; else the test is skipped."""
    for candidate in (None, ROOT / ".build/release/thumbs", ROOT / ".build/gate/release/thumbs"):
        try:
            found = find_program(candidate)
        except ProgramNotFound:
            continue
        os.environ["THUMBS"] = found
        return found
    pytest.skip("thumbs is not built")


@pytest.fixture
def fake() -> str:
    """The stand-in."""
    return str(FAKE)


class _Handler(http.server.SimpleHTTPRequestHandler):
    """Serves files over connections that stay open; /status/N responds with that status."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        if self.path.startswith("/status/"):
            self.send_error(int(self.path.partition("?")[0].rpartition("/")[2]))
        else:
            super().do_GET()

    def handle(self) -> None:
        # A client that has enough drops the connection.
        with contextlib.suppress(ConnectionError):
            super().handle()

    def log_message(self, format: str, *arguments: object) -> None:
        pass


@pytest.fixture(scope="session")
def serve() -> Iterator[Callable[[Path], str]]:
    """Starts a loopback server of a folder and returns its URL."""
    with contextlib.ExitStack() as stack:

        def start(folder: Path) -> str:
            handler = functools.partial(_Handler, directory=str(folder))
            server = stack.enter_context(http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler))
            threading.Thread(target=server.serve_forever, daemon=True).start()
            stack.callback(server.shutdown)
            return f"http://127.0.0.1:{server.server_address[1]}"

        yield start


@pytest.fixture(scope="session")
def origin(serve: Callable[[Path], str]) -> str:
    """The URL of a loopback server of TestImages."""
    return serve(IMAGES)


@pytest.fixture(scope="session")
def urls(origin: str) -> list[str]:
    """URLs of pictures that can be read."""
    return [f"{origin}/{quote(str(path.relative_to(IMAGES)))}" for path in GALLERY]


@pytest.fixture(scope="session")
def images() -> list[Path]:
    """The files of these URLs."""
    return GALLERY


@pytest.fixture
def crowd(images: list[Path]) -> Iterator[Crowd]:
    """A server of many hosts."""
    with Crowd(images[0].read_bytes()) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


@pytest.fixture
def cache(tmp_path: Path) -> str:
    """A folder for a cache of the test's own."""
    return str(tmp_path / "cache")


@pytest.fixture(scope="session")
def engine_environment() -> dict[str, str]:
    """Spark in local cluster mode on loopback, with this Python."""
    cluster = "--master local-cluster[2,1,1024] --conf spark.ui.enabled=false"
    return {
        "PYSPARK_SUBMIT_ARGS": f"{cluster} pyspark-shell",
        "PYSPARK_PYTHON": sys.executable,
        "SPARK_LOCAL_IP": "127.0.0.1",
        "RAY_USAGE_STATS_ENABLED": "0",
    }


@pytest.fixture(scope="module")
def bucket() -> Iterator[Any]:
    """The file system of a server with a bucket, on which every first write of an object is refused, twice."""
    s3fs = pytest.importorskip("s3fs")
    pytest.importorskip("moto.server")
    from moto.server import DomainDispatcherApplication, create_backend_app
    from werkzeug.serving import make_server

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
    address = f"http://127.0.0.1:{server.server_port}"
    # What moto stores belongs to this process, not to the server: an earlier one has left its bucket.
    urllib.request.urlopen(urllib.request.Request(f"{address}/moto-api/reset", method="POST")).close()
    names = {
        "AWS_ENDPOINT_URL": address, "AWS_ACCESS_KEY_ID": "a", "AWS_REGION": "us-east-1",
        "AWS_SECRET_ACCESS_KEY": "b", "AWS_DEFAULT_REGION": "us-east-1", "AWS_MAX_ATTEMPTS": "1",
    }  # fmt: skip
    before = {name: os.environ.get(name) for name in names}
    os.environ.update(names)
    # Earlier ones have the address of another server.
    s3fs.S3FileSystem.clear_instance_cache()
    system = s3fs.S3FileSystem(use_listings_cache=False)
    system.mkdir("bucket")
    yield system
    for name, value in before.items():
        if value is None:
            del os.environ[name]
        else:
            os.environ[name] = value
    s3fs.S3FileSystem.clear_instance_cache()
    server.shutdown()
