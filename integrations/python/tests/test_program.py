"""`Worker` and `pool` with the real program."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from thumbs_worker import Options, Result, Worker, pool


def codes(results: list[Result]) -> list[str | None]:
    return [None if result.error is None else result.error.code for result in results]


@pytest.fixture
def worker(program: str, cache: str) -> Any:
    with Worker(Options(sizes=[64], cache_dir=cache), program=program) as worker:
        yield worker


def test_urls_files_and_bytes_have_thumbnails(worker: Worker, urls: list[str], images: list[Path]) -> None:
    items = [urls[0], {"path": str(images[0])}, {"data": images[0].read_bytes()}]
    results = list(worker.map(items, ordered=True))
    assert codes(results) == [None] * 3
    for result in results:
        assert result.data is not None and result.data[:3] == b"\xff\xd8\xff"
        assert max(result.thumbnails[0].width, result.thumbnails[0].height) == 64
        assert result.source is not None and result.source.width > 64
    assert results[0].http_status == 200 and results[0].url == urls[0]


def test_the_module_thumbs_is_the_command(program: str) -> None:
    for arguments in (["--version"], ["get"]):
        command, module = (
            subprocess.run([*words, *arguments], capture_output=True, text=True, check=False, env={"THUMBS": program})
            for words in ([program], [sys.executable, "-m", "thumbs"])
        )
        assert (module.returncode, module.stdout, module.stderr) == (command.returncode, command.stdout, command.stderr)


def test_a_variable_that_names_the_command_starts_the_wheels_program(tmp_path: Path) -> None:
    own, command = tmp_path / "own", tmp_path / "thumbs"
    own.write_text("#!/bin/sh\necho own $*\n")
    command.write_text(
        f"#!{sys.executable}\nimport pathlib, sys\nfrom thumbs_worker import program\n"
        f"program._OWN = pathlib.Path({str(own)!r})\nsys.exit(program.main())\n"
    )
    own.chmod(0o755)
    command.chmod(0o755)
    environment = {"THUMBS": "thumbs", "PATH": f"{tmp_path}:/usr/bin:/bin", "PYTHONPATH": os.pathsep.join(sys.path)}
    run = subprocess.run([command, "get"], capture_output=True, text=True, check=False, env=environment, timeout=60)
    assert (run.returncode, run.stdout, run.stderr) == (0, "own get\n", "")


def test_bad_items_fail_with_a_code_and_the_rest_goes_on(worker: Worker, urls: list[str], origin: str) -> None:
    items: list[Any] = [
        urls[0],
        None,
        {},
        {"url": urls[0], "path": "both"},
        {"url": urls[0], "sizes": [0]},
        {"url": urls[0], "sizes": "huge"},
        {"url": "not a url"},
        {"url": "http://127.0.0.1/\0"},
        {"url": "http://127.0.0.1/\udcff"},
        {"base64": "no base64!"},
        {"data": b"no picture"},
        {"path": "/nowhere.jpg"},
        f"{origin}/status/404",
        f"{origin}/broken/html-page.jpg",
        {"url": urls[0], "id": {"any": ["json", 1e300]}},
        urls[1],
    ]
    results = list(worker.map(items, ordered=True))
    assert [result.index for result in results] == list(range(len(items)))
    assert [result.ok for result in results] == [index in (0, 14, 15) for index in range(len(items))]
    assert results[12].error is not None and results[12].error.code == "not-found" and not results[12].retry
    assert results[12].http_status == 404
    assert results[14].id == {"any": ["json", 1e300]}
    assert worker.restarted == 0


def test_an_output_folder_keeps_keys_inside_it(program: str, cache: str, tmp_path: Path, urls: list[str]) -> None:
    output = tmp_path / "out"
    with Worker(Options(sizes=[64], cache_dir=cache, output=str(output)), program=program) as worker:
        items = [{"url": urls[0], "key": key} for key in ("a/b", "../outside", "/etc/x", "a/../../b")] + [urls[1]]
        results = list(worker.map(items, ordered=True))
    assert codes(results) == [None, "invalid-key", "invalid-key", "invalid-key", None]
    assert len([path for path in output.rglob("*.jpg")]) == 2
    assert sorted(path.name for path in tmp_path.iterdir()) == ["cache", "out"]


def test_a_worker_that_is_killed_again_and_again_loses_nothing(
    program: str, cache: str, urls: list[str]
) -> None:
    items = [f"{url}?{number}" for number in range(10) for url in urls[:4]]
    with Worker(Options(sizes=[64], disk_cache=0), program=program, window=8) as worker:
        expected = {result.index: result.data for result in worker.map(items)}
        found: dict[int, bytes | None] = {}
        for count, result in enumerate(worker.map(items), 1):
            assert result.index not in found
            found[result.index] = result.data
            if count % 10 == 5 and worker.pid is not None:
                os.kill(worker.pid, signal.SIGKILL if count % 20 == 5 else signal.SIGTERM)
        assert worker.restarted > 0
    assert found == expected and None not in found.values()


def test_a_reader_that_pauses_loses_nothing(worker: Worker, urls: list[str]) -> None:
    results = worker.map((f"{urls[0]}?{number}" for number in range(300)), window=32)
    first = next(results)
    # Nothing is read meanwhile: the worker is held up, not lost.
    assert first.ok and len(list(results)) == 299


def sizes(results: list[Result]) -> list[tuple[int, int]]:
    return [(result.index, len(result.data or b"")) for result in results]


def kill_once(results: list[Result]) -> list[int]:
    """Ends its own process the first time."""
    flag = Path(os.environ["THUMBS_TEST_FLAG"])
    if not flag.exists():
        flag.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return [result.index for result in results]


def test_a_pool_gives_each_item_once(program: str, cache: str, urls: list[str]) -> None:
    items = [f"{url}?{number}" for number in range(20) for url in urls[:3]]
    options = Options(sizes=[64], cache_dir=cache)
    found = list(pool.map(items, processes=2, then=sizes, options=options, program=program, chunk=16))
    assert sorted(index for index, _ in found) == list(range(len(items)))
    assert all(size > 0 for _, size in found)


def test_a_pool_that_loses_a_process_gives_each_item_once(
    program: str, cache: str, urls: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("THUMBS_TEST_FLAG", str(tmp_path / "flag"))
    items = [f"{urls[0]}?{number}" for number in range(64)]
    options = Options(sizes=[64], cache_dir=cache)
    found = list(pool.map(items, processes=2, then=kill_once, options=options, program=program, chunk=8))
    assert sorted(found) == list(range(len(items)))


def test_whole_files_wait_for_memory_and_all_come(
    program: str, serve: Callable[[Path], str], images: list[Path], tmp_path: Path, cache: str
) -> None:
    # Each counts for twice its length, which is more than there is for all of them.
    data = images[0].read_bytes()
    data += bytes((6 << 20) - len(data))
    (tmp_path / "large.jpg").write_bytes(data)
    root = serve(tmp_path)
    options = Options(sizes=[32], originals=True, memory_budget="64MiB", per_host=16, cache_dir=cache, disk_cache=0)
    with Worker(options, program=program) as worker:
        results = list(worker.map(f"{root}/large.jpg?{number}" for number in range(12)))
    assert len(results) == 12 and all(result.ok and result.original == data for result in results)
