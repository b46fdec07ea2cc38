"""Where an output is: a folder of this machine or, by fsspec, `s3://` and the like.

A shard is complete before it comes there: first its manifest, which says which bytes its files have, then these, and
its statistics last, which commit it. So the next run knows what one that was killed has left. What no manifest names as
it is there is somebody's own: it is neither removed nor replaced. Where a shard takes the place of another, samples
that it lacks are moved aside.
"""

from __future__ import annotations

import contextlib
import fcntl
import functools
import itertools
import json
import os
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import IO, Any, TypeVar

from thumbs_worker.errors import shown
from thumbs_worker.img2dataset import layout, ledger
from thumbs_worker.img2dataset.settings import SettingError

T = TypeVar("T")
# How often a transfer is tried, and the first pause in seconds, which doubles: for storage that says SlowDown.
_ATTEMPTS = 6
_FIRST_PAUSE = 0.5
# What is called so in a folder for temporary files is of a run: of now, or of an earlier version.
_STAGE = "shards-"
_TEMPORARY = rf"{_STAGE}.*|.+-\d+-\d{{16,}}"
# What follows the name of what was moved aside.
_ASIDE = ".before"
# As many names in an error.
_MOST_NAMED = 5


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
    folder = re.sub(r"([*?[])", r"[\1]", path.rstrip("/"))
    return sorted(f"{scheme}://{file}" for file in _again(lambda: system.glob(f"{folder}/*{end}")))


