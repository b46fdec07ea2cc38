"""The options of img2dataset: their names, their defaults, and which of them are refused."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any


class SettingError(ValueError):
    """An option that cannot be kept. The message says which one and what to do."""


@dataclass
class Settings:
    """The options of img2dataset's `download`, with its defaults."""

    url_list: str = ""
    image_size: int = 256
    output_folder: str = "images"
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
    disallowed_header_directives: Sequence[str] | None = field(
        default_factory=lambda: ["noai", "noimageai", "noindex", "noimageindex"]
    )

    def __post_init__(self) -> None:
        if isinstance(self.save_additional_columns, str):
            self.save_additional_columns = [self.save_additional_columns]
        if not self.url_list:
            raise SettingError("url_list is missing: the file or folder with the URLs")
        for name in ("url_list", "output_folder"):
            self._check_path(name)
        for name, allowed in _CHOICES.items():
            value = getattr(self, name)
            if value not in allowed:
                shown = ", ".join(str(choice) for choice in allowed)
                raise SettingError(f"{name}={value} is not supported here, only: {shown}")
        for name, (is_refused, reason) in _REFUSED.items():
            if is_refused(getattr(self, name)):
                raise SettingError(f"{name} is not supported: {reason}")
        for name in ("image_size", "thread_count", "number_sample_per_shard", "oom_shard_count"):
            if not isinstance(getattr(self, name), int) or getattr(self, name) < 1:
                raise SettingError(f"{name} has to be a number from 1, not {getattr(self, name)!r}")
        taken = set(self.save_additional_columns or ()) & RESERVED
        if taken:
            raise SettingError(f"save_additional_columns may not name {', '.join(sorted(taken))}: the output has them")

    def _check_path(self, name: str) -> None:
        value = str(getattr(self, name))
        scheme, separator, rest = value.partition("://")
        if separator and scheme != "file":
            raise SettingError(f"{name}={value}: only folders and files of this machine, or mounted ones, can be used")
        setattr(self, name, rest if separator else value)

    def notes(self) -> list[str]:
        """What a user of img2dataset should know of this run."""
        notes = []
        if self.disallowed_header_directives:
            notes.append("X-Robots-Tag is not read: exclude the hosts that you have to, or filter the list beforehand")
        if self.compute_hash:
            notes.append(f"{self.compute_hash} is that of the image as written: sources are not downloaded whole")
        if self.extract_exif:
            notes.append("exif is null: the worker does not report it")
        if self.timeout != Settings.timeout:
            notes.append("timeout has no effect: a server fails that sends less than 1 kB a second over 20 s")
        return notes


# Columns of the output that no column of the input may have the name of.
RESERVED = frozenset(
    "key caption url width height original_width original_height status error_message exif md5 sha256 sha512".split()
)
_CHOICES: Mapping[str, Sequence[Any]] = {
    "resize_mode": ("no", "keep_ratio", "center_crop", "border", "keep_ratio_largest"),
    "encode_format": ("jpg", "png", "webp"),
    "output_format": ("webdataset", "files", "parquet"),
    "input_format": tuple(
        [f"{name}{end}" for name in ("txt", "csv", "tsv", "json", "jsonl") for end in ("", ".gz")] + ["parquet"]
    ),
    "compute_hash": (None, "md5", "sha256", "sha512"),
    "incremental_mode": ("incremental", "overwrite", "extend"),
    "upscale_interpolation": ("lanczos", "lanczos4", "cubic", "bicubic", "linear", "bilinear", "nearest", "area"),
    "downscale_interpolation": ("area", "lanczos", "lanczos4", "cubic", "bicubic", "linear", "bilinear"),
}
_REFUSED: Mapping[str, tuple[Callable[[Any], bool], str]] = {
    "skip_reencode": (bool, "every image is written anew"),
    "disable_all_reencoding": (bool, "the worker makes thumbnails and passes no originals on"),
    "bbox_col": (lambda value: value is not None, "nothing is blurred; blur the shards afterwards"),
    "verify_hash": (
        lambda value: value is not None,
        "sources are not downloaded whole, so there is no hash of them to compare",
    ),
    "enable_wandb": (bool, "read the _stats.json files of the output instead"),
    "distributor": (
        lambda value: value != "multiprocessing",
        "use thumbs_worker.spark or thumbs_worker.ray for a cluster",
    ),
}


def parse(words: Sequence[str]) -> dict[str, Any]:
    """The options of a command line, as img2dataset takes them: `--name value`, `--name=value`, `--name`, `--noname`.

    Values are Python's literals where they can be read so, else texts; a list may leave its quotes out. The first
    word without a name is `url_list`.
    """
    known = {each.name: each for each in fields(Settings)}
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
            raise SettingError(f"--{name} is no option of img2dataset 1.47 that is known here")
        if not has_value:
            if not rest or rest[0].startswith("--"):
                values[name] = True
                continue
            text = rest.pop(0)
        values[name] = text if name in _TEXTS else _literal(text)
    return values


# Options whose values are texts, also where they look like numbers.
_TEXTS = frozenset({"url_list", "output_folder", "url_col", "caption_col", "user_agent_token"})


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
