"""A running `thumbs serve`, and what is measured of it."""

import contextlib
import os
import subprocess
import time
import urllib.request
from pathlib import Path


class Server:
    """A server that runs: `base` is its URL, `ready` the seconds from its start to its first response."""

    def __init__(self, process, base, ready):
        self.process, self.base, self.ready = process, base, ready

    def tree(self):
        """The process and its helpers."""
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
        tasks = Path(f"/proc/{self.process.pid}/task").iterdir()
        found = {int(child) for task in tasks for child in (task / children.name).read_text().split()}
        return [self.process.pid, *sorted(found)]

    def memory(self, field):
        """MiB of all its processes: Pss of smaps_rollup, or VmHWM and VmRSS of status."""
        total = 0
        for pid in self.tree():
            place = "smaps_rollup" if field == "Pss" else "status"
            with contextlib.suppress(OSError):
                for line in Path(f"/proc/{pid}/{place}").read_text().splitlines():
                    if line.startswith(field + ":"):
                        total += int(line.split()[1])
        return total / 1024

    def get(self, path):
        with urllib.request.urlopen(self.base + path, timeout=120) as response:
            return response.read()


@contextlib.contextmanager
def serving(program, *arguments, environment=None, log=subprocess.DEVNULL):
    """Starts `thumbs serve` on a free port; yields it."""
    begun = time.perf_counter()
    process = subprocess.Popen(
        [str(program), "serve", "--port", "0", *map(str, arguments)], stdout=subprocess.PIPE, stderr=log, text=True,
        env={**os.environ, **(environment or {})})
    try:
        base = process.stdout.readline().strip().rstrip("/")
        if not base:
            raise SystemExit("thumbs serve did not start")
        with urllib.request.urlopen(base + "/healthz", timeout=10) as response:
            response.read()
        yield Server(process, base, time.perf_counter() - begun)
    finally:
        process.terminate()
        process.wait(30)
