"""`s3://` sources: signed as botocore signs them, read from moto's S3 server, and never with keys where none belong."""

from __future__ import annotations

import contextlib
import datetime
import http.server
import json
import os
import random
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest.mock import patch
from urllib.parse import quote

import pytest

botocore_auth = pytest.importorskip("botocore.auth")
from botocore.awsrequest import AWSRequest  # noqa: E402
from botocore.credentials import Credentials  # noqa: E402

KEYS = {
    "AWS_ACCESS_KEY_ID": "AKIDEXAMPLE", "AWS_SECRET_ACCESS_KEY": "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY",
    "AWS_SESSION_TOKEN": "token/with+signs==", "AWS_REGION": "eu-west-1",
}  # fmt: skip
ODD = [
    *"=+% é猫?#&~'(*;@:aZ0", '"', "//", "..", "/../", "/./", "%2F", "%zz",
]  # fmt: skip


def odd_keys(count: int) -> list[str]:
    choice = random.Random(1)
    keys = {"".join(choice.choices(ODD, k=choice.randint(1, 12))) for _ in range(count)}
    return sorted(key + f"{number}.jpg" for number, key in enumerate(sorted(keys)))


class _Storage(http.server.ThreadingHTTPServer):
    """A bucket that has every object, and notes the requests that it gets."""

    daemon_threads = True
    request_queue_size = 256

    def __init__(self, picture: bytes) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.picture = picture
        self.requests: list[tuple[str, dict[str, str]]] = []
        self.location: str | None = None

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Storage

    def do_GET(self) -> None:
        self.server.requests.append((self.path, {name.lower(): value for name, value in self.headers.items()}))
        body = b"" if self.server.location else self.server.picture
        self.send_response(307 if self.server.location else 200)
        if self.server.location:
            self.send_header("Location", self.server.location)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *arguments: object) -> None:
        pass


@contextlib.contextmanager
def storage(images: list[Path]) -> Iterator[_Storage]:
    with _Storage(min(images, key=lambda path: path.stat().st_size).read_bytes()) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


