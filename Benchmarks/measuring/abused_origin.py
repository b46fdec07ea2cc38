"""An origin on all loopback addresses: good pictures, huge ones, broken ones, and some that never come."""

import asyncio
import random
import resource
import struct
import sys
import zlib
from pathlib import Path


def noise(width, height):
    """A PNG of that many random pixels, which no format makes small."""
    random.seed(1)
    rows = b"".join(b"\0" + random.randbytes(width * 3) for _ in range(height))

    def chunk(name, data):
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows, 0)) + chunk(b"IEND", b"")


async def serve(port, good, huge):
    bodies = {"good": good.read_bytes(), "huge": huge.read_bytes(), "noise": noise(2048, 1024)}

    async def respond(reader, writer):
        try:
            while True:
                request = await reader.readuntil(b"\r\n\r\n")
                kind = request.split(b" ")[1].decode().split("/")[1]
                if kind == "silent":
                    await reader.read()
                    return
                if kind == "broken":
                    writer.write(b"HTTP/1.1 500 Broken\r\nContent-Length: 0\r\n\r\n")
                else:
                    body = bodies[kind]
                    writer.write(f"HTTP/1.1 200 OK\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body)
                await writer.drain()
        except (OSError, EOFError):
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(respond, "0.0.0.0", port, backlog=4096)
    print(server.sockets[0].getsockname()[1], flush=True)
    async with server:
        await server.serve_forever()


limit = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))
asyncio.run(serve(0, Path(sys.argv[1]), Path(sys.argv[2])))
