"""img2dataset's `download` on a worker: shards of rows in, shards of images out."""

from __future__ import annotations

import collections
import sys
import time
from collections.abc import Callable, Container, Iterator
from dataclasses import replace
from typing import Any

from thumbs_worker.img2dataset import layout, ledger
from thumbs_worker.img2dataset.fill import Filler
from thumbs_worker.img2dataset.reader import Shard, failed_shards, input_files, shards
from thumbs_worker.img2dataset.resize import Resizer
from thumbs_worker.img2dataset.robots import Robots, robots_options
from thumbs_worker.img2dataset.settings import SettingError, Settings, split
from thumbs_worker.img2dataset.storage import Output
from thumbs_worker.options import Options
from thumbs_worker.worker import Worker

# The name of this robot where the user gives none.
_ROBOT = "thumbs"
# Rows under way for each download at once, so that a slow host does not keep the others waiting.
_WINDOW_PER_THREAD = 4
_SMALLEST_WINDOW = 256


class Run:
    """One run, from the list to the output folder."""

    def __init__(self, settings: Settings, options: Options, program: str | None = None) -> None:
        self._settings = settings
        self._resizer = Resizer(settings)
        self._output = Output(settings.output_folder)
        self._folder = self._output.folder
        self._program = program
        self._options = options
        self._totals: collections.Counter[str] = collections.Counter()
        self._begun = time.time()

    def download(self) -> dict[str, int]:
        """Runs it; returns how many rows came to which status."""
        try:
            shards = self._shards(*self._prepare())
            if self._settings.distributor == "multiprocessing":
                self._fill(shards, self._report)
            else:
                from thumbs_worker.img2dataset.distribute import distribute

                for _, document in distribute(self, shards):
                    self._report(document)
        finally:
            self._output.close()
        return dict(self._totals)

    def _shards(self, first: int, done: Container[int]) -> Iterator[Shard]:
        settings = self._settings
        if not settings.only_failed:
            return shards(settings, first, done)
        patience = 0.0 if self._options.patience is None else self._options.patience
        rows = ledger.pending(self._folder, settings.seconds_left, patience, self._output.fetch)
        return iter(()) if rows is None else failed_shards(settings, rows, first)

    @property
    def parts(self) -> tuple[Settings, Options, str | None]:
        """What another process makes this run from."""
        return self._settings, self._options, self._program

    def filled(self, shard: Shard) -> dict[str, Any]:
        """Fills one shard, and returns its statistics."""
        documents: list[dict[str, Any]] = []
        try:
            self._fill(iter([shard]), documents.append)
        finally:
            self._output.leave()
        return documents[0]

    def _fill(self, shards: Iterator[Shard], report: Callable[[dict[str, Any]], None]) -> None:
        """Fills shards on this machine, and reports each."""
        settings = self._settings
        options = self._worker_options()
        robots = None
        if settings.robots:
            robots = Robots(settings.user_agent_token or _ROBOT, robots_options(options), self._program)
        window = max(_SMALLEST_WINDOW, _WINDOW_PER_THREAD * settings.thread_count)
        # The filler waits for hosts in the worker's place, so that rows of others pass by, and counts failed rows.
        waiting = replace(options, max_wait="0", max_failures=None)

        def publish(shard: Shard, document: dict[str, Any]) -> None:
            self._output.published(shard.name)
            report(document)

        try:
            with Worker(waiting, program=self._program, window=window) as worker:
                Filler(settings, self._resizer, options, self._output.stage, publish, robots).run(worker, shards)
        finally:
            if robots is not None:
                robots.close()

    def _prepare(self) -> tuple[int, Container[int]]:
        """Makes the output folder; returns the number of the first shard, and the shards that are done."""
        for file in () if self._settings.only_failed else input_files(self._settings):
            if self._output.holds(file):
                raise SettingError(f"url_list: {file} has the name of a file of the output: copy it elsewhere")
        mode = "extend" if self._settings.only_failed else self._settings.incremental_mode
        self._output.begin(needs_ledger=self._settings.only_failed)
        done = layout.done_shards(self._folder)
        if mode == "extend":
            return max(done, default=-1) + 1, ()
        return 0, done

    def _worker_options(self) -> Options:
        settings = self._settings
        token = settings.user_agent_token
        return replace(
            self._options,
            sizes=self._resizer.sizes(),
            fit=self._resizer.fit,
            format=self._resizer.format,
            quality=self._resizer.quality,
            jobs=self._options.jobs if self._options.jobs is not None else settings.processes_count,
            downloads=self._options.downloads or settings.thread_count,
            # Each image is used once, and done shards are not begun again.
            disk_cache=0 if self._options.disk_cache is None else self._options.disk_cache,
            user_agent=f"Mozilla/5.0 (compatible; {token}; thumbs)" if token else self._options.user_agent,
            timeout=settings.timeout,
            disallowed_header_directives=",".join(settings.disallowed_header_directives or ()) or None,
            originals=settings.downloads_whole_files,
            no_paths=True,
            # Shards are written here.
            inline=True,
            output=None,
        )

    def _report(self, document: dict[str, Any]) -> None:
        """Prints what img2dataset prints after each shard."""
        for name in ("count", "successes", "failed_to_download", "failed_to_resize"):
            self._totals[name] += document[name]
        print(_speed("worker", document, document["duration"]), flush=True)
        print(_speed("total", self._totals, time.time() - self._begun), flush=True)


def _speed(name: str, counts: Any, seconds: float) -> str:
    count = max(1, counts["count"])
    return "  - ".join(
        [
            f"{name:<6}",
            " - ".join(
                [
                    f"success: {counts['successes'] / count:.3f}",
                    f"failed to download: {counts['failed_to_download'] / count:.3f}",
                    f"failed to resize: {counts['failed_to_resize'] / count:.3f}",
                    f"images per sec: {counts['count'] / max(seconds, 1e-9):.0f}",
                    f"count: {counts['count']}",
                ]
            ),
        ]
    )


def download(
    url_list: str = "", *, options: Options | None = None, program: str | None = None, **settings: Any
) -> dict[str, int]:
    """img2dataset's function of the same name, with its options and the worker's, such as `per_host`.

    `options` holds further ones for the worker; `program` is where `thumbs` is. Returns the counts of rows. Raises
    `SettingError` for options that cannot be kept, and `WorkerError`.
    """
    ours, workers = split({"url_list": url_list, **settings})
    chosen = Settings(**ours)
    for note in chosen.notes():
        print(f"note: {note}", file=sys.stderr)
    return Run(chosen, replace(options or Options(), **workers), program).download()


__all__ = ["Run", "SettingError", "download"]
