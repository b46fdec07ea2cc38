"""Logins, keys and header fields: where they are not to be seen."""

from __future__ import annotations

import http.server
import json
import pickle
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from thumbs_worker import Options, ProgramNotFound, Result, Worker, WorkerError, WorkerFailed, pool
from thumbs_worker.errors import shown
from thumbs_worker.protocol import encode_item, header

SECRET = "hunter2"
URL = f"https://me:{SECRET}@h.example/list.txt?signature={SECRET}#{SECRET}"
OPTIONS = Options(headers=[f"*=Authorization: Bearer {SECRET}"], more=["--header", f"h=A: {SECRET}"])


def test_what_is_printed_or_sent_as_an_error_has_no_secret() -> None:
    found: list[Any] = [
        OPTIONS, Result(0, 0, "ok", url=URL), WorkerError(URL), ProgramNotFound(f"no {URL}"),
        WorkerFailed(f"at {URL}", 64, f"cannot read {URL}: why"),
    ]  # fmt: skip
    for each in found:
        again = pickle.loads(pickle.dumps(each))
        assert not any(SECRET in text for text in (repr(each), str(each), repr(again), str(again)))
    assert found[-1].errors == "cannot read https://h.example/list.txt why"
    with pytest.raises(ValueError) as raised:
        Worker(Options(headers=[f"Authorization: {SECRET}"]))
    assert SECRET not in str(raised.value) and "HOST=NAME: VALUE" in str(raised.value)


def test_options_and_errors_of_img2dataset_have_no_secret(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("pyarrow")
    pytest.importorskip("PIL.Image")
    from thumbs_worker.img2dataset import SettingError, Settings
    from thumbs_worker.img2dataset.__main__ import main

    storage = pytest.importorskip("thumbs_worker.img2dataset.storage")
    assert SECRET not in repr(Settings(url_list=URL, output_folder=f"s3://key:{SECRET}@bucket"))
    assert SECRET not in str(pickle.loads(pickle.dumps(SettingError(f"no {URL}"))))
    assert main(["--url_list", f"gopher://me:{SECRET}@h/list?{SECRET}", "--output_folder", "/nowhere/out"]) == 64
    assert SECRET not in capsys.readouterr().err
    for kind in (FileNotFoundError, ValueError, PermissionError):

        def fail() -> None:
            raise kind(URL)

        with pytest.raises(kind) as raised:
            storage._again(fail)
        assert SECRET not in repr(raised.value) and raised.value.__suppress_context__


@pytest.mark.parametrize(
    "text, expected",
    [
        ("no https://h/a: why", "no https://h/a: why"), ("s3://key:pass@bucket/a b", "s3://bucket/a b"),
        ("'https://h/a?b=c', x", "'https://h/a', x"), ("https://h/@me/a", "https://h/@me/a"), ("a@b?c#d", "a@b?c#d"),
    ],
)  # fmt: skip
def test_an_address_is_shown_without_login_and_query(text: str, expected: str) -> None:
    assert shown(text) == expected


@pytest.mark.parametrize(
    "url, names",
    [
        ("https://h.example/a", "abc"), ("https://me:x@H.EXAMPLE:443?a", "abc"), ("http://h.example", "ac"),
        ("http://h.example:8080/", "ac"), ("http://[::1]:80/", "cd"), ("http://[::1]/", "cd"), ("http://[::1]:81/", "c"),
        ("http://www.h.example/", "c"), ("http://h.example.evil/", "c"), ("http://h.example@evil/", "c"),
        # What parsers read differently gets none.
        ("http://evil\\@h.example/", ""), ("http://h.example\\@evil/", ""), ("http://h.example%2f@evil@x/", ""),
        ("http://h.example :80/", ""), ("//h.example/", ""), ("s3://h.example/a", ""), (None, ""),
    ],
)  # fmt: skip
def test_a_header_field_is_in_the_lines_of_its_host_alone(url: str | None, names: str) -> None:
    fields = ["h.example=a: 1", "h.example:443=b: 2", "*=c: 3", "[::1]:80=D: 4", "h.example=A: 5"]
    line = encode_item({"url": url}, longest=1000, headers=[header(each) for each in fields])
    assert "".join(sorted(json.loads(line).get("headers", ""))) == names
    assert "5" not in json.dumps(json.loads(line).get("headers"))
    own = {"url": "http://h.example/", "headers": {"A": "mine"}}
    merged = json.loads(encode_item(own, longest=1000, headers=[header(each) for each in fields]))
    assert merged["headers"] == {"A": "mine", "c": "3"} and own["headers"] == {"A": "mine"}


@pytest.fixture
def asked() -> Iterator[tuple[str, list[str | None]]]:
    """A server, and what its requests are authorised with."""
    found: list[str | None] = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            found.append(self.headers["Authorization"])
            self.send_error(404)

        def log_message(self, format: str, *arguments: object) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"127.0.0.1:{server.server_port}", found
        server.shutdown()


def test_header_fields_arrive_and_are_on_no_command_line(program: str, asked: Any, cache: str) -> None:
    host, found = asked
    options = Options(headers=[f"{host}=Authorization: {SECRET}"], cache_dir=cache, jobs=1, max_wait="0")
    with Worker(options, program=program) as worker:
        assert worker.result(f"http://{host}/a").http_status == 404
        assert SECRET.encode() not in Path(f"/proc/{worker.pid}/cmdline").read_bytes()
    assert found == [SECRET]


def test_workers_with_other_header_fields_are_others() -> None:
    one, two = (Options(sizes=[1], headers=[f"h=A: {value}"]) for value in "ab")
    assert pool.shared_worker(one) is pool.shared_worker(one) is not pool.shared_worker(two)
    tokenize = pytest.importorskip("dask.base").tokenize
    assert tokenize(one) == tokenize(one) != tokenize(two)
