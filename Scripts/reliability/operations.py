"""What is run and made to fail: a prefetch and a conversion of twelve pictures, and a pruning."""

import dataclasses
import json
import os
import pathlib
import re
import shutil
import signal
import sqlite3
import subprocess
import time

from reliability import origin

# Longer than this is a hang, in seconds; more on a machine that does other things.
DEADLINE = int(os.environ.get("RELIABILITY_DEADLINE", "30"))
# 0: all done; 1: some pictures failed; 69: the source cannot be reached; 73: the output cannot be written.
KNOWN_STATUSES = {0, 1, 69, 73}
# What may be beside a cache's database at any time; the rest belongs to downloads that broke off.
CACHE_FILES = {"thumbnails-v2.sqlite", "thumbnails-v2.sqlite-wal", "thumbnails-v2.sqlite-shm", "thumbnails.lock",
               "hosts.json", "hosts.json.lock", "partial"}
# Rows of a cache that do not belong together, and totals that are not theirs.
UNMATCHED = [
    "SELECT id, bytes FROM thumbnail EXCEPT SELECT id, bytes FROM recency",
    "SELECT id, bytes FROM recency EXCEPT SELECT id, bytes FROM thumbnail",
    "SELECT id, bytes FROM thumbnail EXCEPT SELECT id >> 1, sum(length(data)) FROM piece GROUP BY 1",
    "SELECT id >> 1 FROM piece EXCEPT SELECT id FROM thumbnail",
    "SELECT id FROM source EXCEPT SELECT source FROM thumbnail",
    "SELECT source FROM thumbnail EXCEPT SELECT id FROM source",
    "SELECT payload FROM total EXCEPT SELECT coalesce(sum(bytes), 0) FROM thumbnail",
]


@dataclasses.dataclass
class Run:
    status: int | None  # None: it was killed at the deadline
    stdout: str
    stderr: str

    def objects(self):
        """The lines of --json, those of the pictures first; what is no JSON is None."""
        objects = []
        for line in self.stdout.splitlines():
            try:
                objects.append(json.loads(line))
            except ValueError:
                objects.append(None)
        return objects


