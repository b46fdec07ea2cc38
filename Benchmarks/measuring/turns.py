"""Runs tools in turn, so that they share the machine's noise, and compares their runs."""

import collections
import contextlib
import os
import shutil
import statistics
import tempfile
from pathlib import Path


def output_root():
    """Where outputs are written: a file system in memory with 1 GiB of room, so that no disk is measured; else None."""
    root = "/dev/shm"
    return root if os.access(root, os.W_OK) and shutil.disk_usage(root).free >= 1 << 30 else None


class ToolFailure(Exception):
    """A tool that has not made all thumbnails."""


@contextlib.contextmanager
def staged(photos):
    """A folder that holds just these images, for what takes folders; yields their paths."""
    with tempfile.TemporaryDirectory() as folder:
        for photo in photos:
            shutil.copyfile(photo, Path(folder, photo.name))
        yield [Path(folder, photo.name) for photo in photos]


def run_tool(tool, case, photos, output):
    """One run of a tool into an empty folder. Throws where thumbnails are missing."""
    command = tool.command(case, photos, output)
    run = command.run()
    # ImageMagick ends with an error where it only warned.
    made = [photo for photo in photos if Path(output, f"{photo.stem}.jpg").exists()]
    if len(made) != len(photos) if tool.makes_files else run.status != 0:
        raise ToolFailure(
            f"{tool.name} made {len(made)} of {len(photos)} (status {run.status}): {run.errors[-2000:]}"
        )
    return run


def in_turn(tools, photos, rounds, case_of):
    """Every tool once in each round, after a first one that warms the page cache: the runs of each."""
    runs = collections.defaultdict(list)
    for turn in range(rounds + 1):
        for index in range(len(tools)):
            tool = tools[(index + turn) % len(tools)]
            with tempfile.TemporaryDirectory(dir=output_root()) as output:
                run = run_tool(tool, case_of(tool), photos, output)
            if turn > 0:
                runs[tool.name].append(run)
    return runs


def median(runs, value):
    return statistics.median(getattr(run, value) for run in runs)


def ratio(runs, others, value="wall"):
    """How many times as fast as others runs are: the median over the rounds."""
    return statistics.median(getattr(other, value) / getattr(run, value) for run, other in zip(runs, others))
