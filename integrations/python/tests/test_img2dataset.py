"""The stand-in for img2dataset: beside the original where it is installed, and by itself."""

from __future__ import annotations

import importlib.util
import io
import json
import os
import pickle
import resource
import signal
import subprocess
import sys
import tarfile
import time
from pathlib import Path
from typing import Any

import pytest

pa = pytest.importorskip("pyarrow")
Image = pytest.importorskip("PIL.Image")
import pyarrow.parquet as pq  # noqa: E402

from thumbs_worker import Options  # noqa: E402
from thumbs_worker.img2dataset import SettingError, Settings, download  # noqa: E402
from thumbs_worker.img2dataset.__main__ import main  # noqa: E402
from thumbs_worker.img2dataset.reader import failed_shards, shards  # noqa: E402
from thumbs_worker.img2dataset.run import Run  # noqa: E402
from thumbs_worker.img2dataset.settings import parse  # noqa: E402

COLUMNS = {"caption": ["a lake", 'a "quoted", text', None], "licence": ["CC0", "BY", None], "number": [1, 2, 3]}


def write_list(path: Path, form: str, urls: list[str]) -> Path:
    """A list of URLs with captions in one of the input formats."""
    rows = [
        {"url": url, **{name: values[index % 3] for name, values in COLUMNS.items()}} for index, url in enumerate(urls)
    ]
    table = pa.Table.from_pylist(rows)
    if form == "txt":
        path.write_text("".join(f"{url}\n" for url in urls))
    elif form in ("csv", "tsv"):
        import pyarrow.csv

        pyarrow.csv.write_csv(table, path, pyarrow.csv.WriteOptions(delimiter="," if form == "csv" else "\t"))
    elif form == "json":
        path.write_text(json.dumps(rows))
    elif form == "jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    else:
        pq.write_table(table, path)
    return path


def run(program: str, **settings: Any) -> dict[str, int]:
    return download(program=program, options=Options(jobs=1), **settings)


def tree(folder: Path) -> list[str]:
    """The names of img2dataset's output, without what is added here."""
    names = (str(path.relative_to(folder)) for path in folder.rglob("*"))
    return sorted(name for name in names if not name.startswith("_"))


@pytest.mark.parametrize("form", ["txt", "csv", "tsv", "json", "jsonl", "parquet"])
def test_each_input_format_is_read(program: str, urls: list[str], tmp_path: Path, form: str) -> None:
    some = urls[:3]
    columns = {} if form == "txt" else {"caption_col": "caption", "save_additional_columns": ["licence", "number"]}
    run(
        program, url_list=str(write_list(tmp_path / f"list.{form}", form, some)), input_format=form, image_size=64,
        output_folder=str(tmp_path / "out"), output_format="webdataset", **columns,
    )  # fmt: skip
    rows = pq.read_table(tmp_path / "out/00000.parquet").to_pylist()
    assert [row["url"] for row in rows] == some
    assert [row["key"] for row in rows] == [f"00000000{index}" for index in range(3)]
    assert all(row["status"] == "success" for row in rows)
    if columns:
        assert [row["number"] for row in rows] == [1, 2, 3]
        with tarfile.open(tmp_path / "out/00000.tar") as tar:
            assert tar.getnames()[:3] == ["000000000.jpg", "000000000.json", "000000000.txt"]
            text = tar.extractfile("000000001.txt")
            assert text is not None and text.read() == b'a "quoted", text'


