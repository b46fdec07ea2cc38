"""Many hosts on loopback, one of which has most of the rows and responds last."""

from __future__ import annotations

import collections
import http.server
import socket
import socketserver
import threading

from thumbs_worker import Options

LIMIT = 2
HOSTS = [f"127.0.8.{number}" for number in range(1, 9)]
# Its rows are three of five.
LARGEST = HOSTS[0]
ROWS = [f"{host}/{row}" for host in HOSTS for row in range(105 if host == LARGEST else 10)]
# Rows wait while the largest host is silent, however long the others take.
OPTIONS = Options(sizes=[32], per_host=LIMIT, jobs=1, max_wait="1h", disk_cache=0)


class Crowd(socketserver.ThreadingMixIn, http.server.HTTPServer):
    """Serves one picture on several hosts, and counts the requests under way of each."""

    daemon_threads = True
    request_queue_size = 256

    def __init__(self, picture: bytes) -> None:
        super().__init__(("0.0.0.0", 0), _Handler)
        self.picture = picture
        self.changed = threading.Condition()
        self.under_way: dict[str, set[socket.socket]] = {host: set() for host in HOSTS}
        self.most: collections.Counter[str] = collections.Counter()
        self.answered: collections.Counter[str] = collections.Counter()

    def urls(self) -> list[str]:
        return [f"http://{host}:{self.server_port}/{path}" for host, _, path in (row.partition("/") for row in ROWS)]

    def answer(self, host: str, connection: socket.socket) -> None:
        with self.changed:
            under_way = self.under_way[host]
            under_way.add(connection)
            # The worker gives requests up that have no response for some seconds, and sends others.
            self.most[host] = max(self.most[host], sum(map(_is_open, under_way)))
            if host == LARGEST:
                # The largest host responds when all others have.
                self.changed.wait_for(lambda: sum(map(self.answered.__getitem__, HOSTS[1:])) >= len(ROWS) - 105)
            else:
                # Real time: long enough for another worker's requests, of which there should be none.
                self.changed.wait(0.02)
            under_way.remove(connection)
            self.answered[host] += 1
            self.changed.notify_all()


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Crowd

    def do_GET(self) -> None:
        self.server.answer(self.headers["Host"].partition(":")[0], self.connection)
        if _is_open(self.connection):
            self.send_response(200)
            self.send_header("Content-Length", str(len(self.server.picture)))
            self.end_headers()
            self.wfile.write(self.server.picture)

    def log_message(self, format: str, *arguments: object) -> None:
        pass


def _is_open(connection: socket.socket) -> bool:
    """Whether the client has not closed the connection."""
    try:
        return connection.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT) != b""
    except BlockingIOError:
        return True
    except OSError:
        return False
