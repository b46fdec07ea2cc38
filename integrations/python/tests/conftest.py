"""What the tests share: the program, a stand-in that misbehaves, and a server of pictures on loopback."""

from __future__ import annotations

import functools
import http.server
import os
import threading
from collections.abc import Iterator
from pathlib import Path

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
            self.send_error(int(self.path.rpartition("/")[2]))
        else:
            super().do_GET()

    def log_message(self, format: str, *arguments: object) -> None:
        pass


@pytest.fixture(scope="session")
def origin() -> Iterator[str]:
    """The URL of a loopback server of TestImages."""
    handler = functools.partial(_Handler, directory=str(IMAGES))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()


@pytest.fixture(scope="session")
def urls(origin: str) -> list[str]:
    """URLs of pictures that can be read."""
    return [f"{origin}/{path.relative_to(IMAGES)}" for path in GALLERY]


@pytest.fixture
def cache(tmp_path: Path) -> str:
    """A folder for a cache of the test's own."""
    return str(tmp_path / "cache")
