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


# Around operators and braces, and at the ends of lines that end nothing.
SPARE = r"(?<=[;{(\[,])\n|(?<=[)\w]) (?=\{)|(?<=\{) | (?=\})| ([-+*/<>=!&|?:]+) "


def as_sent(file):
    """What the server sends: scripts without the lines of their comments, empty lines, indentation and spare space."""
    text = file.read_text()
    if file.suffix != ".js":
        return text
    return re.sub(SPARE, r"\1", re.sub(r"^ *(/\*\*(.|\n)*?\*/\n|//.*\n|\n)?", "", text, flags=re.M))


def test_scripts_and_styles_are_small():
    for suffix, most in MOST_BYTES.items():
        files = [file for file in PAGE.glob(f"*{suffix}") if file.stem not in OTHERS]
        assert sum(len(gzip.compress(as_sent(file).encode())) for file in files) <= most, suffix


def test_no_text_of_a_script_has_several_lines_or_spare_space():
    for file in PAGE.glob("*.js"):
        if file.stem not in OTHERS:
            assert all(line.count("`") % 2 == 0 for line in file.read_text().split("\n")), file.name
        text = re.sub(r"/\*\*(.|\n)*?\*/|^ *//.*", "", file.read_text(), flags=re.M)
        assert not re.search(r" [-+] [-+]", text), f"{file.name} has an operator that would become another one"
        if file.stem != "site":
            # What stands between quotes, and of a template what is none of its expressions.
            while (without := re.sub(r"\$\{[^{}]*\}", "x", text)) != text:
                text = without
            for quoted in re.findall(r"'[^'\n`]*'|`[^`\n]*`", text):
                assert re.sub(SPARE, r"\1", quoted) == quoted, f"{file.name}: {quoted}"


def test_nothing_comes_from_another_host():
    for file in PAGE.iterdir():
        addresses = re.findall(r"https?://[^\s\"'`)]+", file.read_text())
        assert set(addresses) <= WRITTEN_ONLY, file.name


def test_every_module_that_is_imported_is_there():
    for file in PAGE.glob("*.js"):
        for name in re.findall(r"from '\./(.+?)'", file.read_text()):
            assert (PAGE / name).exists(), f"{file.name} imports {name}"
