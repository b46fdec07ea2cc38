"""Outputs that others may have written: nothing outside of them changes, and nothing in them that is not theirs."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pa = pytest.importorskip("pyarrow")
pytest.importorskip("PIL.Image")
import pyarrow.parquet as pq  # noqa: E402

from thumbs_worker.img2dataset import SettingError, layout, ledger, storage  # noqa: E402
from thumbs_worker.img2dataset.__main__ import main  # noqa: E402
from thumbs_worker.img2dataset.run import download  # noqa: E402
from thumbs_worker.img2dataset.storage import Output  # noqa: E402

NAMES = ["{victim}", "../victim", "sub/../../victim", ".", "..", "", "00000\0.tar", "00000/../../victim", "00001.tar", 7]


@pytest.fixture
def victim(tmp_path: Path) -> Path:
    """A folder of the user's, beside the output."""
    folder = tmp_path / "victim"
    folder.mkdir()
    (folder / "0.jpg").write_text("a picture of the user's")
    return folder


@pytest.fixture
def run(program: str, tmp_path: Path, urls: list[str]) -> Callable[..., dict[str, int]]:
    listed = tmp_path / "list.txt"
    listed.write_text("".join(f"{url}\n" for url in urls[:3]))
    settings = {"url_list": str(listed), "output_folder": str(tmp_path / "out"), "image_size": 32, "output_format": "files",
                "resize_mode": "keep_ratio_largest", "resize_only_if_bigger": True}  # fmt: skip
    return lambda **more: download(program=program, **{**settings, **more})


