"""What the tests share: the program, a stand-in that misbehaves, and a server of pictures on loopback."""

from __future__ import annotations

import contextlib
import functools
import http.server
import os
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import quote

import pytest

from thumbs_worker import ProgramNotFound, find_program

ROOT = Path(__file__).resolve().parents[3]
IMAGES = ROOT / "TestImages"
FAKE = Path(__file__).with_name("fake_thumbs.py")
# What can be read among the test pictures of a landscape, in the order of their names.
GALLERY = sorted(path for path in (IMAGES / "gallery").rglob("*") if path.suffix.lower() in {".jpg", ".png"})


@pytest.fixture(scope="session")
def program() -> str:
    """The real program: $THUMBS, or a build of this tree; else the test is skipped."""
    for candidate in (None, ROOT / ".build/release/thumbs", ROOT / ".build/debug/thumbs"):
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
