"""Runs a command and measures it with all the processes that it starts."""

import os
import subprocess
import tempfile
import time
from dataclasses import dataclass


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


def measure(command, text="", environment=None, directory=None):
    """Runs a command with a text on its standard input.

    The processor time and the switches are those of the command and of all its children; involuntary switches are left
    out, since they count the other work on the machine. The peak memory is that of the largest of these processes: the
    kernel gives no sum. It cannot come out below this script's own few megabytes, which a new process has before it
    becomes another program.
    """
    with tempfile.TemporaryFile("w+") as given, tempfile.TemporaryFile("w+") as printed, tempfile.TemporaryFile(
        "w+", errors="replace"
    ) as complaints:
        given.write(text)
        given.seek(0)
        begun = time.perf_counter()
        process = subprocess.Popen(
            [str(word) for word in command],
            stdin=given,
            stdout=printed,
            stderr=complaints,
            env={**os.environ, **(environment or {})},
            cwd=directory,
        )
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.perf_counter() - begun
        process.returncode = os.waitstatus_to_exitcode(status)
        printed.seek(0)
        complaints.seek(0)
        return Run(
            wall=wall,
            cpu=usage.ru_utime + usage.ru_stime,
            peak=usage.ru_maxrss / 1024,
            switches=usage.ru_nvcsw,
            status=process.returncode,
            output=printed.read(),
            errors=complaints.read(),
        )
