"""img2dataset's `download` on a worker: shards of rows in, shards of images out."""

from __future__ import annotations

import collections
import hashlib
import http.client
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from thumbs_worker.img2dataset import layout
from thumbs_worker.img2dataset.reader import Shard, input_files, shards
from thumbs_worker.img2dataset.resize import Resizer
from thumbs_worker.img2dataset.settings import SettingError, Settings
from thumbs_worker.options import Options
from thumbs_worker.protocol import Result
from thumbs_worker.worker import Worker

# Images of an unfinished shard stay in memory up to so many bytes, and go to a file beyond that.
_SPOOL_BYTES = 8 << 20
# Rows under way for each download at once, so that a slow host does not keep the others waiting.
_WINDOW_PER_THREAD = 4
_SMALLEST_WINDOW = 256
# Errors before there is an image, beside those of downloads.
_BEFORE_AN_IMAGE = frozenset({"line", "download", "read"})
# Errors of this machine, which end the run.
_FAULTS_HERE = frozenset({"storage-unavailable", "cannot-write"})


@dataclass
class _Place:
    """Where a result belongs: a row of a shard, and what was tried for it."""

    shard: _OpenShard
    row: int
    url: str
    # What was asked for last.
    item: dict[str, Any]
    attempts: int = 0
    is_second: bool = False


@dataclass(frozen=True)
class _Outcome:
    """What is known of a row until its shard is written; the image is in the spool."""

    status: str
    kind: str
    message: str | None
    columns: dict[str, Any]
    begin: int = 0
    length: int = 0


class _OpenShard:
    """A shard of which rows are under way. Results come in any order, and are written in that of the rows."""

    def __init__(self, shard: Shard, settings: Settings, folder: Path) -> None:
        self.name = layout.shard_name(shard.number, settings.oom_shard_count)
        self.columns = {name: shard.rows.column(name).to_pylist() for name in shard.rows.column_names}
        self.urls: list[Any] = self.columns["url"]
        self.statistics = layout.Statistics()
        self._schema = layout.schema(shard.rows.schema, settings.extract_exif, settings.compute_hash)
        self._number = shard.number
        self._settings = settings
        self._folder = folder
        self._outcomes: list[_Outcome | None] = [None] * shard.rows.num_rows
        self._missing = int(shard.rows.num_rows)
        self._spool = tempfile.SpooledTemporaryFile(_SPOOL_BYTES, dir=str(folder / layout.TEMPORARY))

    def put(self, row: int, outcome: Callable[[int, int], _Outcome], image: bytes) -> bool:
        """Keeps a row's outcome and image; returns whether it was the last one."""
        begin = int(self._spool.tell())
        self._spool.write(image)
        self._outcomes[row] = outcome(begin, len(image))
        self._missing -= 1
        return self._missing == 0

    def write(self) -> dict[str, Any]:
        """Writes the shard and its statistics, which it returns."""
        settings = self._settings
        writer = layout.WRITERS[settings.output_format](self._folder, self.name, self._schema, settings.encode_format)
        try:
            for row, outcome in enumerate(self._outcomes):
                assert outcome is not None
                self._write_row(writer, row, outcome)
            writer.close()
        except BaseException:
            writer.abandon()
            raise
        finally:
            self._spool.close()
        document = self.statistics.document()
        layout.write_statistics(self._folder, self.name, document)
        return document

    def _write_row(self, writer: layout.ShardWriter, row: int, outcome: _Outcome) -> None:
        settings = self._settings
        columns = {name: values[row] for name, values in self.columns.items()}
        columns["key"] = layout.sample_key(
            row, self._number, settings.number_sample_per_shard, settings.oom_shard_count
        )
        columns["status"] = outcome.status
        columns["error_message"] = outcome.message
        columns.update(outcome.columns)
        caption = None
        if settings.caption_col is not None:
            text = columns.get("caption")
            caption = "" if text is None else str(text)
        image = None
        if outcome.status == "success":
            self._spool.seek(outcome.begin)
            image = self._spool.read(outcome.length)
        self.statistics.add(outcome.status, outcome.kind)
        writer.write(image, caption, columns)


