"""An HTTP server on loopback whose images fail in stated ways, and which may be down for a time.

The first part of a path says what becomes of it: `/good/7.jpg`, `/500/7.jpg`, `/429-5/7.jpg` (with `Retry-After: 5`),
`/reset/7.jpg`, `/half/7.jpg`, `/silent/7.jpg`. Answers take 50 ms.
"""

import asyncio
import collections
import random
import socket
import struct
import threading
import time

FAULTS = ["500", "502", "503", "503-1", "429-5", "429-3600", "reset", "half", "silent"]


class Origin:
    """Serves in a thread of its own, from when it is made. `with Origin(image) as origin:` ends it."""

    def __init__(self, image, latency=0.05, address="127.0.0.1"):
        self.image, self.latency, self.address = image, latency, address
        self.requests = collections.Counter()
        # Different good images that were sent whole.
        self.good = set()
        self.times = []
        # What every request meets while the server is down: refuse, reset, silent, or a status.
        self.outage = None
        self.loop = asyncio.new_event_loop()
        self.connections = set()
        self.listener = socket.socket()
        self.listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.listener.bind((address, 0))
        self.port = self.listener.getsockname()[1]
        self.listener.listen(1024)
        self.server = None
        threading.Thread(target=self._run, daemon=True).start()

    @property
    def base(self):
        return f"http://{self.address}:{self.port}"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._call(self._close())
        self.loop.call_soon_threadsafe(self.loop.stop)

    @property
    def sent(self):
        return len(self.good)

    def forget(self):
        self.good.clear()
        self.requests.clear()
        self.times.clear()

    def go_down(self, kind):
        """From now on every request fails: those that are running as well."""
        self._call(self._go_down(kind))

    def come_back(self):
        self._call(self._come_back())

    def _run(self):
        asyncio.set_event_loop(self.loop)
        self.loop.run_until_complete(self._listen())
        self.loop.run_forever()

    def _call(self, coroutine):
        asyncio.run_coroutine_threadsafe(coroutine, self.loop).result(10)

    async def _listen(self):
        if self.listener.fileno() < 0:
            self.listener = socket.socket()
            self.listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            self.listener.bind((self.address, self.port))
            self.listener.listen(1024)
        self.server = await self.loop.create_server(lambda: Connection(self), sock=self.listener)

    async def _close(self):
        self.server.close()
        self.listener.close()

    async def _go_down(self, kind):
        self.outage = kind
        if kind == "refuse":
            await self._close()
        if kind in ("refuse", "reset"):
            for connection in list(self.connections):
                connection.abort()

    async def _come_back(self):
        down, self.outage = self.outage, None
        if down == "refuse":
            await self._listen()


class Connection(asyncio.Protocol):
    def __init__(self, origin):
        self.origin, self.received, self.transport = origin, b"", None

    def connection_made(self, transport):
        self.transport = transport
        transport.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.origin.connections.add(self)

    def connection_lost(self, _):
        self.origin.connections.discard(self)

    def data_received(self, data):
        self.received += data
        while b"\r\n\r\n" in self.received:
            head, self.received = self.received.split(b"\r\n\r\n", 1)
            path = head.split(b" ", 2)[1].decode()
            kind = path.split("/")[1]
            self.origin.requests[kind] += 1
            self.origin.times.append((time.monotonic(), path))
            fault = self.origin.outage or kind
            if fault == "reset":
                # What was under way when the server went down has had its answer already.
                self.origin.loop.call_later(self.origin.latency, self.abort)
            elif fault != "silent":
                self.origin.loop.call_later(self.origin.latency, self.respond, fault, path)

    def abort(self):
        sock = self.transport.get_extra_info("socket")
        if sock is not None and not self.transport.is_closing():
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.transport.abort()

    def respond(self, fault, path):
        if self.transport.is_closing():
            return
        fault = self.origin.outage or fault
        image = self.origin.image
        if fault == "good":
            self.origin.good.add(path)
        if fault in ("good", "half"):
            head = f"HTTP/1.1 200 OK\r\nContent-Type: image/jpeg\r\nContent-Length: {len(image)}\r\n\r\n".encode()
            self.transport.write(head + (image if fault == "good" else image[: len(image) // 2]))
            if fault == "half":
                self.transport.close()
            return
        if fault in ("silent",):
            return
        if fault in ("refuse", "reset"):
            return self.abort()
        status, _, pause = fault.partition("-")
        retry = f"Retry-After: {pause}\r\n" if pause else ""
        self.transport.write(f"HTTP/1.1 {status} No\r\n{retry}Content-Length: 2\r\n\r\nno".encode())


def arranged(good, broken, order, seed=1):
    """The URLs of both lists: broken ones first, last, together in the middle, spread evenly, or anywhere."""
    if order == "first":
        return broken + good
    if order == "last":
        return good + broken
    if order == "together":
        middle = len(good) // 2
        return good[:middle] + broken + good[middle:]
    if order == "spread":
        step = (len(good) + len(broken)) / max(1, len(broken))
        urls = list(good)
        for number, url in enumerate(broken):
            urls.insert(int(number * step), url)
        return urls
    urls = good + broken
    random.Random(seed).shuffle(urls)
    return urls


ORDERS = ["first", "last", "together", "spread", "random"]
