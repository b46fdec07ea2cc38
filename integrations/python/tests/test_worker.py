"""`Worker` with a stand-in for the program that misbehaves as the URLs say."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from thumbs_worker import Options, ProgramNotFound, Result, Worker, WorkerError, WorkerFailed, find_program
from thumbs_worker import program as program_module
from thumbs_worker.pool import shared_worker


def flag(folder: Path, name: str) -> str:
    """A file's path as the stand-in's URLs write it."""
    return str(folder / name).replace("/", "%")


def test_each_item_has_one_result_with_its_own_id(fake: str) -> None:
    ids: list[Any] = [7, "7", None, {"a": [1]}, 12345678901234567890, 1.5, "7", [1, 2]]
    with Worker(program=fake) as worker:
        results = list(worker.map({"url": "http://fake/ok", "id": id} for id in ids))
    assert sorted(result.index for result in results) == list(range(len(ids)))
    assert all(result.id == ids[result.index] and result.data == b"hi" for result in results)


def test_results_come_in_the_order_of_the_items_when_asked(fake: str) -> None:
    items = [f"http://fake/{what}" for what in ("slow", "ok", "slow", "slow", "ok", "ok")]
    with Worker(program=fake) as worker:
        assert [result.index for result in worker.map(items, ordered=True)] == list(range(6))
        assert [result.index for result in worker.map(items, window=4)] != list(range(6))


def test_no_more_items_are_taken_than_the_window_allows(fake: str) -> None:
    taken = 0

    def items() -> Any:
        nonlocal taken
        for _ in range(100):
            taken += 1
            yield "http://fake/ok"

    with Worker(program=fake) as worker:
        for given, _ in enumerate(worker.map(items(), window=3), 1):
            assert taken - given <= 3
    assert taken == 100


def test_what_a_crash_loses_is_sent_again(fake: str, tmp_path: Path) -> None:
    items = [f"http://fake/{index}/ok" for index in range(50)]
    items[20] = f"http://fake/crash-once-{flag(tmp_path, 'first')}"
    items[40] = f"http://fake/crash-once-{flag(tmp_path, 'second')}"
    with Worker(program=fake) as worker:
        results = list(worker.map(items))
        assert worker.restarted == 2
    assert sorted(result.index for result in results) == list(range(50))
    assert all(result.ok for result in results)


def test_an_item_that_kills_the_worker_each_time_fails_alone(fake: str) -> None:
    items = ["http://fake/ok"] * 20
    items[3] = "http://fake/crash"
    items[9] = "http://fake/half"
    with Worker(program=fake) as worker:
        results = list(worker.map(items, ordered=True))
    codes = {result.index: result.error.code for result in results if result.error is not None}
    assert codes == {3: "worker-crashed", 9: "worker-crashed"}
    assert len(results) == 20


def test_an_item_is_not_to_blame_for_three_kills_from_outside(fake: str, tmp_path: Path) -> None:
    items = ["http://fake/ok"] * 5 + [f"http://fake/crash-3-{flag(tmp_path, 'count')}"]
    with Worker(program=fake) as worker:
        assert all(result.ok for result in worker.map(items))
        assert worker.restarted == 3


def test_a_silent_worker_is_killed_and_its_item_named(fake: str) -> None:
    items = ["http://fake/ok", "http://fake/silent", "http://fake/ok"]
    with Worker(program=fake, silence=2) as worker:
        results = list(worker.map(items, ordered=True))
    assert [result.error and result.error.code for result in results] == [None, "worker-silent", None]


def test_lines_that_answer_nothing_or_twice_are_ignored(fake: str) -> None:
    items = ["http://fake/noise", "http://fake/twice", "http://fake/twice", "http://fake/ok"]
    with Worker(program=fake) as worker:
        assert sorted(result.index for result in worker.map(items)) == [0, 1, 2, 3]
        assert worker.result("http://fake/ok").ok


def test_what_an_ending_worker_has_not_tried_goes_to_the_next(fake: str, tmp_path: Path) -> None:
    with Worker(program=fake) as worker:
        results = list(worker.map(["http://fake/ok", f"http://fake/ending-{flag(tmp_path, 'flag')}", "http://fake/ok"]))
        assert worker.restarted == 1
    assert [result.status for result in results] == ["ok"] * 3


@pytest.mark.parametrize(
    "item, code",
    [
        (None, "invalid-line"),
        (7, "invalid-line"),
        ({"url": float("nan")}, "invalid-request"),
        ({"url": b"bytes"}, "invalid-request"),
        ({"data": "text"}, "invalid-request"),
        ({"data": b"x" * 9_000_000}, "line-too-long"),
        ({}, "invalid-line"),
    ],
)
def test_an_item_that_is_no_line_fails_and_the_rest_goes_on(fake: str, item: Any, code: str) -> None:
    with Worker(program=fake) as worker:
        results = list(worker.map(["http://fake/ok", item, "http://fake/ok"], ordered=True))
    assert [result.error and result.error.code for result in results] == [None, code, None]


def test_many_threads_share_one_process(fake: str) -> None:
    found: list[list[Result]] = []
    with Worker(program=fake) as worker:

        def run() -> None:
            found.append(list(worker.map(["http://fake/ok"] * 200, window=16, ordered=True)))

        threads = [threading.Thread(target=run) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert worker.restarted == 0
    assert [[result.index for result in results] for results in found] == [list(range(200))] * 8


def test_who_stops_early_leaves_the_worker_usable(fake: str) -> None:
    with Worker(program=fake) as worker:
        for _ in worker.map(["http://fake/ok"] * 100):
            break
        assert len(list(worker.map(["http://fake/ok"] * 10))) == 10


def test_a_missing_program_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("THUMBS", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ProgramNotFound, match="Scripts/install"), Worker() as worker:
        list(worker.map(["http://fake/ok"]))
    monkeypatch.setenv("THUMBS", "/nowhere/thumbs")
    with pytest.raises(ProgramNotFound, match="/nowhere/thumbs"):
        find_program()


def test_the_program_of_the_wheel_is_found_before_others(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    own, other = (tmp_path / folder / "thumbs" for folder in ("own", "other"))
    for file in (own, other):
        file.parent.mkdir()
        file.touch(mode=0o755)
    monkeypatch.setenv("PATH", str(other.parent))
    monkeypatch.delenv("THUMBS", raising=False)
    monkeypatch.setattr(program_module, "_OWN", own)
    assert find_program() == str(own)
    monkeypatch.setenv("THUMBS", str(other))
    assert find_program() == str(other)


def test_a_wrong_option_ends_the_run_with_the_programs_words(fake: str) -> None:
    with pytest.raises(WorkerFailed, match="Unknown option") as caught, Worker(
        Options(more=["--wrong"]), program=fake
    ) as worker:
        list(worker.map(["http://fake/ok"] * 10))
    again = pickle.loads(pickle.dumps(caught.value))
    assert str(again) == str(caught.value) and again.status == 64


def test_a_program_that_keeps_dying_ends_the_run(fake: str) -> None:
    with pytest.raises(WorkerFailed, match="no library"), Worker(
        Options(more=["--dies"]), program=fake, restarts=1
    ) as worker:
        list(worker.map(["http://fake/ok"] * 10))


def test_a_closed_worker_takes_nothing_and_leaves_no_process(fake: str) -> None:
    worker = Worker(program=fake)
    assert worker.result("http://fake/ok").ok
    pid = worker.pid
    worker.close()
    worker.close()
    assert pid is not None and not os.path.exists(f"/proc/{pid}")
    with pytest.raises(WorkerError, match="closed"):
        worker.result("http://fake/ok")


def test_an_exception_in_the_block_ends_the_process(fake: str) -> None:
    with pytest.raises(KeyError), Worker(program=fake) as worker:
        for _ in worker.map(["http://fake/ok"] * 10 + ["http://fake/silent"]):
            pid = worker.pid
            raise KeyError
    assert not os.path.exists(f"/proc/{pid}")


def test_who_waits_when_the_worker_is_closed_is_told(fake: str) -> None:
    caught: list[WorkerError] = []
    worker = Worker(program=fake)

    def use() -> None:
        try:
            list(worker.map(["http://fake/ok", "http://fake/silent"]))
        except WorkerError as error:
            caught.append(error)

    thread = threading.Thread(target=use, daemon=True)
    thread.start()
    while worker.pid is None:
        # Real time: another thread starts it.
        time.sleep(0.01)
    worker.close(drain=False)
    thread.join(300)
    assert not thread.is_alive() and "closed" in str(caught[0])


def test_what_is_not_done_in_time_is_given_up_with_the_process(fake: str) -> None:
    worker = Worker(program=fake)
    iterator = worker.map(["http://fake/ok"] + ["http://fake/silent"] * 6)
    assert next(iterator).ok
    # Real time: only has to pass.
    worker.close(timeout=0.5)
    assert worker.restarted == 0 and worker.pid is None
    with pytest.raises(WorkerError, match="closed"):
        list(iterator)


def test_what_was_given_up_is_not_waited_for(fake: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with Worker(program=fake) as worker:
        for result in worker.map(["http://fake/ok"] + ["http://fake/silent"] * 6):
            assert result.ok
            # Whoever is waited for is killed in the end.
            monkeypatch.setattr(worker._process, "kill", lambda: pytest.fail("it was waited for"))
            break


def test_a_line_of_another_version_fails_its_item_alone(fake: str) -> None:
    with Worker(program=fake) as worker:
        results = list(worker.map(["http://fake/ok", "http://fake/strange", "http://fake/ok"], ordered=True))
    assert [result.ok for result in results] == [True, False, True]
    assert results[1].error is not None and results[1].error.code == "unreadable-result"


def test_a_shared_worker_that_has_failed_is_replaced(fake: str) -> None:
    options = Options(more=["--wrong"])
    worker = shared_worker(options, fake)
    assert shared_worker(options, fake) is worker
    with pytest.raises(WorkerError):
        worker.result("http://fake/ok")
    assert shared_worker(options, fake) is not worker


def _use(worker: Worker, queue: Any) -> None:
    queue.put((sum(result.ok for result in worker.map(["http://fake/ok"] * 20)), worker.pid))
    worker.close()


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_another_process_of_python_has_a_worker_of_its_own(fake: str, method: str) -> None:
    context = multiprocessing.get_context(method)
    queue = context.Queue()
    with Worker(program=fake) as worker:
        assert worker.result("http://fake/ok").ok
        child = context.Process(target=_use, args=(worker, queue))
        child.start()
        count, pid = queue.get(timeout=300)
        child.join()
        assert count == 20 and pid != worker.pid
        assert worker.result("http://fake/ok").ok


def test_a_forked_child_keeps_no_pipe_of_its_parents_worker(fake: str) -> None:
    worker = Worker(program=fake)
    assert worker.result("http://fake/ok").ok
    ready, release = os.pipe(), os.pipe()
    child = os.fork()
    if child == 0:
        os.write(ready[1], b"x")
        os.read(release[0], 1)
        os._exit(0)
    os.read(ready[0], 1)
    pid = worker.pid
    worker.close()
    assert not os.path.exists(f"/proc/{pid}")
    os.write(release[1], b"x")
    os.waitpid(child, 0)


def test_a_worker_that_somebody_kills_between_two_runs_is_replaced(fake: str) -> None:
    with Worker(program=fake) as worker:
        assert worker.result("http://fake/ok").ok
        pid = worker.pid
        assert pid is not None
        os.kill(pid, signal.SIGKILL)
        assert len(list(worker.map(["http://fake/ok"] * 20))) == 20


def test_an_output_folder_gives_items_without_a_key_one_of_their_source(fake: str) -> None:
    options = Options(output="/tmp/somewhere", sizes=[256, "400x300"])
    assert options.arguments() == ["--size", "256", "--size", "400x300", "--output", "/tmp/somewhere"]
    from thumbs_worker.protocol import encode_item

    first, second = (encode_item(f"http://fake/{name}", longest=999, needs_key=True) for name in "ab")
    assert b'"key":"' in first and first != second


def test_a_share_of_a_machine_decodes_one_image_more_than_it_has_processors() -> None:
    assert [Options().for_processors(count).jobs for count in (0.5, 1, 4)] == [2, 2, 5]
    assert Options(jobs=3).for_processors(8).jobs == 3
