"""Runs a command and measures it with all the processes that it starts."""

import contextlib
import itertools
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

CGROUPS = Path("/sys/fs/cgroup")
NUMBERS = itertools.count()


@dataclass
class Run:
    """What one run took. Seconds of wall and processor time, MiB, voluntary context switches, and what it printed."""

    wall: float
    cpu: float
    peak: float
    switches: int
    status: int
    output: str
    errors: str


class Group:
    """A control group for one command: the time of processes that nobody waits for, as helpers are, counts too."""

    def __init__(self):
        parent = CGROUPS / "cpuacct"
        self.time, self.unit = "cpuacct.usage", 1e9
        if not parent.exists():
            parent, self.time, self.unit = CGROUPS, "cpu.stat", 1e6
        self.folder = parent / f"thumbs-measured-{os.getpid()}-{next(NUMBERS)}"
        try:
            self.folder.mkdir(exist_ok=True)
        except OSError as error:
            sys.exit(f"{self.folder} cannot be made ({error.strerror}): measure as root, to count helper processes")

    def enter(self):
        (self.folder / "cgroup.procs").write_text(str(os.getpid()))

    def seconds(self):
        """The processor time so far, once all processes have ended."""
        for _ in range(200):
            if not (self.folder / "cgroup.procs").read_text().strip():
                break
            time.sleep(0.01)
        words = (self.folder / self.time).read_text().split()
        return int(words[0] if len(words) == 1 else words[words.index("usage_usec") + 1]) / self.unit

    def leave(self):
        with contextlib.suppress(OSError):
            self.folder.rmdir()


def measure(command, text="", environment=None, directory=None):
    """Runs a command with a text on its standard input.

    The processor time is that of all its processes. The switches are those of the command and of the children that were
    waited for; involuntary switches are left out, since they count the other work on the machine. The peak memory is that of the largest of these processes: the
    kernel gives no sum. It cannot come out below this script's own few megabytes, which a new process has before it
    becomes another program.
    """
    with tempfile.TemporaryFile("w+") as given, tempfile.TemporaryFile("w+") as printed, tempfile.TemporaryFile(
        "w+", errors="replace"
    ) as complaints:
        given.write(text)
        given.seek(0)
        group = Group()
        before = group.seconds()
        begun = time.perf_counter()
        process = subprocess.Popen(
            [str(word) for word in command],
            stdin=given,
            stdout=printed,
            stderr=complaints,
            env={**os.environ, **(environment or {})},
            cwd=directory,
            preexec_fn=group.enter,
        )
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.perf_counter() - begun
        process.returncode = os.waitstatus_to_exitcode(status)
        cpu = group.seconds() - before
        group.leave()
        printed.seek(0)
        complaints.seek(0)
        return Run(
            wall=wall,
            cpu=cpu,
            peak=usage.ru_maxrss / 1024,
            switches=usage.ru_nvcsw,
            status=process.returncode,
            output=printed.read(),
            errors=complaints.read(),
        )
