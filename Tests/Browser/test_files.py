"""The files of the page themselves."""

import gzip
import re

from conftest import PAGE

# Of scripts and styles, as the server sends them.
MOST_BYTES = {".js": 48_000, ".css": 8_000}
# The name of a namespace, an example that is only read, and a map for those who click.
WRITTEN_ONLY = {
    "https://www.openstreetmap.org/?mlat=${north}&mlon=${east}#map=15/${place}",
    "http://www.w3.org/2000/svg",
    "https://example.org/lake.jpg,",
}


# Those of other pages.
OTHERS = {"help", "site"}


def as_sent(file):
    """What the server sends: scripts without the lines of their comments, empty lines and indentation."""
    text = file.read_text()
    return re.sub(r"^ *(/\*\*(.|\n)*?\*/\n|//.*\n|\n)?", "", text, flags=re.M) if file.suffix == ".js" else text


def test_scripts_and_styles_are_small():
    for suffix, most in MOST_BYTES.items():
        files = [file for file in PAGE.glob(f"*{suffix}") if file.stem not in OTHERS]
        assert sum(len(gzip.compress(as_sent(file).encode())) for file in files) <= most, suffix


def test_no_text_of_a_script_has_several_lines():
    for file in PAGE.glob("*.js"):
        if file.stem not in OTHERS:
            assert all(line.count("`") % 2 == 0 for line in file.read_text().split("\n")), file.name


def test_nothing_comes_from_another_host():
    for file in PAGE.iterdir():
        addresses = re.findall(r"https?://[^\s\"'`)]+", file.read_text())
        assert set(addresses) <= WRITTEN_ONLY, file.name


def test_every_module_that_is_imported_is_there():
    for file in PAGE.glob("*.js"):
        for name in re.findall(r"from '\./(.+?)'", file.read_text()):
            assert (PAGE / name).exists(), f"{file.name} imports {name}"