class Bench:
    """The program, the pictures and folders for runs."""

    def __init__(self, program, folder):
        self.program, self.folder = str(pathlib.Path(program).resolve()), pathlib.Path(folder)
        self.address = origin.start()
        self.pictures = self.folder / "pictures"
        origin.write_pictures(self.pictures)
        self.list = self.folder / "list.txt"
        self.list.write_text("".join(f"{self.address}/{name}\n" for name in origin.PICTURES))

    def start(self, arguments, variables=None, **options):
        environment = {
            "PATH": "/usr/bin:/bin", "HOME": str(self.folder), "LANG": "C.UTF-8", "TMPDIR": str(self.folder),
            "SWIFT_BACKTRACE": "enable=no",
        }
        if "LD_LIBRARY_PATH" in os.environ:
            environment["LD_LIBRARY_PATH"] = os.environ["LD_LIBRARY_PATH"]
        return subprocess.Popen(
            [self.program, *map(str, arguments)], env=environment | (variables or {}), stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace", **options)

    def run(self, arguments, variables=None):
        process = self.start(arguments, variables)
        try:
            stdout, stderr = process.communicate(timeout=DEADLINE)
            return Run(process.returncode, stdout, stderr)
        except subprocess.TimeoutExpired:
            process.kill()
            stdout, stderr = process.communicate()
            return Run(None, stdout, stderr)

    def verify(self, cache):
        """What is wrong with a cache, as a list of findings."""
        database = cache / "thumbnails-v2.sqlite"
        if not database.exists():
            return []
        db = sqlite3.connect(database)
        try:
            faults = [row[0] for row in db.execute("PRAGMA integrity_check") if row[0] != "ok"]
            # A run that failed before it made the tables, all at once: the next one does.
            if not db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
                return faults
            return faults + [query for query in UNMATCHED if db.execute(f"SELECT EXISTS ({query})").fetchone()[0]]
        except sqlite3.Error as error:
            return [f"the cache cannot be read: {error}"]
        finally:
            db.close()


def files(folder):
    """The files of a folder by their names, with their bytes."""
    if not folder.exists():
        return {}
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def wrong_files(made, expected):
    findings = [f"{name} has other bytes" for name in made if name in expected and made[name] != expected[name]]
    return findings + [f"{name} is left" for name in made if name not in expected]


class Operation:
    """A command whose result is known from an untouched run."""

    name: str
    expected: dict

    def __init__(self, bench, folder=None):
        self.bench = bench
        folder = folder or bench.folder / f"reference-{self.name}"
        self.prepare(folder)
        run = bench.run(self.arguments(folder))
        assert run.status == 0, f"an untouched {self.name} ends with {run.status}: {run.stdout}{run.stderr}"
        self.expected = self.result(folder)
        assert not self.findings(run, folder), self.findings(run, folder)

    def prepare(self, folder):
        folder.mkdir(parents=True)

    def result(self, folder):
        """The files that the command has made."""
        return files(folder / "out")

    def findings(self, run, folder, may_end=False):
        """What a run may not do, however its calls fail. GLib may end the process (`may_end`) without memory."""
        if run.status is None:
            return [f"hangs for more than {DEADLINE} s: {run.stderr[-200:]}"]
        if run.status == -signal.SIGTRAP and may_end:
            return wrong_files(self.result(folder), self.expected)
        if run.status not in KNOWN_STATUSES:
            return [f"ends with {run.status}: {run.stderr[-300:]}"]
        if run.status != 0 and not run.stderr.strip() and not self.failed(run) and self.identity:
            return [f"ends with {run.status} and says nothing"]
        return self.wrong_report(run) + wrong_files(self.result(folder), self.expected)

    def failed(self, run):
        """How many pictures the run reports as failed."""
        return sum(1 for item in run.objects() if item and item.get("status") == "failed")

    def wrong_report(self, run):
        items = run.objects()
        if None in items:
            return [f"a line of the report is no JSON: {run.stdout[-200:]!r}"]
        told = [item[self.identity] for item in items if "summary" not in item]
        findings = [f"{name} is told {told.count(name)} times" for name in set(told) if told.count(name) > 1]
        is_whole = bool(items) and "summary" in items[-1]
        # A full disk ends a run that writes files, a list that cannot be read any run. What is done is told, and the
        # summary counts it. A folder that cannot be listed is told itself.
        is_cut = run.status in (69, 73) or any(name.endswith("/") for name in told)
        if is_whole and not is_cut and len(set(told)) != len(origin.PICTURES):
            findings.append(f"{len(set(told))} pictures are told, and a summary")
        if run.status == 0 and (not is_whole or self.failed(run)):
            findings.append(f"ends with 0 and {self.failed(run)} failures: {run.stdout[-200:]!r}")
        if run.status == 1 and not is_whole:
            findings.append(f"ends with 1 without a summary: {run.stderr[-200:]!r}")
        return findings

    def aftermath(self, folder, may_leave=False):
        """What is wrong once the same command has been run again without failures."""
        findings = []
        run = self.bench.run(self.arguments(folder))
        # A host that has refused several connections in a row is left alone for some seconds, by all processes.
        if pause := re.search(r"try again in (\d+) s", run.stdout):
            time.sleep(int(pause[1]) + 1)
            run = self.bench.run(self.arguments(folder))
        if run.status != 0:
            findings.append(f"run again, ends with {run.status}: {(run.stdout[-300:] + run.stderr[-300:])!r}")
        made = self.result(folder)
        findings += [] if may_leave else wrong_files(made, self.expected)
        findings += [f"run again, {name} is missing" for name in self.expected if name not in made]
        return findings


class Prefetch(Operation):
    name, identity = "prefetch", "url"
    # Whether a download that broke off may stay, up to a week: of an image that another process has fetched meanwhile.
    keeps_partial = False

    def arguments(self, folder):
        return ["prefetch", "--urls", self.bench.list, "--unsafe-from-web", "--size", "96", "--json", "--cache-dir",
                folder / "cache", "--export", folder / "out", "--max-wait", "5s"]

    def aftermath(self, folder, may_leave=False):
        findings = self.bench.verify(folder / "cache")
        findings += super().aftermath(folder, may_leave)
        # From the cache alone: what was stored must be what was delivered.
        if not findings:
            shutil.rmtree(folder / "out")
            findings += super().aftermath(folder)
        names = {path.name for path in (folder / "cache").iterdir()}
        if names - CACHE_FILES:
            findings.append(f"left in the cache: {sorted(names - CACHE_FILES)}")
        if not (may_leave or self.keeps_partial) and any((folder / "cache" / "partial").glob("*")):
            findings.append(f"left in partial: {sorted(p.name for p in (folder / 'cache/partial').glob('*'))}")
        return findings


class Convert(Operation):
    name, identity = "convert", "source"

    def arguments(self, folder):
        return ["convert", self.bench.pictures, "-o", folder / "out", "--size", "96", "--size", "48", "--json"]

    def result(self, folder):
        made = super().result(folder)
        # Its lines are in the order in which the pictures were done, until a run ends.
        made.pop(".thumbs-index", None)
        return made


class Shrink(Operation):
    """A lower limit of a cache with ten thousand thumbnails: a tenth or three quarters of them stay."""

    name, identity = "shrink", None

    def __init__(self, bench, share):
        self.share, self.full = share, bench.folder / f"many-{share}"
        Prefetch(bench, self.full)
        self.bytes = self.multiply(10_000)
        super().__init__(bench, bench.folder / f"reference-shrink-{share}")
        self.left = self.count(bench.folder / f"reference-shrink-{share}")

    def count(self, folder):
        """The thumbnails of the cache. Small ones reach the limit of the file before that of their bytes."""
        stats = self.bench.run(["cache", "stats", "--json", "--cache-dir", folder / "cache"]).objects()[0]
        return stats["thumbnails"]

    def multiply(self, count):
        """Makes more rows of those of the cache. Returns the bytes of all thumbnails."""
        with sqlite3.connect(self.full / "cache/thumbnails-v2.sqlite") as db:
            rows = db.execute("SELECT id, source FROM thumbnail").fetchall()
            names = {table: ", ".join(row[1] for row in db.execute(f"PRAGMA table_info({table})") if row[1] != "id")
                     for table in ("source", "thumbnail")}
            # A checksum depends on the second half of a key alone.
            source_values = names["source"].replace("key", "randomblob(8) || substr(key, 9)")
            for number in range(count):
                row, source = rows[number % len(rows)]
                new = db.execute(f"INSERT INTO source ({names['source']}) SELECT {source_values} FROM source"
                                 " WHERE id = ?", (source,)).lastrowid
                values = names["thumbnail"].replace("source,", f"{new},", 1)
                copy = db.execute(f"INSERT INTO thumbnail ({names['thumbnail']}) SELECT {values} FROM thumbnail"
                                  " WHERE id = ?", (row,)).lastrowid
                db.execute("INSERT INTO piece SELECT id - 2 * ?1 + 2 * ?2, data FROM piece WHERE id / 2 = ?1",
                           (row, copy))
            (payload,) = db.execute("SELECT payload FROM total").fetchone()
        db.close()
        return payload

    def prepare(self, folder):
        folder.mkdir(parents=True)
        shutil.copytree(self.full / "cache", folder / "cache")

    def arguments(self, folder):
        return ["get", origin.IMAGES / "formats/jpeg-420.jpg", "--size", "96", "--json", "--disk-cache",
                int(self.bytes * self.share), "--cache-dir", folder / "cache"]

    def wrong_report(self, run):
        return []

    def aftermath(self, folder, may_leave=False):
        findings = super().aftermath(folder) + self.bench.verify(folder / "cache")
        if not 0.95 * self.left < self.count(folder) < 1.05 * self.left:
            findings.append(f"{self.count(folder)} thumbnails are left, not {self.left}")
        names = {path.name for path in (folder / "cache").iterdir()}
        return findings + [f"left in the cache: {name}" for name in names - CACHE_FILES]


OPERATIONS = {kind.name: kind for kind in (Prefetch, Convert)}