class Run:
    """One run, from the list to the output folder."""

    def __init__(self, settings: Settings, options: Options, program: str | None = None) -> None:
        self._settings = settings
        self._resizer = Resizer(settings)
        self._folder = Path(settings.output_folder)
        self._program = program
        self._options = options
        self._places: dict[int, _Place] = {}
        self._next = 0
        self._again: collections.deque[_Place] = collections.deque()
        self._new: Iterator[_Place] = iter(())
        self._totals: collections.Counter[str] = collections.Counter()
        self._begun = time.time()

    def download(self) -> dict[str, int]:
        """Runs it; returns how many rows came to which status."""
        first, done = self._prepare()
        input_files(self._settings)
        self._new = self._new_items(shards(self._settings, first, done))
        window = max(_SMALLEST_WINDOW, _WINDOW_PER_THREAD * self._settings.thread_count)
        try:
            with Worker(self._worker_options(), program=self._program, window=window) as worker:
                items = self._items()
                while (first_item := next(items, None)) is not None:
                    for result in worker.map(_chained(first_item, items)):
                        self._take(result)
                    # A last result may have asked for another attempt.
                    items = self._items()
        finally:
            shutil.rmtree(self._folder / layout.TEMPORARY, ignore_errors=True)
        return dict(self._totals)

    def _prepare(self) -> tuple[int, set[int]]:
        """Makes the output folder; returns the number of the first shard, and the shards that are done."""
        mode = self._settings.incremental_mode
        if mode == "overwrite" and self._folder.exists():
            shutil.rmtree(self._folder)
        self._folder.mkdir(parents=True, exist_ok=True)
        shutil.rmtree(self._folder / layout.TEMPORARY, ignore_errors=True)
        (self._folder / layout.TEMPORARY).mkdir()
        done = layout.done_shards(self._folder)
        if mode == "extend":
            return max(done, default=-1) + 1, set()
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
            no_paths=True,
            # Shards are written here.
            inline=True,
            output=None,
            sidecars=False,
        )

    def _new_items(self, numbered: Iterator[Shard]) -> Iterator[_Place]:
        for shard in numbered:
            if shard.rows.num_rows == 0:
                continue
            opened = _OpenShard(shard, self._settings, self._folder)
            for row, url in enumerate(opened.urls):
                text = url if isinstance(url, str) else ""
                yield _Place(opened, row, text, self._resizer.item(text))

    def _items(self) -> Iterator[dict[str, Any]]:
        """The requests: further attempts first, then those of new rows."""
        while True:
            place = self._again.popleft() if self._again else next(self._new, None)
            if place is None:
                return
            self._places[self._next] = place
            yield {**place.item, "id": self._next}
            self._next += 1

    def _take(self, result: Result) -> None:
        place = self._places.pop(result.id)
        if result.error is not None and result.error.code in _FAULTS_HERE:
            # Not the image's fault: a shard of such failures would count as done.
            raise OSError(result.error.message)
        place.attempts += 1
        if result.retry and place.attempts <= self._settings.retries:
            self._again.append(place)
            return
        if result.ok and not place.is_second and self._resizer.refusal(result) is None:
            second = self._resizer.again(result, place.url)
            if second is not None:
                place.is_second = True
                place.item = second
                self._again.append(place)
                return
        image, outcome = self._outcome(result, place)
        if place.shard.put(place.row, outcome, image):
            self._report(place.shard.write())

    def _outcome(self, result: Result, place: _Place) -> tuple[bytes, Callable[[int, int], _Outcome]]:
        columns: dict[str, Any] = dict.fromkeys(("width", "height", "original_width", "original_height"))
        if self._settings.extract_exif:
            columns["exif"] = None
        hash_name = self._settings.compute_hash
        if hash_name is not None:
            columns[hash_name] = None
        failed = failure_texts(result) or self._refused(result)
        if failed is not None:
            status, kind, message = failed
            return b"", lambda begin, length: _Outcome(status, kind, message, columns)
        try:
            image, columns["width"], columns["height"] = self._resizer.image(result, place.is_second)
        except (OSError, ValueError) as error:
            text = str(error)
            return b"", lambda begin, length: _Outcome("failed_to_resize", text, text, columns)
        assert result.source is not None
        columns["original_width"], columns["original_height"] = result.source.width, result.source.height
        if hash_name is not None:
            columns[hash_name] = hashlib.new(hash_name, image).hexdigest()
        return image, lambda begin, length: _Outcome("success", "success", None, columns, begin, length)

    def _refused(self, result: Result) -> tuple[str, str, str] | None:
        text = self._resizer.refusal(result)
        return None if text is None else ("failed_to_resize", text, text)

    def _report(self, document: dict[str, Any]) -> None:
        """Prints what img2dataset prints after each shard."""
        for name in ("count", "successes", "failed_to_download", "failed_to_resize"):
            self._totals[name] += document[name]
        print(_speed("worker", document, document["duration"]), flush=True)
        print(_speed("total", self._totals, time.time() - self._begun), flush=True)


def _chained(first: dict[str, Any], others: Iterator[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    yield first
    yield from others


def failure_texts(result: Result) -> tuple[str, str, str] | None:
    """Status, kind and message of a failure, in img2dataset's terms; the kind is counted in the statistics."""
    error = result.error
    if error is None:
        return None
    status = "failed_to_download" if error.stage in _BEFORE_AN_IMAGE else "failed_to_resize"
    http_status = result.http_status
    if error.stage == "download" and http_status is not None and http_status >= 400:
        text = f"HTTP Error {http_status}: {http.client.responses.get(http_status, '')}".rstrip(": ")
        return status, text, text
    return status, error.code, f"{error.code}: {error.message}"


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


def download(*, options: Options | None = None, program: str | None = None, **settings: Any) -> dict[str, int]:
    """img2dataset's function of the same name, with its options.

    `options` are further ones for the worker, such as `per_host`; `program` is where `thumbs` is. Returns the counts of
    rows. Raises `SettingError` for options that cannot be kept, and `WorkerError`.
    """
    chosen = Settings(**settings)
    for note in chosen.notes():
        print(f"note: {note}", file=sys.stderr)
    return Run(chosen, options or Options(), program).download()


__all__ = ["Run", "SettingError", "download", "failure_texts"]
