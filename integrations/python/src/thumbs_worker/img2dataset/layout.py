"""img2dataset's output: names, columns, statistics and shards, each whole before it has its name."""

from __future__ import annotations

import collections
import contextlib
import ctypes
import errno
import hashlib
import io
import json
import math
import os
import re
import shutil
import tarfile
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import IO, Any, Protocol

import pyarrow as pa
import pyarrow.parquet

from thumbs_worker.img2dataset.settings import RESERVED
from thumbs_worker.img2dataset.tfrecord import Records

# Where files are until they are whole.
TEMPORARY = "_thumbs_tmp"
# A file for each shard, with the SHA-256 of its files.
MANIFEST = "_manifest"
# A file for each shard with rows that may still come.
LEDGER = "_ledger"
# How the names of a shard's files end.
ENDS = ("", ".tar", ".parquet", ".tfrecord")
_FIELDS = {"files", "rows", "successes", "samples", "completes"}
_READ_SIZE = 1 << 20
# The columns that are not of the list.
_MADE = RESERVED - {"url", "caption"}
# Rows of a row group, as img2dataset writes them.
_ROWS_AT_ONCE = 100
# More kinds of errors than this are not told apart in a shard's statistics.
_MOST_KINDS = 100_000
def plain(name: object, where: object, start: str = "") -> str:
    """A name that was read from a file or a storage, which others may have written. Throws `ValueError` for a path: it
    could lead anywhere."""
    if isinstance(name, str) and re.fullmatch(r"[^/\\\0]+", name) and name.startswith(start) and name not in (".", ".."):
        return name
    raise ValueError(f"{where} has {name!r}, which is no plain name of its own: others have changed it, remove it")


def shard_name(number: int, digits: int) -> str:
    """`00012`."""
    return f"{number:0{digits}d}"


def sample_key(row: int, shard: int, per_shard: int, digits: int) -> str:
    """`000120034`: the shard's number, then the row's in as many digits as a full shard needs."""
    row_digits = math.ceil(math.log10(per_shard))
    return f"{10**row_digits * shard + row:0{row_digits + digits}d}"


def schema(columns: pa.Schema, has_exif: bool, hash_name: str | None) -> pa.Schema:
    """The columns of a shard's Parquet file."""
    result = columns
    for name in ("key", "status", "error_message"):
        result = result.append(pa.field(name, pa.string()))
    for name in ("width", "height", "original_width", "original_height"):
        result = result.append(pa.field(name, pa.int32()))
    if has_exif:
        result = result.append(pa.field("exif", pa.string()))
    if hash_name is not None and hash_name not in result.names:
        result = result.append(pa.field(hash_name, pa.string()))
    return result


class Statistics:
    """Counts what became of a shard's rows, for its `_stats.json`."""

    def __init__(self) -> None:
        self.count = 0
        self.begun = time.time()
        self.by_status: collections.Counter[str] = collections.Counter()
        self.kinds: collections.Counter[str] = collections.Counter()

    def add(self, status: str, kind: str) -> None:
        """Counts a row with its status and, for a failure, its kind."""
        self.count += 1
        self.by_status[status] += 1
        if kind in self.kinds or len(self.kinds) < _MOST_KINDS:
            self.kinds[kind] += 1

    def document(self) -> dict[str, Any]:
        """The statistics up to now."""
        ended = time.time()
        return {
            "count": self.count,
            "successes": self.by_status["success"],
            "failed_to_download": self.by_status["failed_to_download"],
            "failed_to_resize": self.by_status["failed_to_resize"],
            "duration": ended - self.begun,
            "start_time": self.begun,
            "end_time": ended,
            "status_dict": dict(self.kinds),
        }


class ShardWriter(Protocol):
    """Takes the samples of a shard in order, in a folder of its own."""

    def write(self, image: bytes | None, caption: str | None, columns: Mapping[str, Any]) -> None:
        """Adds a row; `image` is None where it failed, `caption` None where no captions are written."""

    def close(self) -> list[str]:
        """Syncs the shard; returns the names of its files and folders."""

    def abandon(self) -> None:
        """Removes what was written."""


