"""The options of img2dataset: their names, their defaults, and which of them are refused."""

from __future__ import annotations

import ast
import importlib.util
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

from thumbs_worker.errors import shown
from thumbs_worker.options import seconds


class SettingError(ValueError):
    """An option that cannot be kept. The message says which one and what to do."""

    def __init__(self, message: str) -> None:
        super().__init__(shown(message))


@dataclass
class Settings:
    """The options of img2dataset's `download`, with its defaults."""

    url_list: str = field(default="", repr=False)
    image_size: int = 256
    output_folder: str = field(default="images", repr=False)
    processes_count: int | None = None
    resize_mode: str = "border"
    resize_only_if_bigger: bool = False
    upscale_interpolation: str = "lanczos"
    downscale_interpolation: str = "area"
    encode_quality: int = 95
    encode_format: str = "jpg"
    skip_reencode: bool = False
    output_format: str = "files"
    input_format: str = "txt"
    url_col: str = "url"
    caption_col: str | None = None
    bbox_col: str | None = None
    thread_count: int = 256
    number_sample_per_shard: int = 10000
    extract_exif: bool = True
    save_additional_columns: Sequence[str] | None = None
    timeout: int = 10
    enable_wandb: bool = False
    wandb_project: str = "img2dataset"
    oom_shard_count: int = 5
    compute_hash: str | None = "sha256"
    verify_hash: Sequence[str] | None = None
    distributor: str = "multiprocessing"
    subjob_size: int = 1000
    retries: int = 0
    disable_all_reencoding: bool = False
    min_image_size: int = 0
    max_image_area: float = float("inf")
    max_aspect_ratio: float = float("inf")
    incremental_mode: str = "incremental"
    max_shard_retry: int = 1
    user_agent_token: str | None = None
    disallowed_header_directives: Sequence[str] | None = None
    ignore_ssl_certificate: bool = False
    # Not of img2dataset: whether whole sources are downloaded, for their hash and EXIF data; whether robots.txt is
    # respected; whether the rows are those that failed before; and how long after that they may still come.
    whole_files: bool = False
    robots: bool = False
    only_failed: bool = False
    until: str | None = None

    def __post_init__(self) -> None:
        for name in ("save_additional_columns", "disallowed_header_directives"):
            value = getattr(self, name)
            if isinstance(value, str):
                setattr(self, name, [part.strip() for part in value.split(",")])
        if self.disallowed_header_directives is None:
            self.disallowed_header_directives = _DIRECTIVES
        if not self.url_list and not self.only_failed:
            raise SettingError("url_list is missing: the file or folder with the URLs")
        for name in ("url_list", "output_folder"):
            self._check_path(name)
        self._check_choices()
        for name in ("image_size", "thread_count", "number_sample_per_shard", "oom_shard_count", "subjob_size"):
            if not isinstance(getattr(self, name), int) or getattr(self, name) < 1:
                raise SettingError(f"{name} has to be a number from 1, not {getattr(self, name)!r}")
        if self.image_size > _LONGEST_SIDE:
            raise SettingError(f"image_size={self.image_size} is too large: the most is {_LONGEST_SIDE}")
        if not isinstance(self.timeout, (int, float)) or not 0.1 <= self.timeout <= _LONGEST_TIMEOUT:
            raise SettingError(f"timeout={self.timeout} cannot be used: give 0.1 to {_LONGEST_TIMEOUT} seconds")
        try:
            self.seconds_left = None if self.until is None else seconds(self.until)
        except ValueError as error:
            raise SettingError(f"until: {error}") from error
        self._check_columns()

    @property
    def downloads_whole_files(self) -> bool:
        """Whether sources are downloaded whole."""
        return self.whole_files or self.skip_reencode or self.disable_all_reencoding or self.verify_hash is not None

    def _check_choices(self) -> None:
        for name, (is_refused, reason) in _REFUSED.items():
            if is_refused(value := getattr(self, name)):
                raise SettingError(f"{name}={value} is not supported: {reason}")
        for name, allowed in _CHOICES.items():
            value = getattr(self, name)
            if value not in allowed:
                shown = ", ".join(str(choice) for choice in allowed)
                raise SettingError(f"{name}={value} is not supported here, only: {shown}")

    def _check_columns(self) -> None:
        if self.verify_hash is not None:
            if isinstance(self.verify_hash, str) or len(self.verify_hash) != 2:
                raise SettingError("verify_hash names a column and a hash, such as [sha256hash,sha256]")
            if self.verify_hash[1] != self.compute_hash:
                raise SettingError(
                    f"verify_hash={self.verify_hash[1]} has to be the hash of compute_hash, {self.compute_hash}"
                )
        taken = set(self.save_additional_columns or ()) & RESERVED
        if taken:
            raise SettingError(f"save_additional_columns may not name {', '.join(sorted(taken))}: the output has them")

    def _check_path(self, name: str) -> None:
        value = str(getattr(self, name))
        scheme, separator, rest = value.partition("://")
        setattr(self, name, rest if separator and scheme == "file" else value)

    def notes(self) -> list[str]:
        """What a user of img2dataset should know of this run."""
        notes = []
        is_whole = self.downloads_whole_files
        if self.compute_hash and not is_whole:
            notes.append(f"{self.compute_hash} is that of the image as written; with whole_files, that of the source")
        if self.extract_exif and not is_whole:
            notes.append("exif is null; with whole_files, it is that of the source")
        elif self.extract_exif and importlib.util.find_spec("exifread") is None:
            notes.append("exif is null: pip install exifread")
        return notes


