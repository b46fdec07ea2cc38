"""The lines of `thumbs worker` as Python values; docs/worker.md in Thumbnailer's folder describes them."""

from __future__ import annotations

import base64
import builtins
import binascii
import hashlib
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Union
from urllib.parse import urlsplit

from thumbs_worker.object_storage import endpoint

# A URL, or the members of a line in. `data`, in bytes, stands for `base64`.
Item = Union[str, Mapping[str, Any]]

# The status of a result.
OK = "ok"
FAILED = "failed"
SKIPPED = "skipped"

# Errors of lines that were read and not worked on, since the process was asked to end: they are sent again.
_NOT_TRIED = frozenset({"ending", "cancelled"})
_encode = json.JSONEncoder(allow_nan=False, separators=(",", ":")).encode
# How many digits of a hash name a file whose line has no key.
_KEY_DIGITS = 32
_PORTS = {"http": 80, "https": 443}
# `HOST=NAME: VALUE`, and the host of a URL that no two parsers would read differently.
_FIELD = re.compile(r"(\*|[^\s=:/?#@[\]]+(?::[0-9]+)?|\[[0-9a-fA-F:.]+\](?::[0-9]+)?)=([^\s:=]+):(.*)")
_SITE = re.compile(r"(https?)://(?:[^/?#@\\\s]*@)?(\[[0-9a-f:.]+\]|[^/?#@\\:\[\]\s%]+)(?::([0-9]+))?(?=[/?#]|$)", re.I)


def host_of(url: str) -> str:
    """The host and port that the worker limits for an address; an empty text where there is none.

    Capitals, a dot at the end and the scheme's own port make no other host, nor do the buckets of object storage.
    """
    try:
        parts = urlsplit(endpoint() if url[:5].lower() == "s3://" else url)
        name = (parts.hostname or "").removesuffix(".")
        port = parts.port or _PORTS[parts.scheme]
    except (KeyError, ValueError):
        return ""
    return f"[{name}]:{port}" if ":" in name else f"{name}:{port}" if name else ""


def header(text: str) -> tuple[str, str, str]:
    """Host, name and value of one of the option `headers`. Throws `ValueError`, which does not show it."""
    parts = _FIELD.fullmatch(text)
    if parts is None:
        raise ValueError("headers are texts as 'HOST=NAME: VALUE', with * for every host: one of them is not")
    return parts[1].lower(), parts[2].lower(), parts[3].strip()


def _add_headers(members: dict[str, Any], headers: Sequence[tuple[str, str, str]]) -> None:
    """Adds those of a URL's host to its own; of several with a name, the first one counts."""
    site = _SITE.match(members["url"]) if isinstance(members.get("url"), str) else None
    own = members.get("headers") or {}
    if site is None or not isinstance(own, Mapping):
        return
    host = site[2].lower()
    hosts = ("*", host, f"{host}:{site[3] or _PORTS[site[1].lower()]}")
    more = {name: value for where, name, value in reversed(headers) if where in hosts}
    members["headers"] = {**{name: more[name] for name in more.keys() - {str(name).lower() for name in own}}, **own}