def remove(path: Path) -> None:
    """Removes a temporary file, or a folder with all that is in it; does nothing where there is none."""
    shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink(missing_ok=True)


def sync(path: Path) -> None:
    """Waits until a file or a folder is on its disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


class _Table:
    """A shard's Parquet file, some rows at a time."""

    def __init__(self, path: Path, columns: pa.Schema) -> None:
        self._schema = columns
        self._writer = pa.parquet.ParquetWriter(path, columns)
        self._rows: list[Mapping[str, Any]] = []

    def write(self, row: Mapping[str, Any]) -> None:
        self._rows.append(row)
        if len(self._rows) >= _ROWS_AT_ONCE:
            self._flush()

    def _flush(self) -> None:
        if self._rows:
            self._writer.write_table(pa.Table.from_pylist(self._rows, schema=self._schema))
            self._rows = []

    def close(self) -> None:
        self._flush()
        self._writer.close()


class _Shard:
    """A shard with a Parquet file, and what `_ends` names before it."""

    _ends: tuple[str, ...] = ()

    def __init__(self, folder: Path, name: str, columns: pa.Schema, image_end: str) -> None:
        self._folder = folder
        self._name = name
        self._image_end = image_end
        self._table = _Table(self._path(".parquet"), columns)

    def _path(self, end: str) -> Path:
        return self._folder / f"{self._name}{end}"

    def _finish(self) -> None:
        self._table.close()

    def close(self) -> list[str]:
        self._finish()
        for end in (*self._ends, ".parquet"):
            sync(self._path(end))
        return [f"{self._name}{end}" for end in (*self._ends, ".parquet")]

    def abandon(self) -> None:
        with contextlib.suppress(Exception):
            self._finish()
        for end in (*self._ends, ".parquet"):
            remove(self._path(end))


class WebDatasetShard(_Shard):
    """`00000.tar` with `{key}.jpg`, `{key}.txt` and `{key}.json`, and `00000.parquet`."""

    _ends = (".tar",)

    def __init__(self, folder: Path, name: str, columns: pa.Schema, image_end: str) -> None:
        super().__init__(folder, name, columns, image_end)
        self._tar = tarfile.open(self._path(".tar"), "w", format=tarfile.USTAR_FORMAT)

    def write(self, image: bytes | None, caption: str | None, columns: Mapping[str, Any]) -> None:
        if image is not None:
            key = columns["key"]
            self._add(f"{key}.{self._image_end}", image)
            self._add(f"{key}.json", json.dumps(columns, indent=4, default=str).encode())
            if caption is not None:
                self._add(f"{key}.txt", caption.encode("utf-8", "surrogatepass"))
        self._table.write(columns)

    def _add(self, name: str, data: bytes) -> None:
        # The same bytes for the same samples: no time, no owner.
        entry = tarfile.TarInfo(name)
        entry.size = len(data)
        entry.mode = 0o444
        self._tar.addfile(entry, io.BytesIO(data))

    def _finish(self) -> None:
        super()._finish()
        self._tar.close()


class FilesShard(_Shard):
    """A folder `00000` with `{key}.jpg`, `{key}.txt` and `{key}.json`, and `00000.parquet`."""

    _ends = ("",)

    def __init__(self, folder: Path, name: str, columns: pa.Schema, image_end: str) -> None:
        super().__init__(folder, name, columns, image_end)
        self._path("").mkdir()

    def write(self, image: bytes | None, caption: str | None, columns: Mapping[str, Any]) -> None:
        if image is not None:
            base = self._path("") / columns["key"]
            base.with_suffix(f".{self._image_end}").write_bytes(image)
            base.with_suffix(".json").write_text(json.dumps(columns, indent=4, default=str))
            if caption is not None:
                base.with_suffix(".txt").write_text(caption, encoding="utf-8", errors="surrogatepass")
        self._table.write(columns)


