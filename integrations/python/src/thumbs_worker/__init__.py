"""Thumbnails by `thumbs worker`, for programs and engines in Python.

`Worker` drives one process. `thumbs_worker.spark`, `.ray`, `.dask` and `.pool` have many at work; `python -m
thumbs_worker.img2dataset` takes the options of img2dataset.
"""

from thumbs_worker.errors import ProgramNotFound, WorkerError, WorkerFailed
from thumbs_worker.options import Options
from thumbs_worker.program import find_program
from thumbs_worker.protocol import Failure, Item, Result, Source, Thumbnail
from thumbs_worker.worker import Worker

__all__ = [
    "Failure",
    "Item",
    "Options",
    "ProgramNotFound",
    "Result",
    "Source",
    "Thumbnail",
    "Worker",
    "WorkerError",
    "WorkerFailed",
    "find_program",
]
__version__ = "0.10.0"