@pytest.fixture(params=["here", "s3"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[str, str, Any]:
    """The address of an output, and its path in its file system."""
    if request.param == "s3":
        return f"s3://bucket/{tmp_path.name}", f"bucket/{tmp_path.name}", request.getfixturevalue("bucket")
    return str(tmp_path / "out"), str(tmp_path / "out"), pytest.importorskip("fsspec").filesystem("file", auto_mkdir=True)


def found(system: Any, root: str) -> dict[str, bytes]:
    return {path.removeprefix(f"{root}/"): system.cat_file(path) for path in system.find(root)}


def tree(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("name", NAMES)
def test_a_manifest_names_files_of_its_shard_alone(
    tmp_path: Path, victim: Path, name: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    fsspec = pytest.importorskip("fsspec")
    name = name.format(victim=victim) if isinstance(name, str) else name
    before = tree(tmp_path / "victim")
    for damaged in ({"files": [name]}, [name], {"files": {str(name): ""}}):
        document = json.dumps(damaged)
        there = fsspec.filesystem("memory")
        there.pipe_file(f"/out/{layout.MANIFEST}/00000.manifest", document.encode())
        here = tmp_path / "here" / layout.MANIFEST
        here.mkdir(parents=True, exist_ok=True)
        (here / "00000.manifest").write_text(document)
        for address in ("memory://out", str(here.parent)):
            assert main(["verify", address]) == 1
            assert f"{layout.MANIFEST}/00000.manifest" in capsys.readouterr().err
            (tmp_path / "to").mkdir(exist_ok=True)
            output = Output("memory://to" if "://" in address else str(tmp_path / "to"))
            with pytest.raises(ValueError, match="00000.manifest"):
                output.adopt(address, "00000", "00003")
            output.leave()
    assert tree(tmp_path / "victim") == before and not any((tmp_path / "to").iterdir())


def test_objects_become_files_of_their_folder_alone(
    bucket: Any, tmp_path: Path, victim: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    # The copies are made in a folder of which the attacker knows how deep it is.
    (tmp_path / "tmp").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "tmp"))
    before = tree(victim)
    bucket.pipe_file(f"bucket/bad/{layout.MANIFEST}/00000.manifest", b'{"files": {"00000": "0"}}')
    for key in ("00000/../../../victim/0.jpg", "00000/../../../victim/1.jpg"):
        bucket.pipe_file(f"bucket/bad/{key}", b"x")
    assert main(["verify", "s3://bucket/bad"]) == 1
    assert "s3://bucket/bad/00000 has '..'" in capsys.readouterr().err
    bucket.pipe_file(f"bucket/bad/{layout.LEDGER}/../../../victim/0.jpg", b"x")
    bucket.pipe_file("bucket/bad/00000_stats.json", b"{}")
    output = Output("s3://bucket/bad")
    assert "plain name" in str(pytest.raises(ValueError, output.begin, needs_ledger=True).value)
    pytest.raises(SettingError, Output, "s3://bucket/data[1]")
    output.close()
    assert tree(victim) == before


@pytest.mark.parametrize("key", ["{victim}/0", "../victim/0", "../../../victim/0", "", "..", None])
def test_the_keys_of_a_ledger_are_plain_names(
    run: Any, tmp_path: Path, victim: Path, urls: list[str], key: str | None
) -> None:
    folder = tmp_path / "out"
    columns = pa.schema([("url", pa.string())])
    (folder / layout.TEMPORARY).mkdir(parents=True)
    row = {"url": urls[0], "key": key and key.format(victim=victim), "code": "x", "message": "", "first_failed": 0.0}
    ledger.write(folder, "00000", columns, [{**row, "not_before": 0.0}])
    layout.write_statistics(folder, "00000", {})
    before = tree(victim)
    with pytest.raises(ValueError, match="plain name"):
        run(url_list="", only_failed=True)
    pq.write_table(pa.table({"url": urls[:1]}), folder / layout.LEDGER / "00000.parquet")
    with pytest.raises(ValueError, match="no column key"):
        run(url_list="", only_failed=True)
    assert tree(victim) == before


@pytest.mark.parametrize("part", [layout.MANIFEST, layout.LEDGER])
def test_folders_of_an_output_are_no_links(run: Any, tmp_path: Path, victim: Path, part: str) -> None:
    (tmp_path / "out").mkdir()
    (victim / "00000.parquet").write_text("another one's")
    (tmp_path / "out" / part).symlink_to(victim)
    before = tree(victim)
    with pytest.raises(FileExistsError, match="is a link"):
        run()
    assert tree(victim) == before


def test_what_is_of_no_shard_stays_in_an_output(run: Any, place: tuple[str, str, Any]) -> None:
    own = {"notes.txt", "2024/20240613.jpg", "00001/summer/0.jpg", "00000.jpg", "12345", "x_stats.json", "_tmp/a-1-1/b"}
    address, root, system = place
    for name in own:
        system.pipe_file(f"{root}/{name}", b"the user's")
    run(output_folder=address)
    shard = found(system, root).keys() - own
    assert {"00000/000000000.jpg", "00000.parquet", "00000_stats.json", f"{layout.MANIFEST}/00000.manifest"} <= shard
    system.rm_file(f"{root}/00000_stats.json")
    run(output_folder=address)
    after = found(system, root)
    assert after.keys() == own | shard and {after[name] for name in own} == {b"the user's"}


@pytest.mark.parametrize("name", ["00000.tar", "00000.parquet"])
def test_a_file_in_the_place_of_a_shard_is_left(run: Any, place: tuple[str, str, Any], name: str) -> None:
    address, root, system = place
    file = f"{root}/{name}"
    system.pipe_file(file, b"the user's")
    with pytest.raises(FileExistsError, match=f"{name} is in the way"):
        run(output_folder=address, output_format="webdataset")
    assert system.cat_file(file) == b"the user's"
    # The list itself is left, too, although it may have the name of a shard.
    with pytest.raises(SettingError, match="copy it"):
        run(output_folder=address, url_list=f"{address}/{name}")
    assert system.cat_file(file) == b"the user's"
    system.rm(file)
    run(output_folder=address, output_format="webdataset")
    assert Output(address).verify() == []


OTHERS = ["00000/000000000.txt", "00000.tar", "00000.parquet", "_ledger/00000.parquet", "_manifest/00000.manifest"]


@pytest.mark.parametrize("name", OTHERS)
def test_a_shard_with_what_was_not_written_so_is_left_whole(run: Any, place: tuple[str, str, Any], name: str) -> None:
    address, root, system = place
    # Of a folder where no run has been, and one whose shard lacks its statistics.
    for is_new in (True, False):
        kept = system.cat_file(f"{root}/{name}") if system.exists(f"{root}/{name}") else None
        system.pipe_file(f"{root}/{name}", b"the user's")
        before = found(system, root)
        if name != "00000.tar" or not is_new:
            with pytest.raises((FileExistsError, ValueError), match=rf"({name}|00000) is (in the way|not)"):
                run(output_folder=address)
            assert found(system, root) == before
        system.rm_file(f"{root}/{name}")
        if kept is not None:
            system.pipe_file(f"{root}/{name}", kept)
        run(output_folder=address)
        assert Output(address).verify() == []
        system.rm_file(f"{root}/00000_stats.json")


@pytest.mark.parametrize("name", ["00000/notes.txt", "00000/000000000.txt", "00000/000000001.jpg", "00000_stats.json"])
def test_what_changes_after_it_was_looked_at_is_not_removed(run: Any, tmp_path: Path, name: str) -> None:
    run()
    output = Output(str(tmp_path / "out"))
    files = output._left(["00000"])
    (tmp_path / "out" / name).write_text("an hour's work")
    with pytest.raises(FileExistsError, match=rf"{name} has changed or come" + (".*already: 00000_stats" * ("/" in name))):
        output.discard(files)
    assert (tmp_path / "out" / name).read_text() == "an hour's work"


def test_links_in_a_local_folder_are_not_followed_however_it_is_named(run: Any, tmp_path: Path, victim: Path) -> None:
    (out := tmp_path / "out").mkdir()
    (out / layout.MANIFEST).symlink_to(victim)
    for scheme in ("file://", "local://"):
        with pytest.raises(FileExistsError, match="is a link"):
            run(output_folder=f"{scheme}{out}")
    (out / "_temporary").symlink_to(victim)
    with pytest.raises(FileExistsError, match="is a link"):
        Output(str(out)).sweep("_temporary", ".*")
    assert tree(victim).keys() == {"0.jpg"}


def test_a_file_that_comes_in_the_moment_of_a_rename_stays(tmp_path: Path) -> None:
    (tmp_path / "new").write_text("new")
    (tmp_path / "come").write_text("the user's")
    with pytest.raises(FileExistsError):
        layout.rename(tmp_path / "new", tmp_path / "come")
    assert (tmp_path / "come").read_text() == "the user's"
    layout.rename(tmp_path / "new", tmp_path / "free")
    (tmp_path / "shard").mkdir()
    (tmp_path / "empty").mkdir()
    layout.rename(tmp_path / "shard", tmp_path / "empty")
    assert tree(tmp_path).keys() == {"come", "free"}


def test_a_shard_of_an_earlier_version_is_replaced(run: Any, tmp_path: Path) -> None:
    run()
    before = tree(tmp_path / "out")
    manifest = tmp_path / "out" / layout.MANIFEST / "00000.manifest"
    document = json.loads(manifest.read_text())
    del document["samples"]
    manifest.write_text(json.dumps(document))
    (tmp_path / "out/00000_stats.json").unlink()
    (tmp_path / "out/00000/notes.txt").write_text("the user's")
    with pytest.raises(FileExistsError, match="00000 is in the way"):
        run()
    (tmp_path / "out/00000/notes.txt").unlink()
    run()
    assert tree(tmp_path / "out").keys() == before.keys() and Output(str(tmp_path / "out")).verify() == []


# What the user has tidied away, and what the sources of the next run are: gone, or others.
TIDIED = [("webdataset", "gone", "incremental", []), ("webdataset", "other", "extend", ["00000.parquet"]),
          ("files", "gone", "extend", ["00000/000000001.jpg"]), ("parquet", "other", "incremental", []),
          ("files", "other", "incremental", ["00000/000000000.json", "00000.parquet"]), ("tfrecord", "gone", "extend", [])]  # fmt: skip


@pytest.mark.parametrize("output_format, sources, mode, tidied", TIDIED)
def test_samples_that_a_new_shard_has_not_are_moved_aside(
    run: Any, tmp_path: Path, place: tuple[str, str, Any], urls: list[str], capsys: pytest.CaptureFixture[str],
    output_format: str, sources: str, mode: str, tidied: list[str],
) -> None:  # fmt: skip
    address, root, system = place
    _ = output_format != "tfrecord" or pytest.importorskip("google_crc32c")
    settings = {"output_folder": address, "output_format": output_format, "incremental_mode": mode}
    run(**settings)
    kept: dict[str, bytes] = {}
    lists = [[urls[0], f"{urls[1]}-gone"] if sources == "gone" else urls[3:6], urls[4:5], urls[4:6]]
    # The last one has all that the one before has: it takes its place.
    for end, listed in zip([".before", ".before1", None], lists, strict=True):
        for name in ["00000_stats.json", *(tidied if end == ".before" else [])]:
            system.rm_file(f"{root}/{name}")
        there = {re.sub("^[^/]*", rf"\g<0>{end}", name): data for name, data in found(system, root).items() if name[0] != "_"}
        kept |= {name: data for name, data in there.items() if end and name.count("before") == 1}
        (tmp_path / "list.txt").write_text("\n".join(listed))
        run(**settings)
        after = found(system, root)
        assert {name: data for name, data in after.items() if "before" in name} == kept and Output(address).verify() == []
        moved = {name.partition("/")[0] for name in kept if f"{end}/" in f"{name}/"}
        assert moved == set(re.findall("it is (.+) now", capsys.readouterr().err))


def test_no_list_is_lost_or_passed_over(run: Any, tmp_path: Path, urls: list[str]) -> None:
    folder, listed = tmp_path / "out", tmp_path / "list.csv"
    listed.write_text(f"url,caption\n{urls[0]}-gone,one\n")
    run(url_list=str(listed), input_format="csv", caption_col="caption")
    before = tree(folder)
    listed.write_text("url\n")
    for mode, message in (("incremental", "list.csv has no rows"), ("overwrite", "incremental_mode=.*nothing is removed")):
        with pytest.raises(SettingError, match=message):
            run(url_list=str(listed), input_format="csv", incremental_mode=mode)
    assert tree(folder) == before
    # The list is the shard's own file, by another path; only its captions would go, for its rows have failed.
    (tmp_path / "list.parquet").hardlink_to(folder / "00000.parquet")
    (folder / "00000_stats.json").unlink()
    run(url_list=str(tmp_path / "list.parquet"), input_format="parquet")
    assert tree(folder)["00000.parquet.before"] == before["00000.parquet"] and Output(str(folder)).verify() == []


@pytest.mark.parametrize("edited", ["00000/000000000.json", "00000/notes.txt"])
def test_what_a_user_writes_while_a_shard_is_replaced_stays(
    run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, edited: str
) -> None:
    run(output_format="files", output_folder=str(folder := tmp_path / "to"))
    (folder / "00000_stats.json").unlink()
    real = Output._move

    def moving(output: Output, source: str, name: str) -> None:
        if name == "00000.before":
            with open(folder / edited, "a") as user:
                user.write("mine")
        real(output, source, name)

    with monkeypatch.context() as patch, pytest.raises(FileExistsError, match=r"00000\.before/"):
        patch.setattr(Output, "_move", moving)
        run(output_format="files", output_folder=str(folder))
    run(output_format="files", output_folder=str(folder))
    assert (folder / edited.replace("/", ".before/")).read_text().endswith("mine") and Output(str(folder)).verify() == []


def test_a_run_that_ends_between_any_two_files_is_gone_on_with(
    run: Any, place: tuple[str, str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    address, root, system = place
    run(output_folder=address)
    owner, step = (storage, "_again") if "://" in address else (Path, "rename")
    real = getattr(owner, step)
    for most in range(100):
        left = [most]
        for file in filter(re.compile(r"\.before|_stats\.json").search, system.find(root)):
            system.rm_file(file)

        def ending(*arguments: Any) -> Any:
            left[0] -= 1
            if left[0] < 0:
                raise OSError("killed")
            return real(*arguments)  # noqa: B023

        with monkeypatch.context() as patch:
            patch.setattr(owner, step, ending)
            try:
                run(output_folder=address)
            except OSError as error:
                assert "killed" in str(error)
        run(output_folder=address)
        assert Output(address).verify() == []
        if left[0] >= 0:
            break
    assert 3 < most < 99