class ParquetShard(_Shard):
    """`00000.parquet` with the image in a column that is named after its format."""

    def __init__(self, folder: Path, name: str, columns: pa.Schema, image_end: str) -> None:
        super().__init__(folder, name, columns.append(pa.field(image_end, pa.binary())), image_end)

    def write(self, image: bytes | None, caption: str | None, columns: Mapping[str, Any]) -> None:
        self._table.write({**columns, self._image_end: image})


class TFRecordShard(_Shard):
    """`00000.tfrecord` with an `Example` for each image, and `00000.parquet`."""

    _ends = (".tfrecord",)

    def __init__(self, folder: Path, name: str, columns: pa.Schema, image_end: str) -> None:
        super().__init__(folder, name, columns, image_end)
        self._stream = self._path(".tfrecord").open("wb")
        self._records = Records(self._stream)

    def write(self, image: bytes | None, caption: str | None, columns: Mapping[str, Any]) -> None:
        if image is not None:
            features: dict[str, Any] = {"key": columns["key"], self._image_end: image}
            if caption is not None:
                features["txt"] = caption
            self._records.write({**features, **columns, **features})
        self._table.write(columns)

    def _finish(self) -> None:
        super()._finish()
        self._stream.close()


class DummyShard:
    """Nothing but the statistics: to measure downloads and decodes."""

    def __init__(self, folder: Path, name: str, columns: pa.Schema, image_end: str) -> None:
        pass

    def write(self, image: bytes | None, caption: str | None, columns: Mapping[str, Any]) -> None:
        pass

    def close(self) -> list[str]:
        return []

    def abandon(self) -> None:
        pass


# The writer of each output format.
WRITERS: dict[str, Callable[[Path, str, pa.Schema, str], ShardWriter]] = {
    "webdataset": WebDatasetShard,
    "files": FilesShard,
    "parquet": ParquetShard,
    "tfrecord": TFRecordShard,
    "dummy": DummyShard,
}


@contextlib.contextmanager
def new_file(folder: Path, target: Path) -> Iterator[Path]:
    """Lends a path to write to; the file has its name in the output when it is complete and synced."""
    (folder / TEMPORARY).mkdir(exist_ok=True)
    # Two runs, or two tasks of an engine, may write the same file.
    path = folder / TEMPORARY / f"{target.name}-{os.getpid()}-{time.time_ns()}"
    try:
        yield path
        sync(path)
        target.parent.mkdir(exist_ok=True)
        path.rename(target)
        sync(target.parent)
    finally:
        path.unlink(missing_ok=True)


def rename(path: Path, target: Path) -> None:
    """Gives a file or folder a name that no file has, also not one that comes in this moment. Throws `OSError`."""
    here, no_replace = -100, 1
    call = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if call is None or call(here, os.fsencode(path), here, os.fsencode(target), no_replace) != 0:
        # NFS, and others, have no such call; and an empty folder gives way.
        if call is None or ctypes.get_errno() in (errno.EINVAL, errno.ENOSYS) or (target.is_dir() and not target.is_symlink()):
            path.rename(target)
        else:
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()), str(target))


def sha256(path: Path) -> str:
    """The hash of a file; of a folder, that of the sorted lines `HASH  NAME` of its files."""
    if path.is_dir():
        return folder_digest({file.name: sha256(file) for file in path.iterdir()})
    with path.open("rb") as stream:
        return digest(stream)


def digest(stream: IO[bytes]) -> str:
    """The hash of what a stream still has."""
    result = hashlib.sha256()
    while block := stream.read(_READ_SIZE):
        result.update(block)
    return result.hexdigest()


