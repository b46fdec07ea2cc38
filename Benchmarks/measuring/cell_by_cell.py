"""A gallery as tutorials build it: each picture is downloaded when its cell appears, and decoded in full.

Replays when the cells of a scroll came into view. Six connections, as browsers and Apple's URLSession have for one
host; first come, first served; what scrolled away goes on, since nobody cancels it.
"""

import asyncio
import io
import time
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlsplit

from PIL import Image

CONNECTIONS = 6


async def _fetch(connection, url):
    parts = urlsplit(url)
    reader, writer = connection
    writer.write(f"GET {parts.path} HTTP/1.1\r\nHost: {parts.netloc}\r\n\r\n".encode())
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
    length = int(head.split("content-length:", 1)[1].split("\r", 1)[0])
    return await reader.readexactly(length)


def _decode(data):
    """Decodes a picture in full. Returns the bytes of its bitmap."""
    with Image.open(io.BytesIO(data)) as image:
        image.load()
        return image.width * image.height * 4


async def _replay(cells):
    host, port = urlsplit(cells[0][1]).hostname, urlsplit(cells[0][1]).port
    waiting = asyncio.Queue()
    loop = asyncio.get_running_loop()
    begun = time.monotonic()
    waits, received, bitmaps = {}, 0, 0
    seen = set()

    async def work(pool):
        nonlocal received, bitmaps
        connection = None
        while True:
            item, url, appeared = await waiting.get()
            connection = connection or await asyncio.open_connection(host, port)
            data = await _fetch(connection, url)
            received += len(data)
            bitmaps += await loop.run_in_executor(pool, _decode, data)
            waits[item] = time.monotonic() - appeared
            waiting.task_done()

    with ThreadPoolExecutor(2) as pool:
        workers = [asyncio.create_task(work(pool)) for _ in range(CONNECTIONS)]
        for item, url, moment in sorted(cells, key=lambda cell: cell[2]):
            await asyncio.sleep(max(0.0, begun + moment - time.monotonic()))
            if item not in seen:
                seen.add(item)
                waiting.put_nowait((item, url, time.monotonic()))
        done = asyncio.create_task(waiting.join())
        await asyncio.wait([done, *workers], return_when=asyncio.FIRST_COMPLETED)
        for worker in workers:
            if worker.done():
                worker.result()  # Why it ended.
        for worker in workers:
            worker.cancel()
    return waits, received, bitmaps, time.monotonic() - begun


def replay(cells):
    """Scrolls. `cells` are (item, url, seconds from the beginning at which it came into view).

    Returns the wait of each item in seconds, the bytes received, the bytes of all bitmaps, and the seconds it took.
    """
    return asyncio.run(_replay(cells))