class Output:
    """The folder that shards are written into. `folder` is what of it is on this machine."""

    def __init__(self, address: str) -> None:
        # A local folder is one by every name: nothing is written through its links, and it has a lock.
        address = re.sub("^(file|local)://", "", address)
        # An object's name with two slashes is another one.
        self.address = address.rstrip("/") or address
        self._system: Any
        self._system, self._root = _system(address) if is_elsewhere(address) else (None, address)
        if self._system is not None and re.search(r"[*?[]", self._root):
            raise SettingError(f"{address} would be taken for a pattern, also of others' objects: leave out *, ? and [")
        self.folder = Path(address if self._system is None else tempfile.mkdtemp(prefix="thumbs-output-"))
        self._lock: int | None = None
        # Of files when they were found to be ours.
        self._states: dict[str, tuple[int, int, int]] = {}

    @functools.cached_property
    def stage(self) -> Path:
        """The folder where shards are made, for `published`."""
        stage = self.folder
        if self._system is None:
            (self.folder / layout.TEMPORARY).mkdir(parents=True, exist_ok=True)
            stage = Path(tempfile.mkdtemp(prefix=_STAGE, dir=self.folder / layout.TEMPORARY))
        (stage / layout.TEMPORARY).mkdir(exist_ok=True)
        return stage

    def claim(self) -> None:
        """Makes the folder, and keeps other runs out of it until `close`: two would give shards the same numbers. Object
        storage and NFS have no such lock. Throws `OSError`."""
        for part in (layout.MANIFEST, layout.LEDGER, layout.TEMPORARY):
            if (self.folder / part).is_symlink():
                raise FileExistsError(f"{self.folder / part} is a link: remove it, or its files would be changed")
        if self._system is not None or self._lock is not None:
            return
        self.folder.mkdir(parents=True, exist_ok=True)
        lock = os.open(self.folder, os.O_RDONLY)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            # NFS locks no folders.
            if isinstance(error, BlockingIOError):
                os.close(lock)
                raise BlockingIOError(f"another run writes into {self.address}: try again when it has ended") from None
        self._lock = lock

    def begin(self, needs_ledger: bool) -> None:
        """Makes the folder, and gets the names of the shards that are there, and the ledger. Throws `FileExistsError` for
        what is in the way."""
        self.claim()
        if self._system is not None:
            # Others may have written there since it was listed.
            self._system.invalidate_cache()
        done = {name.removesuffix("_stats.json") for name in self.names() if name.endswith("_stats.json")}
        for name in done if self._system is not None else ():
            (self.folder / layout.plain(f"{name}_stats.json", self.address)).touch()
        self._left(self._begun() - done)
        for part in (layout.MANIFEST, layout.LEDGER) if needs_ledger and self._system is not None else ():
            self._get_files(part)
        self.sweep(layout.TEMPORARY, _TEMPORARY)

    def published(self, name: str) -> None:
        """Gives a shard that is complete in `stage` its names in the output."""
        self._take(str(self.stage), name, name, document := layout.manifest(self.stage, name))
        for file in document["files"]:
            layout.remove(self.stage / file)

    def _take(self, source: str, name: str, new_name: str, document: dict[str, Any]) -> None:
        """Takes a shard over from a folder; its manifest first, its statistics last. What is in its place is moved aside,
        and stays there if it has samples that the new one has not."""
        left = self._left([new_name])
        old = [file for file in left if file[0] != "_" and file != f"{new_name}_stats.json"]
        new = [*document["files"].keys() - {name}, *(f"{name}/{file}" for file in document.get("samples", ()))]
        aside = list[str]()
        if samples := _samples(self.address, old):
            self.discard({f"{new_name}_stats.json"}.intersection(left))
            aside = self._move_aside(old, not samples <= _samples(source, new))
        self.discard(left)
        files = {file.replace(name, new_name, 1): digest for file, digest in document["files"].items()}
        if files:
            self.write(f"{layout.MANIFEST}/{new_name}.manifest", {**document, "files": files})
        # Before the files: where these are whole, it is there.
        for file in [f"{layout.LEDGER}/{name}.parquet", *document["files"], f"{name}_stats.json"]:
            self._move(f"{source}/{file}", file.replace(name, new_name, 1))
        self.discard(aside)

    def _move_aside(self, parts: list[str], stays: bool) -> list[str]:
        """Gives the files and folders of a shard's parts free names beside them, with the same end. In object storage they
        are copied. Returns what of these may be removed when the new one is there: not what came or changed since."""
        files = {file.partition("/")[0] for file in parts}
        number = next(n or "" for n in itertools.count() if not any(self._parts(f"{file}{_ASIDE}{n or ''}") for file in files))
        for file in sorted(files):
            self._move(f"{self.address}/{file}", name := f"{file}{_ASIDE}{number}")
            if stays:
                print(f"{file} has what its new shard has not: it is {name} now", file=sys.stderr)
        moved = {file: re.sub(r"^[^/]+", rf"\g<0>{_ASIDE}{number}", file) for file in parts}
        # Where names number files (rclone), a file has another number now.
        for file in set(parts).intersection(self._states):
            old, new = self._states[file], self._state(moved[file]) or self._states[file]
            self._states[moved[file]] = new if new[:2] == old[:2] else old
        return [] if stays else list(moved.values())

    def discard(self, files: Iterable[str]) -> None:
        """Removes files: statistics first, without which a shard is not done, and manifests last. Throws `FileExistsError`
        for what of a shard is new, or has changed since it was looked at."""
        parts: tuple[list[str], ...] = [], [], []
        removed: list[str] = []
        for file in files:
            parts[0 if file.endswith("_stats.json") else 2 if file.startswith(layout.MANIFEST) else 1].append(file)
        for some in parts:
            if self._system is not None and some:
                _again(functools.partial(self._system.rm, [self._at(file) for file in some]))
            folders = {file.partition("/")[0] for file in some if "/" in file} if self._system is None else set()
            there = [file for folder in folders if folder[0].isdigit() for file in self._parts(folder)]
            for file in [*sorted({*there} - {*some}), *some] if self._system is None else ():
                state = self._state(file)
                if state and (file not in some or state != self._states.get(file, state)):
                    gone = f"; removed already: {', '.join(removed[:_MOST_NAMED])}, {len(removed)} in all" if removed else ""
                    raise FileExistsError(f"{file} has changed or come since it was looked at: move it, then run again{gone}")
                (self.folder / file).unlink(missing_ok=True)
                removed.append(file)
            for folder in folders:
                with contextlib.suppress(OSError):
                    (self.folder / folder).rmdir()

    def _begun(self) -> set[str]:
        """The names of shards that have a manifest or a ledger."""
        files = [*self.names(layout.MANIFEST), *self.names(layout.LEDGER)]
        return {name[1] for file in files if (name := re.fullmatch(r"([0-9]+)\.(?:manifest|parquet)", file))}

    def _left(self, names: Iterable[str]) -> list[str]:
        """What earlier runs have left of shards. Throws `FileExistsError` for what of it is somebody's own."""
        parts = [part for name in sorted(names) for part in self._parts_of_shard(name)]
        others = [file for file, is_ours in parts if not is_ours]
        if others:
            more = f" and {len(others) - _MOST_NAMED} more" if len(others) > _MOST_NAMED else ""
            most = ", ".join(others[:_MOST_NAMED])
            raise FileExistsError(f"{most}{more} is in the way, and not as a shard was written: move it, or name another folder")
        return [file for file, is_ours in parts if is_ours]

    def _state(self, file: str) -> tuple[int, int, int] | None:
        """The length, time and number of a file on this machine; None if it is gone."""
        with contextlib.suppress(FileNotFoundError):
            state = os.lstat(self.folder / file)
            return state.st_size, state.st_mtime_ns, state.st_ino
        return None

    def _parts_of_shard(self, name: str) -> Iterable[tuple[str, bool]]:
        """The files that are called as those of a shard, and whether they are as it was written."""
        manifest = f"{layout.MANIFEST}/{name}.manifest"
        is_shard = bool(self._seen(manifest))
        document = layout.parsed_manifest(_bytes(f"{self.address}/{manifest}"), name) if is_shard else {"files": {}}
        digests = {**document["files"], **{f"{name}/{file}": each for file, each in document.get("samples", {}).items()}}
        for end in layout.ENDS:
            found = {file: self._sha256(file) for file in self._seen(f"{name}{end}")}
            whole = layout.folder_digest({file.removeprefix(f"{name}/"): each for file, each in found.items()})
            # Manifests of earlier versions have the digest of the folder alone.
            is_folder = not end and "samples" not in document and found.keys() != {name}
            if is_folder and found and digests.get(name) != whole:
                yield name, False
                continue
            for file, digest in found.items():
                yield file, is_folder or digest is not None and digests.get(file) == digest
        for file, check in ((f"{name}_stats.json", layout.is_statistics), (f"{layout.LEDGER}/{name}.parquet", ledger.is_ours)):
            if self._seen(file):
                yield file, is_shard and check(_bytes(f"{self.address}/{file}"), document)
        if is_shard:
            yield manifest, True

    def _seen(self, file: str) -> list[str]:
        """`_parts`, whose states are kept for `discard`."""
        parts = self._parts(file)
        self._states.update({part: state for part in parts if self._system is None and (state := self._state(part))})
        return parts

    def _parts(self, file: str) -> list[str]:
        """The files that a file or folder of the output consists of."""
        if self._system is not None:
            return [path.removeprefix(f"{self._root}/") for path in _again(lambda: self._system.find(self._at(file)))]
        path = self.folder / file
        if path.is_dir() and not path.is_symlink():
            return sorted(str(each.relative_to(self.folder)) for each in path.rglob("*"))
        return [file] if os.path.lexists(path) else []

    def _sha256(self, file: str) -> str | None:
        """The hash of a file; None of a link and of a folder, which no shard has."""
        path = self.folder / file
        return None if path.is_symlink() or path.is_dir() else read(f"{self.address}/{file}", layout.digest)

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
        """Takes a complete shard over from another folder of the same storage, with a new name."""
        document = layout.parsed_manifest(_bytes(f"{source}/{layout.MANIFEST}/{name}.manifest"), name)
        self._take(source, name, new_name, document)

    def write(self, name: str, document: dict[str, Any]) -> None:
        """Writes a JSON file of the output."""
        layout.write_document(self.folder, self.folder / name, document)
        if self._system is not None:
            self._move(str(self.folder / name), name)

    def sweep(self, part: str, ours: str) -> None:
        """Removes from a folder for temporary files what is called as `ours`, and the folder if there is nothing else. Throws
        `FileExistsError` for a link."""
        if (self.folder / part).is_symlink():
            raise FileExistsError(f"{self.folder / part} is a link: remove it, or its files would be removed")
        for name in self.names(part):
            if re.fullmatch(ours, name) and self._system is None:
                layout.remove(self.folder / part / name)
            elif re.fullmatch(ours, name):
                self.discard(self._parts(f"{part}/{name}"))
        with contextlib.suppress(OSError):
            (self.folder / part).rmdir()

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

    def _move(self, source: str, name: str) -> None:
        """Gives a file or a folder a name in the output; does nothing without one. In object storage it is copied. A transfer
        that breaks off leaves no object."""
        path = _system(source)[1] if is_elsewhere(source) else source
        if self._system is not None:
            send = self._system.cp_file if is_elsewhere(source) else self._system.put_file
            here = [str(each) for each in (Path(path), *sorted(Path(path).glob("*"))) if each.is_file()]
            for each in _again(lambda: self._system.find(path)) if is_elsewhere(source) else here:
                _again(functools.partial(send, each, self._at(name) + each.removeprefix(path)))
        elif Path(path).exists():
            target = self.folder / name
            target.parent.mkdir(exist_ok=True)
            # No folder with files is replaced by a rename.
            if os.path.lexists(target) and (target.is_symlink() or not target.is_dir()):
                raise FileExistsError(f"{name} is in the way: move it")
            layout.rename(Path(path), target)
            layout.sync(target.parent)

    def leave(self) -> None:
        """Ends a part of a run, whose folder others still use."""
        if self._system is not None:
            self.close()
        elif "stage" in vars(self):
            layout.remove(self.stage)

    def close(self) -> None:
        """Removes what is temporary."""
        if self._system is not None:
            shutil.rmtree(self.folder, ignore_errors=True)
        elif self._lock is not None:
            try:
                self.sweep(layout.TEMPORARY, _TEMPORARY)
            finally:
                os.close(self._lock)
                self._lock = None

    def verify(self) -> list[str]:
        """Reads all shards again; returns what differs from the manifest, a line for each file."""
        if self._system is not None:
            self._get_files(layout.MANIFEST)
        if not (self.folder / layout.MANIFEST).is_dir():
            return [f"there is no {layout.MANIFEST}"]
        problems, known = list[str](), set[str]()
        for manifest in sorted((self.folder / layout.MANIFEST).glob("*.manifest")):
            known.add(f"{manifest.stem}_stats.json")
            try:
                for file, expected in layout.manifest(self.folder, manifest.stem)["files"].items():
                    known.add(file)
                    try:
                        path = self.fetch(file)
                        if layout.sha256(path) != expected:
                            problems.append(f"{file} has other bytes than when it was written")
                        if self._system is not None:
                            layout.remove(path)
                    except FileNotFoundError:
                        problems.append(f"{file} is missing")
            except ValueError as error:
                problems.append(str(error))
        others = (name for name in self.names() if name not in known and name[0] != "_" and _ASIDE not in name)
        return problems + [f"{name} is in no manifest" for name in others]

    def holds(self, file: str) -> bool:
        """Whether a file has the name of one of this output."""
        whole = os.path.realpath if self._system is None else str
        file, folder = whole(file), whole(self.address)
        return re.match(r"/(_|[0-9]+(/|_stats|\.(tar|parquet|tfrecord)$))", file.removeprefix(folder)) is not None

    def _get_files(self, part: str) -> None:
        """Gets the files of a folder of the output, several at a time."""
        names = [layout.plain(name, f"{self.address}/{part}") for name in self.names(part)]
        if names:
            (self.folder / part).mkdir(exist_ok=True)
            found, here = ([f"{place}/{name}" for name in names] for place in (self._at(part), self.folder / part))
            _again(lambda: self._system.get(found, here))

    def _at(self, file: str) -> str:
        return f"{self._root}/{file}"


def _bytes(address: str) -> bytes:
    return read(address, lambda stream: stream.read())


def _samples(address: str, files: Iterable[str]) -> set[tuple[str, str]]:
    """What is in some files of shards, each sample with its hash."""
    return {each for file in files for each in read(f"{address}/{file}", functools.partial(layout.samples, file))}


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
