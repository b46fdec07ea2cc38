"""A loopback nginx that serves a folder, to measure downloads with."""

import contextlib
import os
import shutil
import socket
import subprocess
import tempfile
import time
from pathlib import Path

PROGRAM = shutil.which("nginx") or "/usr/sbin/nginx"


class Nginx:
    """A server that runs: `base` is its URL."""

    def __init__(self, base, log):
        self.base = base
        self._log = log

    def sent(self, requests, patience=20):
        """The bytes sent, headers included, as the access log has them; waits until so many requests are logged.

        nginx logs a request when it has noticed its end, which for a dropped connection is at the next write.
        """
        until = time.monotonic() + patience
        while True:
            lines = self._log.read_text().split() if self._log.exists() else []
            if len(lines) >= requests or time.monotonic() > until:
                return sum(map(int, lines)), len(lines)
            time.sleep(0.05)


@contextlib.contextmanager
def nginx_serving(folder, rate=None, ranges=True):
    """Starts nginx for a folder; yields it. `rate` limits each answer, in nginx's words: 512k is 512 KiB a second.
    Without `ranges` each answer is a whole file."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with tempfile.TemporaryDirectory() as scratch:
        os.chmod(scratch, 0o755)
        configuration = Path(scratch, "nginx.conf")
        configuration.write_text(
            f"""daemon off; pid {scratch}/pid; error_log {scratch}/error; user root; worker_processes 1;
            events {{ worker_connections 1024; }}
            http {{
              log_format sent $bytes_sent; access_log {scratch}/access sent;
              sendfile on; keepalive_requests 100000; {f"limit_rate {rate};" if rate else ""}
              {"" if ranges else "max_ranges 0;"}
              client_body_temp_path {scratch}; proxy_temp_path {scratch}; fastcgi_temp_path {scratch};
              uwsgi_temp_path {scratch}; scgi_temp_path {scratch};
              server {{ listen 127.0.0.1:{port}; root {Path(folder).resolve()}; }}
            }}"""
        )
        server = subprocess.Popen([PROGRAM, "-c", configuration, "-p", scratch], stderr=subprocess.DEVNULL)
        try:
            for _ in range(100):
                with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
                    break
                time.sleep(0.05)
            yield Nginx(f"http://127.0.0.1:{port}", Path(scratch, "access"))
        finally:
            server.terminate()
            server.wait()
