"""Fills shards with the worker's results: rows in, shards out, each row in the place that it has in the list."""

from __future__ import annotations

import hashlib
import http.client
import json
import queue
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from thumbs_worker.errors import WorkerError, WorkerFailed
from thumbs_worker.img2dataset import layout, ledger
from thumbs_worker.hosts import Hosts, pause_after
from thumbs_worker.img2dataset.reader import Shard
from thumbs_worker.img2dataset.robots import Robots, Rules
from thumbs_worker.img2dataset.settings import Settings
from thumbs_worker.options import Options
from thumbs_worker.protocol import Failure, Result, host_of
from thumbs_worker.worker import Worker

# Images of an unfinished shard stay in memory up to so many bytes, and go to a file beyond that.
_SPOOL_BYTES = 1 << 20
# Shards and rows that are begun at once: rows that are parked keep their shard open.
_MOST_SHARDS = 64
_MOST_WAITING = 50_000
# How long a row may wait for its host unless told otherwise, in seconds: as long as the worker would wait.
_PATIENCE = 60.0
# Errors before there is an image, beside those of downloads.
_BEFORE_AN_IMAGE = frozenset({"line", "download", "read"})
# Errors of this machine, which end the run.
_FAULTS_HERE = frozenset({"storage-unavailable", "cannot-write"})
_OPTED_OUT = "Use of image disallowed by X-Robots-Tag directive"


class Maker(Protocol):
    """What is requested of the worker for a row, and what is made of its result."""

    def item(self, url: str) -> dict[str, Any]:
        """The request for a row."""

    def refusal(self, result: Result) -> str | None:
        """Why an image is not wanted."""

    def again(self, result: Result, url: str) -> dict[str, Any] | None:
        """A second request, if the first result does not suffice."""

    def image(self, result: Result, is_second: bool) -> tuple[bytes, int | None, int | None]:
        """The image to write, its width and its height. Throws `ValueError` and `OSError`."""


@dataclass(repr=False)
class _Place:
    """Where a result belongs: a row of a shard, and what was tried for it."""

    shard: _OpenShard
    row: int
    url: str
    host: str
    # What was asked for last.
    item: dict[str, Any]
    attempts: int = 0
    is_second: bool = False
    first_failed: float | None = None


@dataclass(frozen=True)
class _Outcome:
    """What is known of a row until its shard is written; the image is in the spool."""

    status: str
    kind: str
    message: str | None
    columns: dict[str, Any]
    error: Failure | None
    begin: int = 0
    length: int = 0


class _OpenShard:
    """A shard of which rows are under way. Results come in any order, and are written in that of the rows."""

    def __init__(self, shard: Shard, settings: Settings, folder: Path) -> None:
        self.shard = shard
        # Those of a ledger become the names of files.
        for key in shard.keys:
            layout.plain(key, f"the keys of {shard.name}")
        self.columns = {name: shard.rows.column(name).to_pylist() for name in shard.rows.column_names}
        self.urls: list[Any] = self.columns["url"]
        self.statistics = layout.Statistics()
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
        """Writes the shard, the rows of it that may still come, and its statistics, which it returns."""
        settings = self._settings
        name = self.shard.name
        schema = layout.schema(self.shard.rows.schema, settings.extract_exif, settings.compute_hash)
        writer = layout.WRITERS[settings.output_format](self._folder, name, schema, settings.encode_format)
        entries: list[dict[str, Any]] = []
        try:
            for row, outcome in enumerate(self._outcomes):
                assert outcome is not None
                # The columns of the list, which another attempt needs as they are: `verify_hash` has the hash there.
                columns = {name: values[row] for name, values in self.columns.items()}
                columns["key"] = self.shard.keys[row]
                self._write_row(writer, columns, outcome)
                if outcome.error is not None and outcome.error.retry:
                    entries.append(ledger.entry(columns, outcome.error, self.shard.first_failed[row]))
            files = writer.close()
        except BaseException:
            writer.abandon()
            raise
        finally:
            self._spool.close()
        document = self.statistics.document()
        ledger.write(self._folder, name, self.shard.rows.schema, entries)
        layout.write_manifest(self._folder, name, files, document, completes=self.shard.completes)
        layout.write_statistics(self._folder, name, document)
        return document

    def _write_row(self, writer: layout.ShardWriter, listed: dict[str, Any], outcome: _Outcome) -> None:
        columns = {**listed, "status": outcome.status, "error_message": outcome.message, **outcome.columns}
        caption = None
        if self._settings.caption_col is not None:
            text = columns.get("caption")
            caption = "" if text is None else str(text)
        image = None
        if outcome.status == "success":
            self._spool.seek(outcome.begin)
            image = self._spool.read(outcome.length)
        self.statistics.add(outcome.status, outcome.kind)
        writer.write(image, caption, columns)


