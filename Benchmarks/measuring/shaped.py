"""An origin behind a slow link: a copy of a photo search whose answers all share one bandwidth and one latency.

It speaks Unsplash's search, so that `thumbs --provider unsplash:BASE` works with any access key. Every
photo has the bytes of one of the files it was given, in turn. What was sent can be asked for at /sent, unshaped.
"""

import asyncio
import contextlib
import json
import random
import threading
import time
from dataclasses import dataclass
from urllib.parse import parse_qs, urlsplit

CHUNK = 4096
HEAD_END = b"\r\n\r\n"


@dataclass
class Link:
    """A link: `rate` in bits a second, shared by all connections; `latency` and `jitter` in seconds, to and fro."""

    rate: float = 20e6
    latency: float = 0.05
    jitter: float = 0.0

    def __post_init__(self):
        self._free = 0.0

    async def wait_for_answer(self):
        """The time between a request and the first byte of its answer."""
        await asyncio.sleep(max(0.0, self.latency + random.uniform(-self.jitter, self.jitter)))

    async def send(self, writer, data, is_gone):
        """Sends in turns with the other connections, a chunk at a time. Returns how much was sent before the end."""
        for start in range(0, len(data), CHUNK):
            chunk = data[start : start + CHUNK]
            now = time.monotonic()
            turn = max(now, self._free)
            self._free = turn + len(chunk) * 8 / self.rate
            await asyncio.sleep(self._free - now)
            if is_gone():
                return start
            writer.write(chunk)
            await writer.drain()
        return len(data)


class ShapedOrigin:
    """Serves `photos`, a list of file contents, as a search of `total` photos."""

    def __init__(self, photos, link, total=10_000):
        self._photos = photos
        self._link = link
        self._total = total
        self.base = None
        self.reset()

    def reset(self):
        """Forgets what was sent."""
        self.sent = {}
        self.requests = {}

    @property
    def report(self):
        """What was sent: bytes and requests for each photo, by its number."""
        return {"bytes": sum(self.sent.values()), "sent": self.sent, "requests": self.requests}

    async def serve(self, port=0):
        """Begins to listen; returns the server."""
        server = await asyncio.start_server(self._talk, "127.0.0.1", port)
        self.base = "http://127.0.0.1:%d" % server.sockets[0].getsockname()[1]
        return server

    async def _talk(self, reader, writer):
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            await self._link.wait_for_answer()  # The handshake.
            while True:
                head = (await reader.readuntil(HEAD_END)).decode("latin-1")
                target = head.split(" ", 2)[1]
                await self._answer(urlsplit(target), reader, writer)
        writer.close()

    async def _answer(self, target, reader, writer):
        if target.path == "/sent":
            body = json.dumps(self.report).encode()
            writer.write(self._head(200, "application/json", body) + body)
            await writer.drain()
            return
        await self._link.wait_for_answer()
        photo = target.path.removeprefix("/photo/")
        if photo != target.path and photo.isdecimal():
            body, kind = self._photos[int(photo) % len(self._photos)], "image/jpeg"
            self.requests[photo] = self.requests.get(photo, 0) + 1
        elif target.path == "/search/photos":
            body, kind = self._page(parse_qs(target.query)), "application/json"
        else:
            body, kind = b"{}", "application/json"
        data = self._head(200, kind, body) + body
        sent = await self._link.send(writer, data, reader.at_eof)
        if kind == "image/jpeg":
            self.sent[photo] = self.sent.get(photo, 0) + sent
        if sent < len(data):
            raise ConnectionResetError

    @staticmethod
    def _head(status, kind, body):
        fields = f"HTTP/1.1 {status} OK\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n"
        return (fields + "Cache-Control: max-age=86400\r\nAccept-Ranges: none\r\n\r\n").encode()

    def _page(self, query):
        page, size = (int(query.get(name, [default])[0]) for name, default in (("page", "1"), ("per_page", "30")))
        numbers = range((page - 1) * size, min(page * size, self._total))
        pages = -(-self._total // size)
        results = [self._photo(number) for number in numbers]
        return json.dumps({"total": self._total, "total_pages": pages, "results": results}).encode()

    def _photo(self, number):
        raw = f"{self.base}/photo/{number}"
        name, site = f"p{number}", "https://unsplash.com"
        return {
            "id": name, "width": 3000, "height": 2000, "description": f"photo {number}", "color": "#808080",
            "urls": {key: raw for key in ("raw", "full", "regular", "small", "thumb")},
            "links": {
                "self": f"{self.base}/photos/{name}", "html": f"{site}/photos/{name}",
                "download": f"{site}/photos/{name}/download", "download_location": f"{self.base}/photos/{name}/download",
            },
            "user": {
                "id": "u", "username": "u", "name": "A Photographer", "first_name": "A", "last_name": "Photographer",
                "links": {"self": f"{self.base}/users/u", "html": f"{site}/@u", "photos": f"{self.base}/users/u/photos"},
            },
        }


@contextlib.contextmanager
def shaped_origin(photos, link, total=10_000):
    """Serves from a thread of its own; yields the `ShapedOrigin`."""
    origin = ShapedOrigin(photos, link, total)
    loop = asyncio.new_event_loop()
    ready = threading.Event()

    async def run():
        server = await origin.serve()
        ready.set()
        async with server:
            await server.serve_forever()

    task = None

    def work():
        nonlocal task
        asyncio.set_event_loop(loop)
        task = loop.create_task(run())
        with contextlib.suppress(asyncio.CancelledError):
            loop.run_until_complete(task)
        for talk in asyncio.all_tasks(loop):
            talk.cancel()
        loop.run_until_complete(asyncio.sleep(0))

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    ready.wait()
    try:
        yield origin
    finally:
        loop.call_soon_threadsafe(task.cancel)
        thread.join(5)
