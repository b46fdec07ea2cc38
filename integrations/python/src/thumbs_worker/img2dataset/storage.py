"""Where an output is: a folder of this machine or, by fsspec, `s3://` and the like.

Elsewhere, a shard is complete here before it is sent, and its statistics are sent last: they commit it. Nothing is
renamed there, so a run that was killed leaves files that the next one replaces.
"""

from __future__ import annotations

import fcntl
import functools
import json
import os
import shutil
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any, TypeVar

from thumbs_worker.errors import shown
from thumbs_worker.img2dataset import layout
from thumbs_worker.img2dataset.settings import SettingError

T = TypeVar("T")
# How often a transfer is tried, and the first pause in seconds, which doubles: for storage that says SlowDown.
_ATTEMPTS = 6
_FIRST_PAUSE = 0.5


def is_elsewhere(address: str) -> bool:
    """Whether an address is that of a file or folder of another machine."""
    return "://" in address


def read(address: str, parse: Callable[[IO[bytes]], T]) -> T:
    """What is made of a file, here or elsewhere."""
    if not is_elsewhere(address):
        with open(address, "rb") as stream:
            return parse(stream)
    system, path = _system(address)

    def attempt() -> T:
        with system.open(path, "rb") as stream:
            return parse(stream)

    return _again(attempt)


def listed(address: str, end: str) -> list[str] | None:
    """The files of a folder whose names end so, with their addresses; None for a file. Throws `FileNotFoundError`."""
    if not is_elsewhere(address):
        if not Path(address).exists():
            raise FileNotFoundError(f"{address} is not there")
        return sorted(map(str, Path(address).glob(f"*{end}"))) if Path(address).is_dir() else None
    system, path = _system(address)
    if _again(lambda: system.isfile(path)):
        return None
    scheme = address.partition("://")[0]
    return sorted(f"{scheme}://{file}" for file in _again(lambda: system.glob(f"{path.rstrip('/')}/*{end}")))