class Filler:
    """Fills shards in a folder. `report` gets the statistics of each when it has its name."""

    def __init__(
        self, settings: Settings, maker: Maker, options: Options, folder: Path,
        report: Callable[[Shard, dict[str, Any]], None], robots: Robots | None = None,
    ) -> None:  # fmt: skip
        self._settings = settings
        self._maker = maker
        self._folder = folder
        self._report = report
        self._robots = robots
        self._options = options
        self._rows = 0
        self._failures = 0
        self._patience = options.patience if options.patience is not None else _PATIENCE
        self._hosts: Hosts[_Place] = Hosts(options.rows_per_host, self._patience)
        self._ready: queue.SimpleQueue[Result | WorkerError | tuple[_Place, Rules]] = queue.SimpleQueue()
        self._places: dict[int, _Place] = {}
        self._sent = 0
        self._shards_open = 0
        # Rows that wait for their host's robots.txt.
        self._asking = 0

    def run(self, worker: Worker, shards: Iterator[Shard]) -> None:
        """Fills all shards. Raises `WorkerError`, and `OSError` where this machine is at fault."""
        new = self._new_places(shards)
        is_at_end = False
        while True:
            while len(self._places) < worker.window:
                place = self._hosts.next()
                if place is None and not is_at_end and self._has_room():
                    is_at_end = not self._take_new(new)
                    continue
                if place is None:
                    break
                self._places[self._sent] = place
                worker.submit({**place.item, "id": self._sent}, self._sent, self._ready.put)
                self._sent += 1
            if is_at_end and not self._places and not self._asking and not self._hosts.waiting:
                self._check_failures(is_at_end=True)
                return
            try:
                # With a full window no row can be sent, whether one is due or not.
                timeout = self._hosts.wake() if len(self._places) < worker.window else None
                answer = self._ready.get(timeout=timeout)
            except queue.Empty:
                continue
            if isinstance(answer, WorkerError):
                raise answer
            if isinstance(answer, tuple):
                self._asking -= 1
                self._permit(*answer)
            else:
                self._take(answer)

    def _has_room(self) -> bool:
        return self._shards_open <= _MOST_SHARDS and self._hosts.waiting + self._asking < _MOST_WAITING

    def _new_places(self, shards: Iterator[Shard]) -> Iterator[_Place]:
        for shard in shards:
            if shard.rows.num_rows == 0:
                continue
            opened = _OpenShard(shard, self._settings, self._folder)
            self._shards_open += 1
            for row, url in enumerate(opened.urls):
                text = url if isinstance(url, str) else ""
                yield _Place(opened, row, text, host_of(text), self._maker.item(text))

    def _take_new(self, new: Iterator[_Place]) -> bool:
        """Queues the next row of the list; returns whether there was one."""
        place = next(new, None)
        if place is None:
            return False
        if self._robots is None:
            self._hosts.add(place.host, place)
            return True
        self._asking += 1
        self._robots.ask(place.url, lambda rules: self._ready.put((place, rules)))
        return True

    def _permit(self, place: _Place, rules: Rules) -> None:
        """Queues a row if its host's robots.txt allows it; else it fails."""
        assert self._robots is not None
        refusal = self._robots.refusal(place.url, rules)
        if refusal is None:
            self._hosts.add(place.host, place)
            return
        self._put(place, b"", self._failed(refusal, "failed_to_download", refusal.message, refusal.message), refusal)

    def _take(self, result: Result) -> None:
        place = self._places.pop(result.id)
        error = result.error
        if error is not None and error.code in _FAULTS_HERE:
            # Not the image's fault: a shard of such failures would count as done.
            raise OSError(error.message)
        place.attempts += 1
        if self._comes_again(place, error):
            return
        if result.ok and not place.is_second and self._maker.refusal(result) is None:
            second = self._maker.again(result, place.url)
            if second is not None:
                place.is_second = True
                place.item = second
                self._hosts.add(place.host, place)
                return
        image, outcome = self._outcome(result, place)
        self._put(place, image, outcome, error)

    def _comes_again(self, place: _Place, error: Failure | None) -> bool:
        """Whether a row has failed for a reason that may pass soon. It is then parked."""
        if error is None or not error.retry or error.stage != "download":
            self._hosts.ended(place.host, works=True)
            return False
        if place.first_failed is None:
            place.first_failed = time.monotonic()
        pause = error.retry_after
        # A pause is over for all rows of the host at once; other rows wait for themselves.
        own_delay = pause_after(place.attempts) if pause is None else 0.0
        if self._hosts.ended(place.host, works=False, pause=pause, since=place.first_failed - own_delay):
            self._hosts.add(place.host, place, own_delay)
            return True
        delay = own_delay if pause is None else pause
        if place.attempts <= self._settings.retries and delay <= max(self._patience, _PATIENCE):
            self._hosts.add(place.host, place, delay)
            return True
        return False

    def _put(
        self, place: _Place, image: bytes, outcome: Callable[[int, int], _Outcome], error: Failure | None
    ) -> None:
        self._rows += 1
        self._failures += error is not None
        self._check_failures(is_at_end=False)
        if place.shard.put(place.row, outcome, image):
            document = place.shard.write()
            self._shards_open -= 1
            self._report(place.shard.shard, document)

    def _check_failures(self, is_at_end: bool) -> None:
        """Ends the run as the worker would, which does not know that several attempts are one row."""
        if not self._options.allows(self._failures, self._rows, is_at_end):
            allowed = self._options.max_failures
            raise WorkerFailed(f"{self._failures} of {self._rows} rows failed: max_failures allows {allowed}", 3)

    def _outcome(self, result: Result, place: _Place) -> tuple[bytes, Callable[[int, int], _Outcome]]:
        settings = self._settings
        columns = self._columns()
        failed = failure_texts(result)
        if failed is not None and not (settings.disable_all_reencoding and result.original is not None):
            return b"", self._failed(result.error, *failed)
        refusal = self._mismatch(result, place) or self._maker.refusal(result)
        if refusal is not None:
            status = "failed_to_download" if refusal == _MISMATCH else "failed_to_resize"
            return b"", self._failed(None, status, refusal, refusal)
        try:
            image, columns["width"], columns["height"] = self._maker.image(result, place.is_second)
        except (OSError, ValueError) as error:
            return b"", self._failed(None, "failed_to_resize", str(error), str(error))
        if result.source is not None and not settings.disable_all_reencoding:
            columns["original_width"], columns["original_height"] = result.source.width, result.source.height
        if settings.extract_exif and result.original is not None:
            columns["exif"] = exif(result.original)
        if settings.compute_hash is not None:
            whole = image if result.original is None else result.original
            columns[settings.compute_hash] = hashlib.new(settings.compute_hash, whole).hexdigest()
        return image, lambda begin, length: _Outcome("success", "success", None, columns, None, begin, length)

    def _mismatch(self, result: Result, place: _Place) -> str | None:
        """Why the source is not the one that the list means."""
        if self._settings.verify_hash is None or result.original is None:
            return None
        name = self._settings.verify_hash[1]
        expected = place.shard.columns[name][place.row]
        return None if hashlib.new(name, result.original).hexdigest() == expected else _MISMATCH

    def _columns(self) -> dict[str, Any]:
        """The columns of an outcome, empty."""
        columns: dict[str, Any] = dict.fromkeys(("width", "height", "original_width", "original_height"))
        if self._settings.extract_exif:
            columns["exif"] = None
        if self._settings.compute_hash is not None:
            columns[self._settings.compute_hash] = None
        return columns

    def _failed(
        self, error: Failure | None, status: str, kind: str, message: str
    ) -> Callable[[int, int], _Outcome]:
        return lambda begin, length: _Outcome(status, kind, message, self._columns(), error)


_MISMATCH = "hash mismatch"


def failure_texts(result: Result) -> tuple[str, str, str] | None:
    """Status, kind and message of a failure, in img2dataset's terms; the kind is counted in the statistics."""
    error = result.error
    if error is None:
        return None
    status = "failed_to_download" if error.stage in _BEFORE_AN_IMAGE else "failed_to_resize"
    if error.code == "opted-out":
        return status, _OPTED_OUT, _OPTED_OUT
    http_status = result.http_status
    if error.stage == "download" and http_status is not None and http_status >= 400:
        text = f"HTTP Error {http_status}: {http.client.responses.get(http_status, '')}".rstrip(": ")
        return status, text, text
    return status, error.code, f"{error.code}: {error.message}"


def exif(data: bytes) -> str | None:
    """The EXIF data of a file as a JSON text with exifread's names, as img2dataset has it; None without exifread."""
    try:
        import exifread
    except ImportError:
        return None
    import io

    try:
        tags = exifread.process_file(io.BytesIO(data), details=False)
    except Exception:  # exifread raises errors of many kinds for damaged data.
        return None
    return json.dumps({name: str(value).strip() for name, value in tags.items() if value is not None})
