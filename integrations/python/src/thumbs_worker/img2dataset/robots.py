"""What hosts ask of robots in robots.txt (RFC 9309), by Protego's parser. The worker fetches the files, with the limits
that it keeps for images."""

from __future__ import annotations

import collections
import concurrent.futures
from collections.abc import Callable
from typing import Any

from thumbs_worker.img2dataset.settings import SettingError
from thumbs_worker.options import Options
from thumbs_worker.protocol import Failure, Result, host_of
from thumbs_worker.worker import Worker

_FILES_AT_ONCE = 64
# A parser has to take 500 KiB at least (RFC 9309, 2.5); what follows is not read.
_LONGEST = "1MiB"
_LONGEST_PARSED = 500 << 10
# Rules of so many hosts are kept; those that were asked for longest ago are fetched again.
_MOST_HOSTS = 1_000
_ALLOWED = object()


Rules = concurrent.futures.Future[Any]


class Robots:
    """The rules of hosts, each fetched once while they are kept, for a robot with this name."""

    def __init__(self, name: str, options: Options, program: str | None) -> None:
        try:
            import protego
        except ImportError as error:
            raise SettingError("robots needs Protego: pip install 'thumbs-worker[robots]'") from error
        self._parse = protego.Protego.parse
        self._name = name
        self._worker = Worker(options, program=program)
        self._pool = concurrent.futures.ThreadPoolExecutor(_FILES_AT_ONCE)
        self._rules: collections.OrderedDict[str, Rules] = collections.OrderedDict()

    def ask(self, url: str, ready: Callable[[Rules], Any]) -> None:
        """Calls `ready` with the rules of a URL's host once they are there, on this thread or another one."""
        site = _site(url)
        rules = self._rules.get(site)
        if rules is None:
            rules = self._rules[site] = self._pool.submit(self._fetch, site)
            if len(self._rules) > _MOST_HOSTS:
                self._rules.popitem(last=False)
        else:
            self._rules.move_to_end(site)
        rules.add_done_callback(ready)

    def refusal(self, url: str, rules_ready: Rules) -> Failure | None:
        """Why a URL may not be fetched by the rules of its host, if it may not."""
        rules = rules_ready.result()
        if isinstance(rules, Failure):
            return rules
        if rules is _ALLOWED or rules.can_fetch(url, self._name):
            return None
        return Failure("download", "robots-refused", f"robots.txt does not allow {self._name} to fetch it", False)

    def close(self) -> None:
        """Ends the fetches."""
        self._pool.shutdown(wait=False, cancel_futures=True)
        self._worker.close(drain=False)

    def _fetch(self, site: str) -> Any:
        if not site:
            # Not a URL of the web: the worker says so.
            return _ALLOWED
        return self._rules_of(self._worker.result(f"{site}/robots.txt"))

    def _rules_of(self, result: Result) -> Any:
        """No file allows everything; one that cannot be had forbids everything (RFC 9309, 2.3.1)."""
        if result.original is not None:
            return self._parse(result.original[:_LONGEST_PARSED].decode("utf-8", "replace"))
        status = result.http_status
        if status is not None and 300 <= status < 500 and status != 429:
            return _ALLOWED
        error = result.error
        reason = "" if error is None else f": {error.message}"
        return Failure("download", "robots-unreachable", f"robots.txt cannot be fetched{reason}", True,
                       None if error is None else error.retry_after)


def robots_options(options: Options) -> Options:
    """How the worker that fetches the files is started. It waits for no host: each would hold one of the threads."""
    from dataclasses import replace

    return replace(
        options, sizes=("16x16",), fit=None, format=None, quality=None, jobs=1, originals=True, inline=True, output=None,
        disk_cache=0, max_bytes=_LONGEST, max_wait="0", max_failures=None, disallowed_header_directives=None,
    )  # fmt: skip


def _site(url: str) -> str:
    """Scheme and host, for which the rules hold."""
    host = host_of(url)
    scheme = url.partition("://")[0].lower()
    return f"{scheme}://{host}" if host and scheme in ("http", "https") else ""
