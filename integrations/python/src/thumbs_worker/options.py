"""What `thumbs worker` is started with."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Union

# A box as the command writes it: 256 or "256" for a square, "400x300", "400x" or "x300".
Size = Union[int, str]


@dataclass(frozen=True)
class Options:
    """The options of `thumbs worker`, named as there (`thumbs help worker`); None leaves the command's default.

    Sizes in bytes are numbers or texts such as "256MiB". `inline` has results carry the thumbnails' bytes, `output` is
    a folder for them as files, named by the items' `key` or else by a hash of the source. `more` are further words for the command line. Shards (`--tar`) are not among the
    options: their numbers count the lines of one process, and here it may be started again.
    """

    sizes: Sequence[Size] = (256,)
    fit: str | None = None
    gravity: str | None = None
    format: str | None = None
    quality: int | None = None
    cache_dir: str | None = None
    disk_cache: str | int | None = None
    downloads: int | None = None
    per_host: int | None = None
    jobs: int | None = None
    memory_budget: str | int | None = None
    max_pixels: int | None = None
    max_bytes: str | int | None = None
    max_wait: str | None = None
    user_agent: str | None = None
    headers: Sequence[str] = field(default=(), repr=False)
    timeout: float | None = None
    isolate: str | None = None
    unsafe_from_web: bool = False
    disallowed_header_directives: str | None = None
    public_addresses_only: bool = False
    no_paths: bool = False
    inline: bool = True
    originals: bool = False
    output: str | None = None
    max_failures: str | int | None = None
    more: Sequence[str] = field(default=(), repr=False)

    def __post_init__(self) -> None:
        if self.output is not None and self.inline:
            object.__setattr__(self, "inline", False)
        if isinstance(self.sizes, (int, str)):
            object.__setattr__(self, "sizes", (self.sizes,))
        for name in ("sizes", "headers", "more"):
            object.__setattr__(self, name, tuple(getattr(self, name)))
        if not self.sizes:
            raise ValueError("at least one size is needed")

    def for_processors(self, count: float) -> Options:
        """The same for a share of a machine, unless `jobs` says already how many images are decoded at once: one more
        than it has processors, so that none is idle between two images."""
        return self if self.jobs is not None else replace(self, jobs=max(1, int(count)) + 1)

    @property
    def rows_per_host(self) -> int:
        """How many rows of one host are under way at most: more than it has downloads, and less than half of the lines
        that the worker works on at once, 4 for each download and each decode, so that a slow host stops no other."""
        per_host = self.per_host or _DOWNLOADS_PER_HOST
        return min(4 * per_host, 2 * (self.downloads or max(per_host, _DOWNLOADS)))

    @property
    def patience(self) -> float | None:
        """`max_wait` in seconds."""
        return None if self.max_wait is None else seconds(self.max_wait)

    def allows(self, failures: int, results: int, is_at_end: bool) -> bool:
        """Whether `max_failures` allows so many; a percentage is judged from 100 results on, and at the end."""
        if self.max_failures is None:
            return True
        number, is_percentage, rest = str(self.max_failures).partition("%")
        try:
            if rest or float(number) < 0:
                raise ValueError
            if not is_percentage:
                return failures <= int(number)
            return not is_at_end and results < _FEWEST_FOR_PERCENTAGE or failures * 100 <= float(number) * results
        except ValueError:
            raise ValueError(f"max_failures is a number or a part such as 5%, not {self.max_failures}") from None

    def arguments(self) -> list[str]:
        """The words for the command line."""
        words: list[str] = []
        for size in self.sizes:
            words += ["--size", str(size)]
        for name in _VALUES:
            value = getattr(self, name)
            if value is not None:
                words += [f"--{name.replace('_', '-')}", str(value)]
        for header in self.headers:
            words += ["--header", header]
        if self.user_agent is not None:
            words += ["--header", f"*=User-Agent: {self.user_agent}"]
        for name in _SWITCHES:
            if getattr(self, name):
                words.append(f"--{name.replace('_', '-')}")
        return [*words, *self.more]


def seconds(text: str | float) -> float:
    """A time such as `90`, `30s`, `10m`, `2h` or `7d`, in seconds. Throws `ValueError`."""
    parts = re.fullmatch(r"(\d+(?:\.\d+)?)([smhd]?)", str(text).strip())
    if parts is None:
        raise ValueError(f"{text} is no time: write 90, 30s, 10m, 2h or 7d")
    return float(parts[1]) * _UNITS[parts[2] or "s"]


_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400}
_FEWEST_FOR_PERCENTAGE = 100
# How many bytes the worker takes as a line.
LONGEST_LINE = 8 * 1024 * 1024
# What the command allows unless told otherwise.
_DOWNLOADS = 16
_DOWNLOADS_PER_HOST = 6
# The options with one value, in the order of the command's help.
_VALUES = (
    "fit", "gravity", "format", "quality", "cache_dir", "disk_cache", "downloads", "per_host", "jobs",
    "memory_budget", "max_pixels", "max_bytes", "max_wait", "timeout", "isolate",
    "disallowed_header_directives", "output", "max_failures",
)  # fmt: skip
# Those without a value.
_SWITCHES = ("unsafe_from_web", "public_addresses_only", "no_paths", "inline", "originals")
