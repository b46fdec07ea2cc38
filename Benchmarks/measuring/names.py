"""A name server on loopback that takes its time: every name is 127.0.0.1, but for those that begin with `dead`."""

import asyncio
import struct

_ADDRESS_RECORD = 1
_NAME_ERROR = 3
# A response; recursion was wanted and is there.
_FLAGS = 0x8180
_LIFETIME = 300


class SlowNames(asyncio.DatagramProtocol):
    """Responds after a delay, in seconds; counts the queries for addresses of IPv4."""

    def __init__(self, delay):
        self.delay = delay
        self.queries = 0
        self.names = set()

    def connection_made(self, transport):
        self.transport = transport

    def datagram_received(self, data, sender):
        asyncio.get_running_loop().call_later(self.delay, self.respond, data, sender)

    def respond(self, data, sender):
        end = data.index(0, 12) + 5
        question = data[12:end]
        kind = struct.unpack(">H", data[end - 4 : end - 2])[0]
        dead = question[1:5] == b"dead"
        answers = b""
        if kind == _ADDRESS_RECORD:
            self.queries += 1
            self.names.add(question)
            if not dead:
                answers = struct.pack(">HHHIH4B", 0xC00C, _ADDRESS_RECORD, 1, _LIFETIME, 4, 127, 0, 0, 1)
        flags = _FLAGS | (_NAME_ERROR if dead else 0)
        header = data[:2] + struct.pack(">HHHHH", flags, 1, 1 if answers else 0, 0, 0)
        self.transport.sendto(header + question + answers, sender)


def serve(address, port, delay, stop, counts):
    """Runs in a process of its own until `stop` is set; puts the numbers of queries and of names into `counts`."""

    async def run():
        loop = asyncio.get_running_loop()
        _, protocol = await loop.create_datagram_endpoint(lambda: SlowNames(delay), local_addr=(address, port))
        counts.put(None)
        await loop.run_in_executor(None, stop.wait)
        counts.put((protocol.queries, len(protocol.names)))

    asyncio.run(run())
