"""Which row is sent next, on a clock of the tests' own."""

from __future__ import annotations

from pathlib import Path

import pytest
from addresses import ADDRESSES, ENDPOINT

pa = pytest.importorskip("pyarrow")

from thumbs_worker import Options  # noqa: E402
from thumbs_worker.arrow import hosts_of  # noqa: E402
from thumbs_worker.hosts import Hosts, pause_after  # noqa: E402
from thumbs_worker.object_storage import _endpoint, endpoint  # noqa: E402
from thumbs_worker.protocol import host_of  # noqa: E402


class Clock:
    """Seconds that pass when the test says so."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def taken(hosts: Hosts[str]) -> list[str]:
    """All rows that may be sent now."""
    rows = []
    while (row := hosts.next()) is not None:
        rows.append(row)
    return rows


def test_hosts_take_turns_and_none_has_more_than_its_share() -> None:
    hosts: Hosts[str] = Hosts(2, 60, Clock())
    for row in ("a1", "a2", "a3", "b1"):
        hosts.add(row[0], row)
    assert taken(hosts) == ["a1", "a2", "b1"] and hosts.waiting == 1
    assert hosts.ended("a", works=True) and taken(hosts) == ["a3"]
    assert hosts.wake() is None


def test_rows_of_a_held_host_wait_and_one_of_them_tries_it() -> None:
    clock = Clock()
    hosts: Hosts[str] = Hosts(4, 60, clock)
    for row in ("a1", "a2", "a3", "b1"):
        hosts.add(row[0], row)
    assert hosts.next() == "a1"
    assert hosts.ended("a", works=False, pause=10, since=clock.now)
    hosts.add("a", "a1")
    assert taken(hosts) == ["b1"] and hosts.wake() == 10
    clock.now += 10
    assert taken(hosts) == ["a2"] and hosts.wake() is None
    assert hosts.ended("a", works=False, pause=10, since=clock.now)
    clock.now += 10
    assert taken(hosts) == ["a3"]
    assert hosts.ended("a", works=True)
    assert taken(hosts) == ["a1"]


def test_without_patience_the_rows_of_a_host_go_by() -> None:
    clock = Clock()
    hosts: Hosts[str] = Hosts(1, 60, clock)
    for number in range(4):
        hosts.add("a", f"a{number}")
    assert taken(hosts) == ["a0"] and hosts.ended("a", works=False, pause=40, since=clock.now)
    clock.now += 40
    assert taken(hosts) == ["a1"] and not hosts.ended("a", works=False, pause=40, since=clock.now)
    assert taken(hosts) == ["a2"] and not hosts.ended("a", works=False, pause=40, since=clock.now)
    assert taken(hosts) == ["a3"] and hosts.ended("a", works=True)


def test_a_row_that_fails_by_itself_waits_alone_and_as_long_as_its_patience() -> None:
    clock = Clock()
    hosts: Hosts[str] = Hosts(4, 20, clock)
    since = clock.now
    hosts.add("a", "bad")
    for attempts in range(1, 6):
        assert hosts.next() == "bad"
        delay = pause_after(attempts)
        is_worth_it = hosts.ended("a", works=False, since=since - delay)
        assert is_worth_it == (clock.now + delay <= since + 20)
        # Others of its host are not held, and show that it works.
        hosts.add("a", "good")
        assert hosts.next() == "good" and hosts.ended("a", works=True)
        if not is_worth_it:
            break
        hosts.add("a", "bad", delay)
        assert hosts.next() is None
        clock.now += delay
    assert attempts == 5


@pytest.mark.parametrize(
    "downloads, per_host, rows", [(None, None, 24), (None, 2, 8), (None, 50, 100), (4, None, 8), (1, 1, 2), (256, 64, 256)]
)
def test_a_host_has_its_downloads_and_less_than_half_of_the_lines(
    downloads: int | None, per_host: int | None, rows: int
) -> None:
    assert Options(downloads=downloads, per_host=per_host, jobs=1).rows_per_host == rows
    # --per-host raises the worker's downloads.
    number = downloads or max(16, per_host or 0)
    assert min(per_host or 6, number) < rows < 4 * (number + 1) / 2


def test_addresses_of_one_host_have_one_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL_S3", ENDPOINT)
    assert dict(zip(ADDRESSES, hosts_of(pa.array(list(ADDRESSES))).to_pylist(), strict=True)) == ADDRESSES
    assert hosts_of(pa.array([None], pa.string())).to_pylist() == [""]
    # The worker limits ports and schemes by themselves.
    for urls in (
        ["http://h/a", "HTTP://u:p@H:80/b", "http://h.:/"], ["https://h/a", "https://h:443"], ["http://h:443/"],
        ["https://[::1]/", "https://[::1]:443/"], ["s3://a/b", "s3://c/d", "http://storage.test:9000/a/b"],
    ):  # fmt: skip
        assert len({host_of(url) for url in urls}) == 1 and host_of(urls[0]) != host_of("http://h:81/")
    assert len({host_of(url) for url in ("http://h", "https://h", "http://h:8080")}) == 3


def test_the_storage_is_that_of_the_environment_or_else_of_the_profile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def storage(**environment: str) -> str:
        with monkeypatch.context() as patch:
            for name in ("ENDPOINT_URL_S3", "ENDPOINT_URL", "REGION", "DEFAULT_REGION", "PROFILE", "CONFIG_FILE"):
                patch.delenv(f"AWS_{name}", raising=False)
            patch.delenv("AWS_SHARED_CREDENTIALS_FILE", raising=False)
            for name, value in {"HOME": str(tmp_path), **environment}.items():
                patch.setenv(name, value)
            _endpoint.cache_clear()
            return endpoint()

    assert storage() == storage(AWS_PROFILE="nobody") == "https://s3.us-east-1.amazonaws.com"
    assert storage(AWS_DEFAULT_REGION="cn-north-1") == "https://s3.cn-north-1.amazonaws.com.cn"
    (tmp_path / ".aws").mkdir()
    config = "[default]\nregion = eu-west-1\ns3 =\n  max = 1\n[profile own]\nendpoint_url = http://config\n"
    (tmp_path / ".aws" / "config").write_text(config)
    assert storage() == "https://s3.eu-west-1.amazonaws.com"
    assert storage(AWS_REGION="us-west-2") == "https://s3.us-west-2.amazonaws.com"
    assert storage(AWS_PROFILE="own") == "http://config"
    credentials = tmp_path / "credentials"
    credentials.write_text("[own]\naws_access_key_id = a\nendpoint_url = http://credentials\n")
    given = {"AWS_PROFILE": "own", "AWS_SHARED_CREDENTIALS_FILE": str(credentials)}
    assert storage(**given) == "http://credentials"
    assert storage(**given, AWS_ENDPOINT_URL="http://all") == "http://all"
    assert storage(**given, AWS_ENDPOINT_URL="http://all", AWS_ENDPOINT_URL_S3="http://s3") == "http://s3"
    credentials.write_text("no section\n")
    assert storage(**given) == "http://config"