class Output:
    """The folder that shards are written into, `folder`, which is the output itself or goes there."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.folder = Path(address)
        self._system: Any = None
        self._lock: int | None = None
        if is_elsewhere(address):
            self._system, self._root = _system(address)
            self.folder = Path(tempfile.mkdtemp(prefix="thumbs-output-"))

    def claim(self) -> None:
        """Makes the folder, and keeps other runs out of it until `close`: two would give shards the same numbers. Object
        storage and NFS have no such lock. Throws `OSError`."""
        if self._system is not None or self._lock is not None:
            return
        self.folder.mkdir(parents=True, exist_ok=True)
        lock = os.open(self.folder, os.O_RDONLY)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(lock)
            raise BlockingIOError(f"another run writes into {self.address}: try again when it has ended") from None
        except OSError:
            # NFS locks no folders.
            pass
        self._lock = lock

    def begin(self, overwrite: bool, needs_ledger: bool) -> None:
        """Makes the folder, without shards with `overwrite`, and gets the names of those that are there, and the ledger."""
        self.claim()
        for part in (layout.MANIFEST, layout.LEDGER):
            if (self.folder / part).is_symlink():
                raise FileExistsError(f"{self.folder / part} is a link: remove it, or its files would be changed")
        if self._system is not None:
            # Others may have written there since it was listed.
            self._system.invalidate_cache()
        # What a run has written, by the manifests: all else is somebody's own.
        shards = {Path(name).stem for name in self.names(layout.MANIFEST)} if overwrite else set()
        shards |= {""} if shards else set()
        if self._system is None:
            for path in list(self.folder.iterdir()):
                is_shard = layout.is_ours(path.name) or path.name.isdigit()
                if path.name == layout.TEMPORARY or is_shard and path.stem.partition("_")[0] in shards:
                    layout.remove(path)
        elif overwrite:
            self._remove(self._root, shards)
        else:
            for name in self.names():
                if name.endswith("_stats.json"):
                    (self.folder / layout.plain(name, self.address)).touch()
            for part in (layout.MANIFEST, layout.LEDGER) if needs_ledger else ():
                self._get_files(part)
        (self.folder / layout.TEMPORARY).mkdir()

    def published(self, name: str) -> None:
        """A shard has its name in `folder`."""
        if self._system is None:
            return
        data = list(layout.manifest(self.folder, name)["files"])
        entries = f"{layout.LEDGER}/{name}.parquet"
        layout.claim(name, data, self._exists)
        for file in [f"{layout.MANIFEST}/{name}.manifest", *data, entries]:
            path = self.folder / file
            for each in sorted(path.iterdir()) if path.is_dir() else [path] if path.exists() else []:
                self._put(each)
        # What a run that was killed has left of the shard.
        if not (self.folder / entries).exists() and _again(lambda: self._system.exists(self._at(entries))):
            _again(lambda: self._system.rm_file(self._at(entries)))
        self._put(self.folder / f"{name}_stats.json")
        for file in data:
            layout.remove(self.folder / file)

    def fetch(self, file: str) -> Path:
        """A file of the output on this machine."""
        path = self.folder / layout.plain(file, self.address)
        if self._system is not None and not path.exists():
            if _again(lambda: self._system.isdir(self._at(file))):
                self._get_files(file)
            else:
                _again(lambda: self._system.get_file(self._at(file), str(path)))
        return path

    def adopt(self, source: str, name: str, new_name: str) -> None:
        """Takes a complete shard over from another folder of the same storage, with a new name; its statistics last."""
        other = _system(source)[1] if self._system is not None else source
        document = layout.parsed_manifest(self._read(f"{other}/{layout.MANIFEST}/{name}.manifest"), name)
        moved = {file: new_name + file.removeprefix(name) for file in document["files"]}
        entries = f"{layout.LEDGER}/{name}.parquet", f"{layout.LEDGER}/{new_name}.parquet"
        data = (new_name, f"{new_name}.tar", f"{new_name}.parquet")
        layout.claim(new_name, data, self._exists)
        # From now on they are a shard's. What a commit that was interrupted has left goes.
        self.write(f"{layout.MANIFEST}/{new_name}.manifest", {"files": {}})
        for left in (*data, entries[1]):
            self.remove(left)
        for file, target in (*moved.items(), entries):
            self._move(f"{other}/{file}", target)
        document["files"] = {moved[file]: digest for file, digest in document["files"].items()}
        self.write(f"{layout.MANIFEST}/{new_name}.manifest", document)
        self._move(f"{other}/{name}_stats.json", f"{new_name}_stats.json")

    def write(self, name: str, document: dict[str, Any]) -> None:
        """Writes a JSON file of the output."""
        layout.write_document(self.folder, self.folder / name, document)
        if self._system is not None:
            self._put(self.folder / name)

    def remove(self, name: str) -> None:
        """Removes a file, or a folder, as `layout.remove`."""
        if self._system is None:
            layout.remove(self.folder / name)
        else:
            self._remove(self._at(name))

    def _remove(self, folder: str, shards: set[str] | None = None) -> None:
        names = [path.removeprefix(f"{self._root}/") for path in _again(lambda: self._system.find(folder))]
        ours = [name for name in names if layout.is_ours(name)]
        if shards is not None:
            ours = [name for name in ours if Path(name.partition("/")[0]).stem.partition("_")[0] in shards]
        if ours:
            _again(lambda: self._system.rm([f"{self._root}/{name}" for name in ours]))

    def names(self, part: str = "") -> list[str]:
        """The names of what is in the output, or in a folder of it; none if it is not there."""
        try:
            if self._system is None:
                return sorted(path.name for path in (self.folder / part).iterdir())
            folder = self._at(part).rstrip("/")
            paths = {path.rstrip("/") for path in _again(lambda: self._system.ls(folder, False))} - {folder}
            return sorted(path.rpartition("/")[2] for path in paths)
        except FileNotFoundError:
            return []

    def _exists(self, name: str) -> bool:
        if self._system is None:
            return os.path.lexists(self.folder / name)
        return _again(lambda: bool(self._system.exists(self._at(name))))

    def _read(self, path: str) -> bytes:
        if self._system is None:
            return Path(path).read_bytes()
        return bytes(_again(lambda: self._system.cat_file(path)))

    def _move(self, path: str, name: str) -> None:
        """Gives a file or a folder a name in the output. In object storage it is copied; does nothing without one."""
        if self._system is None:
            if Path(path).exists():
                (self.folder / name).parent.mkdir(exist_ok=True)
                Path(path).rename(self.folder / name)
            return
        for each in _again(lambda: self._system.find(path)):
            _again(functools.partial(self._system.cp_file, each, self._at(name) + each.removeprefix(path)))

    def leave(self) -> None:
        """Ends a part of a run, whose folder others still use."""
        if self._system is not None:
            self.close()

    def close(self) -> None:
        """Removes what is temporary."""
        if self._system is not None:
            shutil.rmtree(self.folder, ignore_errors=True)
        elif self._lock is not None:
            shutil.rmtree(self.folder / layout.TEMPORARY, ignore_errors=True)
            os.close(self._lock)
            self._lock = None

    def verify(self) -> list[str]:
        """Reads all shards again; returns what differs from the manifest, a line for each file."""
        if self._system is not None:
            self._get_files(layout.MANIFEST)
        if not (self.folder / layout.MANIFEST).is_dir():
            return [f"there is no {layout.MANIFEST}"]
        problems = []
        known: set[str] = set()
        for manifest in sorted((self.folder / layout.MANIFEST).glob("*.manifest")):
            known.add(f"{manifest.stem}_stats.json")
            try:
                for file, expected in layout.manifest(self.folder, manifest.stem)["files"].items():
                    known.add(file)
                    try:
                        path = self.fetch(file)
                        if layout.sha256(path) != expected:
                            problems.append(f"{file} has other bytes than when it was written")
                    except FileNotFoundError:
                        problems.append(f"{file} is missing")
                        continue
                    if self._system is not None:
                        layout.remove(path)
            except ValueError as error:
                problems.append(str(error))
        return problems + [f"{name} is in no manifest" for name in self.names() if name not in known and name[0] != "_"]

    def holds(self, file: str) -> bool:
        """Whether a file has the name of one of this output."""
        whole = os.path.realpath if self._system is None else str
        file, folder = whole(file), whole(self.address.rstrip("/"))
        return file.startswith(f"{folder}/") and layout.is_ours(file.removeprefix(f"{folder}/"))

    def _get_files(self, part: str) -> None:
        """Gets the files of a folder of the output, several at a time."""
        names = [layout.plain(name, f"{self.address}/{part}") for name in self.names(part)]
        if names:
            (self.folder / part).mkdir(exist_ok=True)
            found, here = ([f"{place}/{name}" for name in names] for place in (self._at(part), self.folder / part))
            _again(lambda: self._system.get(found, here))

    def _put(self, path: Path) -> None:
        target = self._at(str(path.relative_to(self.folder)))
        # A transfer that breaks off leaves no object, or is replaced by the next attempt.
        _again(lambda: self._system.put_file(str(path), target))

    def _at(self, file: str) -> str:
        return f"{self._root}/{file}"


def _system(address: str) -> tuple[Any, str]:
    try:
        import fsspec
    except ImportError as error:
        raise SettingError(f"{address} needs fsspec: pip install 'thumbs-worker[storage]'") from error
    try:
        system, path = fsspec.core.url_to_fs(address)
    except (ImportError, ValueError) as error:
        raise SettingError(f"{address} cannot be used: {error}") from error
    # Other processes write there, too.
    system.use_listings_cache = False
    return system, str(path).rstrip("/")


def _again(work: Callable[[], T]) -> T:
    """Tries work that storage has refused for a passing reason again. Throws `OSError`, and `ValueError` at once."""
    for attempt in range(_ATTEMPTS):
        try:
            return work()
        except Exception as error:
            # Errors of some libraries are no OSError, such as botocore's of connections and of credentials.
            lasting = (FileNotFoundError, PermissionError, ValueError)
            kind = next((each for each in (*lasting, OSError) if isinstance(error, each)), OSError)
            if kind in lasting or attempt + 1 == _ATTEMPTS or "Credential" in type(error).__name__:
                # Their texts have whole addresses.
                raise kind(shown(error) or type(error).__name__) from None
            time.sleep(_FIRST_PAUSE * 2**attempt)
    raise AssertionError("the last attempt returns or raises")