def work(
    program: str, lines: list[Any], environment: dict[str, str], folder: Path, *words: str
) -> tuple[list[dict[str, Any]], str]:
    """The worker's responses in the order of the lines, and all that it has written."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("AWS_")}
    process = subprocess.run(
        [program, "worker", "--size", "32", "--inline", "--max-wait", "0", "--verbose", "--cache-dir", str(folder), *words],
        input="".join(json.dumps(line) + "\n" for line in lines), capture_output=True, text=True,
        env={**clean, "HOME": str(folder), **environment},
    )  # fmt: skip
    responses = [json.loads(line) for line in process.stdout.splitlines()]
    return sorted(responses, key=lambda each: int(each["line"])), process.stdout + process.stderr


def signature(endpoint: str, path: str, given: dict[str, str]) -> dict[str, str]:
    """The fields with which botocore signs this request at the time that was given."""
    request = AWSRequest("GET", f"{endpoint}{path}")
    credentials = Credentials(*(KEYS[name] for name in list(KEYS)[:3]))
    now = datetime.datetime.strptime(given["x-amz-date"], "%Y%m%dT%H%M%SZ").replace(tzinfo=datetime.timezone.utc)
    with patch.object(botocore_auth, "get_current_datetime", return_value=now):
        botocore_auth.S3SigV4Auth(credentials, "s3", KEYS["AWS_REGION"]).add_auth(request)
    return {name.lower(): value for name, value in request.headers.items()}


def test_requests_for_a_thousand_odd_keys_are_signed_as_by_botocore(
    program: str, images: list[Path], tmp_path: Path
) -> None:
    keys = odd_keys(1000)
    with storage(images) as server:
        lines = [{"url": f"s3://bucket/{key}", "sizes": [32]} for key in keys]
        responses, text = work(program, lines, {**KEYS, "AWS_ENDPOINT_URL": server.endpoint}, tmp_path)
    assert {each["status"] for each in responses} == {"ok"} and len(keys) > 900
    assert sorted(path for path, _ in server.requests) == sorted(f"/bucket/{quote(key)}" for key in keys)
    for path, fields in server.requests:
        for name, value in signature(server.endpoint, path, fields).items():
            assert fields[name] == value, path
    for secret in list(KEYS.values())[:3]:
        assert secret not in text
    for file in tmp_path.rglob("*"):
        assert not file.is_file() or not any(secret.encode() in file.read_bytes() for secret in list(KEYS.values())[:3])


def test_keys_are_sent_to_the_storage_alone(program: str, images: list[Path], tmp_path: Path) -> None:
    with storage(images) as there, storage(images) as other:
        environment = {**KEYS, "AWS_ENDPOINT_URL": there.endpoint}
        there.location = f"{other.endpoint}/elsewhere"
        lines = ["s3://bucket/a.jpg", f"{other.endpoint}/b.jpg", f"{there.endpoint}/bucket/c.jpg"]
        responses, _ = work(program, [{"url": line} for line in lines], environment, tmp_path)
        assert {each["status"] for each in responses} == {"ok"}
        signed = [path for path, fields in [*there.requests, *other.requests] if "authorization" in fields]
        assert signed == ["/bucket/a.jpg"] and len(other.requests) == 3
        assert not any(name.startswith("x-amz") for _, fields in other.requests for name in fields)
        # A redirect of another server gets nothing signed either.
        count = len(there.requests)
        other.location, there.location = f"{there.endpoint}/bucket/private.jpg", None
        work(program, [{"url": f"{other.endpoint}/d.jpg"}], environment, tmp_path)
        assert "authorization" not in there.requests[count][1]
        other.location = "s3://bucket/private.jpg"
        responses, _ = work(program, [{"url": f"{other.endpoint}/e.jpg"}], environment, tmp_path)
        assert responses[0]["error"]["stage"] == "download" and len(there.requests) == count + 1


def test_keys_come_from_a_profile_and_are_missed_by_name(program: str, images: list[Path], tmp_path: Path) -> None:
    lines = [{"url": "s3://bucket/a.jpg"}]
    with storage(images) as server:
        here = {"AWS_ENDPOINT_URL": server.endpoint}
        for environment, words in ((here, ()), ({**here, **KEYS}, ("--public-addresses-only",))):
            error = work(program, lines, environment, tmp_path, *words)[0][0]["error"]
            assert error["code"] == "invalid-request" and "AWS_PROFILE" in error["message"] and not error["retry"]
        assert not server.requests
        (tmp_path / ".aws").mkdir()
        (tmp_path / ".aws/credentials").write_text(
            "[default]\naws_access_key_id = A\naws_secret_access_key = B\n"
            "# another one\n[other]\naws_access_key_id=C\naws_secret_access_key=D=\n"
        )
        (tmp_path / ".aws/config").write_text("[profile other]\nregion = eu-north-1\ns3 =\n  region = none\n")
        profiles: list[tuple[dict[str, str], str, str]] = [({}, "A", "us-east-1"), ({"AWS_PROFILE": "other"}, "C", "eu-north-1")]
        for profile, key, region in profiles:
            work(program, lines, {**here, **profile}, tmp_path, "--disk-cache", "0")
            value = server.requests[-1][1]["authorization"]
            assert f"Credential={key}/" in value and f"/{region}/s3/" in value


def test_objects_of_motos_server_become_thumbnails(program: str, bucket: Any, images: list[Path], tmp_path: Path) -> None:
    bucket.pipe_file("bucket/in/a b+c=%41.jpg", images[0].read_bytes())
    names = ["AWS_ENDPOINT_URL", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"]
    environment = {name: os.environ[name] for name in names}
    urls = ["s3://bucket/in/a b+c=%41.jpg", "s3://bucket/in/none.jpg", "s3://bucket", "s3:///a"]
    responses, _ = work(program, [{"url": url} for url in urls], environment, tmp_path)
    assert responses[0]["status"] == "ok" and responses[0]["url"] == urls[0]
    assert [each["error"]["code"] for each in responses[1:]] == ["not-found", "invalid-request", "invalid-request"]
    target = tmp_path / "small.jpg"
    command = [program, "get", urls[0], "--size", "32", "--output", str(target), "--cache-dir", str(tmp_path)]
    subprocess.run(command, check=True, env={**os.environ, **environment})
    assert target.stat().st_size > 0
    pytest.importorskip("pyarrow")
    from thumbs_worker.img2dataset import download

    (tmp_path / "list.txt").write_text(f"{urls[0]}\n")
    settings = {"image_size": 32, "resize_mode": "keep_ratio_largest", "resize_only_if_bigger": True}
    counts = download(str(tmp_path / "list.txt"), output_folder=str(tmp_path / "out"), program=program, **settings)
    assert counts["successes"] == 1