@pytest.mark.skipif(importlib.util.find_spec("img2dataset") is None, reason="img2dataset is not installed")
@pytest.mark.parametrize("output_format", ["webdataset", "files", "parquet"])
def test_output_is_laid_out_as_by_img2dataset(
    program: str, origin: str, urls: list[str], tmp_path: Path, output_format: str
) -> None:
    some = [*urls[:2], f"{origin}/status/404", f"{origin}/broken/bad-checksum.png", urls[2]]
    listed = str(write_list(tmp_path / "list.parquet", "parquet", some))
    settings: dict[str, Any] = {
        "url_list": listed, "input_format": "parquet", "caption_col": "caption", "image_size": 96,
        "save_additional_columns": ["licence", "number"], "output_format": output_format, "number_sample_per_shard": 3,
    }  # fmt: skip
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    run(program, output_folder=str(ours), **settings)
    code = "import img2dataset, json, sys; img2dataset.download(**json.loads(sys.argv[1]))"
    words = json.dumps({**settings, "output_folder": str(theirs), "thread_count": 4})
    script = tmp_path / "original.py"
    script.write_text(f"if __name__ == '__main__':\n    {code}\n")
    subprocess.run([sys.executable, script, words], check=True, capture_output=True, timeout=300)
    assert tree(ours) == tree(theirs)
    for name in ("00000", "00001"):
        mine, other = (pq.read_table(folder / f"{name}.parquet") for folder in (ours, theirs))
        assert mine.schema == other.schema
        compared = ["url", "key", "status", "width", "height", "original_width", "original_height", "licence"]
        by_key = [sorted(table.select(compared).to_pylist(), key=lambda row: row["key"]) for table in (mine, other)]
        assert by_key[0] == by_key[1]
        one, two = (json.loads((folder / f"{name}_stats.json").read_text()) for folder in (ours, theirs))
        assert list(one) == list(two)
        for count in ("count", "successes", "failed_to_download", "failed_to_resize"):
            assert one[count] == two[count]
    assert json.loads((ours / "00000_stats.json").read_text())["status_dict"]["HTTP Error 404: Not Found"] == 1
    if output_format == "files":
        sample, other_sample = (json.loads((folder / "00000/000000.json").read_text()) for folder in (ours, theirs))
        assert list(sample) == list(other_sample)