def samples(file: str, stream: IO[bytes]) -> list[tuple[str, str]]:
    """What is in a file of a shard, each with its hash: members, records, the file itself, or what each row has of the
    list, and the whole rows of images."""
    if file.endswith(".tar"):
        with tarfile.open(fileobj=stream, mode="r|") as tar:
            return [(each.name, digest(tar.extractfile(each) or io.BytesIO())) for each in tar]
    if file.endswith(".tfrecord"):
        lengths = iter(lambda: stream.read(12)[:8], b"")
        return [("", digest(io.BytesIO(stream.read(int.from_bytes(each, "little") + 4)))) for each in lengths]
    if file.endswith(".parquet"):
        batches = pa.parquet.ParquetFile(stream).iter_batches(_ROWS_AT_ONCE)
        rows = (row for batch in batches for row in batch.to_pylist())
        pairs = (({name: row[name] for name in row if name not in _MADE}, row) for row in rows)
        parts = (part for listed, row in pairs for part in (listed, row)[: 1 + (row.get("status") == "success")])
        return [("", hashlib.sha256(repr(part).encode()).hexdigest()) for part in parts]
    return [(file.rpartition("/")[2], digest(stream))]


def folder_digest(digests: Mapping[str, str | None]) -> str:
    """The hash of a folder, from those of its files."""
    lines = "".join(f"{digests[name]}  {name}\n" for name in sorted(digests))
    return hashlib.sha256(lines.encode("utf-8", "surrogateescape")).hexdigest()


def write_manifest(folder: Path, name: str, files: list[str], counts: Mapping[str, Any], *, completes: bool) -> None:
    """Writes what a shard consists of. It has the same bytes in each run with the same results."""
    if not files:
        return
    samples = {file.name: sha256(file) for file in sorted(folder.glob(f"{name}/*"))}
    document = {
        "files": {file: sha256(folder / file) if file != name else folder_digest(samples) for file in files},
        "rows": counts["count"],
        "successes": counts["successes"],
    }
    if samples:
        document["samples"] = samples
    if completes:
        document["completes"] = True
    write_document(folder, folder / MANIFEST / f"{name}.manifest", document)


def manifest(folder: Path, name: str) -> dict[str, Any]:
    """What a shard consists of; nothing for one of an earlier version. Throws `ValueError`."""
    path = folder / MANIFEST / f"{name}.manifest"
    return parsed_manifest(path.read_bytes(), name) if path.exists() else {"files": {}}


def parsed_manifest(data: bytes, name: str) -> dict[str, Any]:
    """The manifest of a shard. Throws `ValueError` for one that is damaged, or names files of others."""
    where = f"{MANIFEST}/{name}.manifest"
    try:
        document: dict[str, Any] = json.loads(data)
        document["files"].items()
        samples = document.get("samples", {}).keys()
        if not document.keys() <= _FIELDS or not 0 <= document.get("successes", 0) <= document.get("rows", 0):
            raise ValueError("it has other fields, or counts")
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        raise ValueError(f"{where} is not as a run has written it: move it") from None
    for file in document["files"]:
        plain(file, where, name)
    for file in samples:
        plain(file, where)
    return document


def write_document(folder: Path, target: Path, document: Mapping[str, Any]) -> None:
    """Writes a JSON file, which has its name when it is complete."""
    with new_file(folder, target) as path:
        path.write_text(json.dumps(document, indent=1) + "\n")


def write_statistics(folder: Path, name: str, document: Mapping[str, Any]) -> None:
    """Writes `00000_stats.json`, which marks the shard as done: a later run leaves it."""
    with new_file(folder, folder / f"{name}_stats.json") as path:
        path.write_text(json.dumps(document, indent=4))


def is_statistics(data: bytes, document: Mapping[str, Any]) -> bool:
    """Whether the bytes of a `_stats.json` are those of the shard with this manifest."""
    with contextlib.suppress(ValueError, RecursionError):
        found = json.loads(data)
        counts = [document.get(name) for name in ("rows", "successes")]
        return list(found) == list(Statistics().document()) and [found["count"], found["successes"]] == counts
    return False


def done_shards(folder: Path) -> dict[int, str]:
    """The numbers of the shards that have statistics, in order, with their names."""
    names = (path.name.partition("_stats")[0] for path in folder.glob("*_stats.json"))
    return {int(name): name for name in sorted(names, key=lambda name: (len(name), name)) if re.fullmatch("[0-9]+", name)}