# Columns of the output, of its images and of its ledger: no column of the input may have their names.
RESERVED = frozenset(
    "key caption url width height original_width original_height status error_message exif md5 sha256 sha512 "
    "jpg png webp txt code message first_failed not_before".split()
)
_DIRECTIVES = ("noai", "noimageai", "noindex", "noimageindex")
# Those of the worker.
_LONGEST_SIDE = 16383
_LONGEST_TIMEOUT = 86_400
_CHOICES: Mapping[str, Sequence[Any]] = {
    "resize_mode": ("no", "keep_ratio", "center_crop", "border", "keep_ratio_largest"),
    "encode_format": ("jpg", "png", "webp"),
    "output_format": ("webdataset", "files", "parquet", "tfrecord", "dummy"),
    "input_format": tuple(
        [f"{name}{end}" for name in ("txt", "csv", "tsv", "json", "jsonl") for end in ("", ".gz")] + ["parquet"]
    ),
    "distributor": ("multiprocessing", "pyspark", "ray"),
    "compute_hash": (None, "md5", "sha256", "sha512"),
    "incremental_mode": ("incremental", "extend"),
    "upscale_interpolation": ("lanczos", "lanczos4", "cubic", "bicubic", "linear", "bilinear", "nearest", "area"),
    "downscale_interpolation": ("area", "lanczos", "lanczos4", "cubic", "bicubic", "linear", "bilinear"),
}
_REFUSED: Mapping[str, tuple[Callable[[Any], bool], str]] = {
    "bbox_col": (lambda value: value is not None, "nothing is blurred; blur the shards afterwards"),
    "ignore_ssl_certificate": (
        bool,
        "anybody on the way could replace the images; name a file of authorities to trust, in SSL_CERT_FILE",
    ),
    "incremental_mode": (lambda value: value == "overwrite", "nothing is removed; move the folder away, or name another"),
    "enable_wandb": (bool, "read the _stats.json files of the output instead"),
}


def parse(words: Sequence[str]) -> dict[str, Any]:
    """The options of a command line, as img2dataset takes them: `--name value`, `--name=value`, `--name`, `--noname`.

    Values are Python's literals where they can be read so, else texts; a list may leave its quotes out. The first
    word without a name is `url_list`.
    """
    known = {each.name for each in fields(Settings)} | WORKERS
    values: dict[str, Any] = {}
    rest = list(words)
    while rest:
        word = rest.pop(0)
        if not word.startswith("--"):
            if "url_list" in values:
                raise SettingError(f"{word} has no option before it")
            values["url_list"] = word
            continue
        name, has_value, text = word[2:].partition("=")
        name = name.replace("-", "_")
        if name not in known and name.startswith("no") and name[2:] in known:
            values[name[2:]] = False
            continue
        if name not in known:
            raise SettingError(f"--{name} is no option of img2dataset 1.47 or of this command")
        if not has_value:
            if not rest or rest[0].startswith("--"):
                values[name] = True
                continue
            text = rest.pop(0)
        values[name] = text if name in _TEXTS else _literal(text)
    return values


def split(values: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The options of img2dataset, and those that are the worker's."""
    settings = {name: value for name, value in values.items() if name not in WORKERS}
    return settings, {name: value for name, value in values.items() if name in WORKERS}


# The worker's options that are not given by img2dataset's.
WORKERS = frozenset(
    "cache_dir disk_cache downloads per_host jobs memory_budget max_pixels max_bytes max_wait user_agent headers "
    "isolate unsafe_from_web public_addresses_only more".split()
)


# Options whose values are texts, also where they look like numbers.
_TEXTS = frozenset(
    "url_list output_folder url_col caption_col user_agent_token until max_wait user_agent cache_dir".split()
)


def _literal(text: str) -> Any:
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        pass
    if text in ("true", "false"):
        return text == "true"
    if text[:1] in "[(" and text[-1:] in "])" and text:
        return [part.strip().strip("'\"") for part in text[1:-1].split(",") if part.strip()]
    return text
