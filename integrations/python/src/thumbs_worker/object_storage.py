"""Where `thumbs worker` finds `s3://` addresses: the same settings in the same order, without the keys."""

from __future__ import annotations

import configparser
import contextlib
import functools
import os

_NAMES = (
    "AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "AWS_REGION", "AWS_DEFAULT_REGION", "AWS_PROFILE", "AWS_CONFIG_FILE",
    "AWS_SHARED_CREDENTIALS_FILE", "HOME",
)  # fmt: skip


def endpoint() -> str:
    """The URL of the storage. All buckets are paths of it, and so one host for the worker."""
    return _endpoint(tuple(os.environ.get(name, "") for name in _NAMES))


@functools.lru_cache(maxsize=8)
def _endpoint(environment: tuple[str, ...]) -> str:
    own, common, region, other_region, profile, config, credentials, home = environment
    name = profile or "default"
    values: dict[str, str] = {}
    for path, sections in (
        (config or f"{home}/.aws/config", (f"profile {name}", name)),
        (credentials or f"{home}/.aws/credentials", (name,)),
    ):
        parser = configparser.RawConfigParser(strict=False, default_section="")
        with contextlib.suppress(configparser.Error, OSError, ValueError):
            parser.read(path)
        values |= {key: value for part in sections if parser.has_section(part) for key, value in parser[part].items()}
    region = region or other_region or values.get("region") or "us-east-1"
    domain = "amazonaws.com.cn" if region.startswith("cn-") else "amazonaws.com"
    return own or common or values.get("endpoint_url") or f"https://s3.{region}.{domain}"