class InvalidItem(ValueError):
    """An item that cannot be a line. `code` is that of the protocol."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


@dataclass(frozen=True)
class Failure:
    """Why there are no thumbnails.

    `stage` and `code` are stable, `message` is for people; `retry` says whether the same item may succeed later, and
    `retry_after` after how many seconds, if that is known.
    """

    stage: str
    code: str
    message: str
    retry: bool
    retry_after: float | None = None


@dataclass(frozen=True)
class Source:
    """The source image: pixels, upright; its format; its bytes, how many were downloaded and how many were not."""

    width: int
    height: int
    format: str
    bytes: int
    downloaded: int
    left: int


@dataclass(frozen=True)
class Thumbnail:
    """One thumbnail. `data` is None unless the worker sends bytes, `path` unless it writes files."""

    size: str
    width: int
    height: int
    format: str
    bytes: int
    sha256: str
    cache_key: str
    origin: str
    stored: bool
    data: builtins.bytes | None = field(default=None, repr=False)
    path: str | None = None
    thumb_hash: str | None = None
    colour: str | None = None


@dataclass(frozen=True)
class Result:
    """What became of one item; `index` is its position among the items, `id` what the item had, of any type."""

    index: int
    id: Any
    status: str
    thumbnails: tuple[Thumbnail, ...] = ()
    error: Failure | None = None
    # The whole file of a URL, if the worker sends it.
    original: builtins.bytes | None = field(default=None, repr=False)
    source: Source | None = None
    key: str | None = None
    url: str | None = field(default=None, repr=False)
    path: str | None = None
    http_status: int | None = None
    attempts: int | None = None
    damaged: bool = False
    plan: str | None = None
    ms: float = 0.0
    stages: Mapping[str, float] = field(default_factory=dict)

    @property
    def ok(self) -> bool:
        """Whether all thumbnails are there."""
        return self.status == OK

    @property
    def retry(self) -> bool:
        """Whether the same item may succeed later, with nothing changed."""
        return self.error is not None and self.error.retry

    @property
    def data(self) -> bytes | None:
        """The bytes of the first thumbnail."""
        return self.thumbnails[0].data if self.thumbnails else None


def failure(code: str, message: str, *, index: int, identity: Any) -> Result:
    """The result of an item that has not reached the worker, or that the worker has not survived."""
    crashed = code.startswith("worker-")
    error = Failure("decode" if crashed else "line", code, message, retry=False)
    return Result(index=index, id=identity, status=FAILED, error=error)


def encode_item(
    item: Item, *, longest: int, needs_key: bool = False, headers: Sequence[tuple[str, str, str]] = ()
) -> bytes:
    """The line of an item, without its id. Throws `InvalidItem`.

    `longest` is how many bytes a line may have. With `needs_key`, an item without a key gets one from its source.
    `headers` are here since everybody on the machine sees the command line.
    """
    members: dict[str, Any]
    if isinstance(item, str):
        members = {"url": item}
    elif isinstance(item, Mapping):
        members = dict(item)
    else:
        raise InvalidItem("invalid-line", f"an item is a URL or a mapping, not {_described(item)}")
    data = members.pop("data", None)
    if data is not None:
        if not isinstance(data, (bytes, bytearray, memoryview)):
            raise InvalidItem("invalid-request", f"data has to be bytes, not {_described(data)}")
        members["base64"] = base64.b64encode(data).decode("ascii")
    # The caller's id stays here, whatever it is: results are found by the number of the line that they answer, which
    # even those have that the worker could not read.
    members.pop("id", None)
    if headers:
        _add_headers(members, headers)
    if needs_key and members.get("key") is None:
        members["key"] = _key(members)
    try:
        line = _encode(members).encode("ascii") + b"\n"
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidItem("invalid-request", f"the item is nothing that JSON can say: {error}") from error
    if len(line) > longest:
        raise InvalidItem("line-too-long", f"the item has {len(line)} bytes as a line, at most {longest} are allowed")
    return line


def decode_line(line: bytes) -> tuple[int | None, bool, Callable[[int, Any], Result]]:
    """The number of the line that a line out answers; whether it was not tried since the process is ending; its result.

    The number is None for what answers no line. The result is made from the item's position and the caller's id.
    """
    try:
        members = json.loads(line)
    except ValueError:
        return None, False, _no_result
    number = members.get("line") if isinstance(members, dict) else None
    if not isinstance(number, int) or "status" not in members:
        return None, False, _no_result
    error = members.get("error")
    not_tried = isinstance(error, dict) and error.get("code") in _NOT_TRIED
    return number, not_tried, lambda index, identity: _result(members, index, identity)


def _no_result(index: int, identity: Any) -> Result:
    raise AssertionError("the line answers no item")


def _described(value: object) -> str:
    return "None" if value is None else f"a {type(value).__name__}"


def _key(members: Mapping[str, Any]) -> str:
    """A name for the files of an item that has none: the same for the same source, on every machine."""
    source = next((members[name] for name in ("url", "path", "base64") if members.get(name) is not None), "")
    return hashlib.sha256(str(source).encode("utf-8", "surrogatepass")).hexdigest()[:_KEY_DIGITS]


def _result(members: Mapping[str, Any], index: int, identity: Any) -> Result:
    error = members.get("error")
    source = members.get("source")
    http = members.get("http") or {}
    original = members.get("original")
    return Result(
        index=index,
        id=identity,
        status=members["status"],
        thumbnails=tuple(map(_thumbnail, members.get("thumbnails") or ())),
        error=None if error is None else _failure(error),
        source=None if source is None else Source(**{name: source[name] for name in Source.__dataclass_fields__}),
        original=None if original is None else binascii.a2b_base64(original),
        key=members.get("key"),
        url=members.get("url"),
        path=members.get("path"),
        http_status=http.get("status"),
        attempts=http.get("attempts"),
        damaged=bool(members.get("damaged")),
        plan=members.get("plan"),
        ms=members.get("ms", 0.0),
        stages=members.get("stages") or {},
    )


def _failure(members: Mapping[str, Any]) -> Failure:
    return Failure(
        stage=members["stage"],
        code=members["code"],
        message=members["message"],
        retry=members["retry"],
        retry_after=members.get("retryAfter"),
    )


def _thumbnail(members: Mapping[str, Any]) -> Thumbnail:
    data = members.get("data")
    return Thumbnail(
        size=members["size"],
        width=members["width"],
        height=members["height"],
        format=members["format"],
        bytes=members["bytes"],
        sha256=members["sha256"],
        cache_key=members["cacheKey"],
        origin=members["origin"],
        stored=members["stored"],
        data=None if data is None else binascii.a2b_base64(data),
        path=members.get("path"),
        thumb_hash=members.get("thumbHash"),
        colour=members.get("colour"),
    )
