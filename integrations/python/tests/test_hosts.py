"""Which row is sent next, on a clock of the tests' own."""

from __future__ import annotations

import pytest

pytest.importorskip("pyarrow")

from thumbs_worker.hosts import Hosts, pause_after  # noqa: E402


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