@pytest.fixture(scope="module")
def shapes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Pictures of known sizes as files that are served."""
    folder = tmp_path_factory.mktemp("shapes")
    for name, size in {"wide": (400, 200), "tall": (150, 600), "small": (60, 30)}.items():
        Image.new("RGB", size, (40, 110, 160)).save(folder / f"{name}.jpg")
    Image.new("RGBA", (300, 300), (0, 0, 0, 0)).save(folder / "clear.png")
    return folder


@pytest.mark.parametrize(
    "mode, only_if_bigger, sizes",
    [
        ("border", False, [(100, 100), (100, 100), (100, 100), (100, 100)]),
        ("border", True, [(100, 100), (100, 100), (60, 30), (100, 100)]),
        ("center_crop", False, [(100, 100), (100, 100), (100, 100), (100, 100)]),
        ("center_crop", True, [(100, 100), (100, 100), (60, 30), (100, 100)]),
        ("keep_ratio", False, [(200, 100), (100, 400), (200, 100), (100, 100)]),
        ("keep_ratio", True, [(200, 100), (100, 400), (60, 30), (100, 100)]),
        ("keep_ratio_largest", False, [(100, 50), (25, 100), (100, 50), (100, 100)]),
        ("keep_ratio_largest", True, [(100, 50), (25, 100), (60, 30), (100, 100)]),
        ("no", False, [(400, 200), (150, 600), (60, 30), (300, 300)]),
    ],
)
def test_each_way_to_resize_gives_the_sizes_of_img2dataset(
    program: str, shapes: Path, serve: Any, tmp_path: Path, mode: str, only_if_bigger: bool, sizes: list[Any]
) -> None:
    base = serve(shapes)
    listed = tmp_path / "list.txt"
    listed.write_text("".join(f"{base}/{name}\n" for name in ("wide.jpg", "tall.jpg", "small.jpg", "clear.png")))
    for end in ("jpg", "png"):
        run(
            program, url_list=str(listed), image_size=100, resize_mode=mode, resize_only_if_bigger=only_if_bigger,
            output_folder=str(tmp_path / end), output_format="parquet", encode_format=end,
            encode_quality=90 if end == "jpg" else 6,
        )  # fmt: skip
        rows = pq.read_table(tmp_path / end / "00000.parquet").to_pylist()
        images = [Image.open(io.BytesIO(row[end])) for row in rows]
        assert [image.size for image in images] == sizes
        assert [(row["width"], row["height"]) for row in rows] == sizes
        assert [(row["original_width"], row["original_height"]) for row in rows][1] == (150, 600)
        # Transparent parts are white.
        corner = images[3].convert("RGB").getpixel((5, 5))
        assert images[3].mode == "RGB" and min(corner) >= 250


def test_limits_of_size_are_those_of_img2dataset(program: str, shapes: Path, serve: Any, tmp_path: Path) -> None:
    base = serve(shapes)
    listed = tmp_path / "list.txt"
    listed.write_text("".join(f"{base}/{name}.jpg\n" for name in ("wide", "tall", "small")))
    run(
        program, url_list=str(listed), image_size=50, output_folder=str(tmp_path / "out"), output_format="parquet",
        min_image_size=40, max_image_area=85_000, max_aspect_ratio=3.0,
    )  # fmt: skip
    rows = pq.read_table(tmp_path / "out/00000.parquet").to_pylist()
    assert [row["status"] for row in rows] == ["success", "failed_to_resize", "failed_to_resize"]
    assert [row["error_message"] for row in rows] == [None, "image area too large", "image too small"]


def test_done_shards_are_left_and_extending_adds_others(program: str, urls: list[str], tmp_path: Path) -> None:
    settings: dict[str, Any] = {
        "url_list": str(write_list(tmp_path / "list.txt", "txt", urls[:5])), "output_folder": str(tmp_path / "out"),
        "image_size": 64, "output_format": "webdataset", "number_sample_per_shard": 2,
    }  # fmt: skip
    assert run(program, **settings)["count"] == 5
    before = tree(tmp_path / "out")
    (tmp_path / "out/00001_stats.json").unlink()
    assert run(program, **settings)["count"] == 2
    assert tree(tmp_path / "out") == before
    run(program, incremental_mode="extend", **settings)
    assert (tmp_path / "out/00005.tar").exists()


def test_a_killed_run_goes_on_where_it_was(program: str, urls: list[str], tmp_path: Path) -> None:
    listed = write_list(tmp_path / "list.txt", "txt", urls * 6)
    words = ["--url_list", str(listed), "--image_size=64", "--output_format", "webdataset"]
    words += ["--number-sample-per-shard", "5", "--output_folder"]
    command = [sys.executable, "-m", "thumbs_worker.img2dataset", *words]
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    subprocess.run([*command, str(whole)], check=True, capture_output=True)
    process = subprocess.Popen([*command, str(killed)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while process.poll() is None and not list(killed.glob("*_stats.json")):
        # Real time: another process writes them.
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()
    subprocess.run([*command, str(killed)], check=True, capture_output=True)
    assert tree(killed) == tree(whole)
    for shard in whole.glob("*.tar"):
        assert (killed / shard.name).read_bytes() == shard.read_bytes()


@pytest.mark.parametrize("is_the_workers", [False, True])
def test_a_full_disk_ends_the_run_and_leaves_whole_shards_only(
    program: str, origin: str, urls: list[str], tmp_path: Path, is_the_workers: bool
) -> None:
    # Longer files than this cannot be written, as on a disk that is full: the second shard's.
    longest = 100_000
    listed = write_list(tmp_path / "list.txt", "txt", [f"{origin}/status/404?{index}" for index in range(40)])
    with listed.open("a") as more:
        more.write("".join(f"{urls[0]}?{index}\n" for index in range(40)))
    wrapper = tmp_path / "thumbs"
    wrapper.write_text(f"#!/bin/sh\n{'' if is_the_workers else 'ulimit -S -f unlimited'}\nexec {program} \"$@\"\n")
    wrapper.chmod(0o755)
    command = [sys.executable, "-m", "thumbs_worker.img2dataset", "--url_list", str(listed), "--output_folder"]
    options = ["--output_format=webdataset", "--number_sample_per_shard=40", "--resize_mode=keep_ratio_largest"]
    run = subprocess.run(
        [*command, str(tmp_path / "out"), *options],
        capture_output=True, text=True, timeout=120,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (longest, resource.RLIM_INFINITY)),
        env={**os.environ, "THUMBS": str(wrapper)},
    )  # fmt: skip
    assert run.returncode == 73 and "cannot be written" in run.stderr
    first = ["00000.parquet", "00000.tar", "00000_stats.json"]
    # A worker that has no room ends the run as soon as it says so.
    assert tree(tmp_path / "out") in ([first, []] if is_the_workers else [first])


@pytest.mark.parametrize(
    "setting, value",
    [
        ("verify_hash", ["sum", "md5"]), ("distributor", "slurm"), ("output_format", "zip"),
        ("resize_mode", "stretch"), ("image_size", 0), ("image_size", 20000), ("save_additional_columns", ["width"]),
        ("save_additional_columns", ["code"]), ("save_additional_columns", ["n", "jpg"]),
        ("bbox_col", "box"), ("enable_wandb", True), ("input_format", "xml"), ("ignore_ssl_certificate", True),
        ("timeout", 0), ("subjob_size", 0), ("until", "soon"),
    ],
)  # fmt: skip
def test_an_option_that_cannot_be_kept_is_refused_by_name(setting: str, value: Any) -> None:
    with pytest.raises(SettingError, match=setting):
        Settings(**{"url_list": "list.txt", setting: value})


def test_the_command_line_is_read_as_img2dataset_reads_it(capsys: pytest.CaptureFixture[str]) -> None:
    words = "list.txt --image-size=64 --resize_only_if_bigger --save_additional_columns [licence,n] --noextract_exif"
    assert parse([*words.split(), "--caption_col", "7"]) == {
        "url_list": "list.txt", "image_size": 64, "resize_only_if_bigger": True, "extract_exif": False,
        "save_additional_columns": ["licence", "n"], "caption_col": "7",
    }  # fmt: skip
    assert main(["--url_list", "list.txt", "--colour", "blue"]) == 64
    assert "--colour" in capsys.readouterr().err
    assert main(["--url_list", "/nowhere/list.txt"]) == 64
    assert "/nowhere/list.txt" in capsys.readouterr().err


def test_a_shard_is_sent_without_the_rest_of_the_list(tmp_path: Path) -> None:
    listed = write_list(tmp_path / "list.parquet", "parquet", [f"http://h/{index}" for index in range(50_000)])
    columns = ["licence", "number"]
    settings = Settings(
        url_list=str(listed), input_format="parquet", save_additional_columns=columns, number_sample_per_shard=10
    )
    last = list(shards(settings, 0, range(4_999)))[0]
    assert last.rows.column("url").to_pylist() == [f"http://h/{index}" for index in range(49_990, 50_000)]
    assert last.rows.column("licence").to_pylist()[:3] == ["BY", None, "CC0"]
    assert len(pickle.dumps(last)) < 10_000
    rows = pa.table({**{name: [name] * 50_000 for name in ("key", "url")}, "first_failed": [1.0] * 50_000})
    assert len(pickle.dumps(next(failed_shards(settings, rows, 0)))) < 10_000


def test_options_for_the_worker_are_kept(tmp_path: Path) -> None:
    options = Options(isolate="all", headers=("h=A: b",), memory_budget="1GiB", user_agent="me", output="elsewhere")
    words = Run(Settings(url_list="list.txt", output_folder=str(tmp_path)), options)._worker_options().arguments()
    for name, value in [("isolate", "all"), ("header", "h=A: b"), ("memory-budget", "1GiB")]:
        assert words[words.index(f"--{name}") + 1] == value
    assert "--inline" in words and "--output" not in words and "*=User-Agent: me" in words
