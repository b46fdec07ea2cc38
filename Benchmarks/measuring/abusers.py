"""Clients that try to take from a server what belongs to all. Each has a loopback address of its own."""

import asyncio
import contextlib
import itertools
import random
import socket
import struct
import urllib.parse


class Client:
    """Connections to a server from one address, or each from the next one."""

    def __init__(self, port, address, scattered=False, pause=1):
        self.port, self.pause = port, pause
        self.addresses = _addresses(address) if scattered else itertools.repeat(address)

    async def connect(self, receive_buffer=None):
        connection = socket.socket()
        connection.setblocking(False)
        # Ports of connections that have ended can be taken at once.
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        if receive_buffer:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        try:
            connection.bind((next(self.addresses), 0))
            await asyncio.get_running_loop().sock_connect(connection, ("127.0.0.1", self.port))
        except OSError:
            connection.close()
            raise
        return connection

    async def get(self, path, connection=None):
        """Status and length of a response, over a connection of its own unless one is given."""
        opened = connection or await self.connect()
        loop = asyncio.get_running_loop()
        try:
            await loop.sock_sendall(opened, head(path))
            data = await loop.sock_recv(opened, 1 << 16)
            while b"\r\n\r\n" not in data:
                more = await loop.sock_recv(opened, 1 << 16)
                if not more:
                    raise ConnectionError("closed")
                data += more
            fields, _, body = data.partition(b"\r\n\r\n")
            length = next((int(line.split(b":")[1]) for line in fields.lower().split(b"\r\n")
                           if line.startswith(b"content-length:")), 0)
            received = len(body)
            while received < length:
                more = await loop.sock_recv(opened, 1 << 16)
                if not more:
                    raise ConnectionError("closed")
                received += len(more)
            return int(fields.split(b" ")[1]), length
        finally:
            if not connection:
                opened.close()


def _addresses(first):
    start = int.from_bytes(socket.inet_aton(first), "big")
    for number in itertools.count():
        # Around again after a /16, without .0 and .255.
        yield socket.inet_ntoa((start + number % 250 + (number // 250 % 250 << 8)).to_bytes(4, "big"))


def head(path):
    return f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()


def thumbnail(options, source):
    return f"/thumb/{options}/{urllib.parse.quote(source, safe='')}"


async def keep(count, work, pause=1, pace=2000):
    """That much of something at once, each begun again that many seconds after its end; `pace` begin in a second at first.

    More would be a flood, which is an abuse of another kind.
    """

    async def again(number):
        await asyncio.sleep(number / pace)
        while True:
            with contextlib.suppress(OSError, ValueError, IndexError):
                await work(number)
            await asyncio.sleep(pause * random.uniform(0.5, 1.5))

    await asyncio.gather(*(again(number) for number in range(count)))


async def silent(client, origin):
    """1,024 requests for pictures of an origin that says nothing."""
    await keep(1024, lambda number: client.get(thumbnail("40", f"{origin.silent}/silent/{number}.jpg")))


async def idle(client, _):
    """8,192 connections on which nothing is sent."""

    async def hold(_):
        connection = await client.connect()
        with contextlib.closing(connection):
            await asyncio.get_running_loop().sock_recv(connection, 1)

    await keep(8192, hold, client.pause)


async def heads(client, _):
    """2,000 heads that come a byte a second and do not end."""

    async def drip(_):
        connection = await client.connect()
        with contextlib.closing(connection):
            for byte in itertools.chain(b"GET / HTTP/1.1\r\nX: ", itertools.repeat(97)):
                await asyncio.get_running_loop().sock_sendall(connection, bytes([byte]))
                await asyncio.sleep(1)

    await keep(2000, drip, client.pause)


async def readers(client, origin):
    """2,000 readers of a thumbnail of 6 MB who take a few bytes a second."""

    async def drip(_):
        connection = await client.connect(receive_buffer=4096)
        with contextlib.closing(connection):
            await asyncio.get_running_loop().sock_sendall(connection, head(origin.large))
            while await asyncio.get_running_loop().sock_recv(connection, 64):
                await asyncio.sleep(1)

    await keep(2000, drip, client.pause)


async def broken(client, origin):
    """Ten addresses a second that answer 500, at the host of good pictures unless they are apart."""
    running = set()
    for number in itertools.count():
        task = asyncio.create_task(_ignoring(client.get(thumbnail("40", f"{origin.broken}/broken/{number}.jpg"))))
        running.add(task)
        task.add_done_callback(running.discard)
        await asyncio.sleep(0.1)


async def huge(client, origin):
    """64 requests for pictures of 100 megapixels, always others."""
    numbers = itertools.count()
    await keep(64, lambda _: client.get(thumbnail("1000x1000", f"{origin.huge}/huge/{next(numbers)}.jpg")))


async def _ignoring(work):
    with contextlib.suppress(OSError, ValueError, IndexError):
        await work


ABUSERS = {"silent": silent, "idle": idle, "heads": heads, "readers": readers, "broken": broken, "huge": huge}
