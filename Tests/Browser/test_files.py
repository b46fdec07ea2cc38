"""The files of the page themselves."""

import gzip
import re

from conftest import PAGE

MOST_BYTES = 60_000
# The name of a namespace, and an example that is only read.
WRITTEN_ONLY = {"http://www.w3.org/2000/svg", "https://example.org/lake.jpg,"}


def test_all_files_together_are_small():
    assert sum(len(gzip.compress(file.read_bytes())) for file in PAGE.iterdir()) <= MOST_BYTES


def test_nothing_comes_from_another_host():
    for file in PAGE.iterdir():
        addresses = re.findall(r"https?://[^\s\"'`)]+", file.read_text())
        assert set(addresses) <= WRITTEN_ONLY, file.name


def test_every_module_that_is_imported_is_there():
    for file in PAGE.glob("*.js"):
        for name in re.findall(r"from '\./(.+?)'", file.read_text()):
            assert (PAGE / name).exists(), f"{file.name} imports {name}"
