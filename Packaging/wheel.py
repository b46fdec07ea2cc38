#!/usr/bin/python3
"""Makes the wheel that contains the program, of the one that has the Python package alone.

Usage: wheel.py WHEEL PROGRAM FOLDER. WHEEL is the Python package's, PROGRAM a `thumbs` with a `thumbs-decode` beside it and
without Swift's libraries, FOLDER gets the new wheel. Prints its path.

The libraries are this system's, unchanged but for what is left out here. The program's RPATH leads the loader to all of
them. Where they look for modules, settings and fonts is what Sources/thumbs/BundledLibraries.swift tells them. The C library
is the user's: the wheel's name says which one it needs at least.
"""

import base64
import hashlib
import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile

sys.dont_write_bytecode = True
import libraries  # noqa: E402
from copyright import checkouts  # noqa: E402
from libraries import Failure, output  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parent.parent
# As in Sources/thumbs/BundledLibraries.swift.
FOLDER = "libraries"
# Of the licences that the packages of a system name, and of files that no library is.
COMMON_LICENCES = pathlib.Path("/usr/share/common-licenses")
FONT_PACKAGES = ("fontconfig-config", "fonts-dejavu-core")
MAGICK_SETTINGS = ("/etc/ImageMagick-*/*.xml", "/usr/share/ImageMagick-*/*.xml", "/usr/lib/*/ImageMagick-*/config-*/*.xml")
# Libraries of which the program calls nothing: those of libvips' formats that it does not read (FITS, MATLAB, the slides of
# microscopes), its Fourier transforms, and libheif's encoder of HEVC. Where a library is linked to one, the wheel has a copy
# that consists of the functions that are linked, each of which ends the process.
UNUSED = ("libcfitsio.", "libmatio.", "libfftw3.", "libx265.")
UNUSED_MODULES = ("vips-openslide.so",)
COMMAND = "thumbs = thumbs_worker.program:main\n"


def copy(source, target):
    """Copies what a file or link leads to, and returns the copy."""
    target.parent.mkdir(parents=True, exist_ok=True)
    return pathlib.Path(shutil.copyfile(source, target))


class Program:
    """The folder with the program and all that it needs but the C library."""

    def __init__(self, program, folder):
        self.folder = folder
        self.libraries = folder / FOLDER
        #: The packages of all that is copied.
        self.packages = set()
        for name in ("thumbs", "thumbs-decode"):
            executable = copy(program.with_name(name), folder / name)
            output("patchelf", "--force-rpath", "--set-rpath", f"$ORIGIN/{FOLDER}", executable)
            executable.chmod(0o755)
        places = used_libraries(program)
        owners = libraries.owners(places.values())
        for name, path in places.items():
            if owners[path] is None:
                raise Failure(f"{program} needs {path}, which is of no package: build it with Scripts/install")
            package = owners[path]
            if package == "libc6":
                continue
            if name.startswith(UNUSED):
                write_empty(name, path, places.values(), self.libraries / name)
            else:
                self.packages.add(package)
                self.add_library(name, path)
        self.add_pixbuf_loaders()
        self.add_fonts()
        for pattern in MAGICK_SETTINGS:
            for file in pathlib.Path("/").glob(pattern.lstrip("/")):
                self.add_owned(file, self.libraries / "magick" / file.name)

    def add_library(self, name, path):
        kind, _, file = name.rpartition("/")
        if kind.startswith("vips-modules-"):
            # Of the folder that libvips was built for, it appends the last name to VIPSHOME.
            copy(path, self.libraries / path.parent.parent.name / name)
        elif kind == "coders":
            copy(path, self.libraries / "coders" / file)
            # By this text ImageMagick finds the module: in its own folder, and not in that of the machine.
            text = path.with_suffix(".la").read_text()
            moved = re.sub(r"^libdir=.*$", "libdir=''", text, flags=re.MULTILINE)
            (self.libraries / "coders" / file).with_suffix(".la").write_text(moved)
        elif kind in ("", "loaders"):
            target = copy(path, self.libraries / file)
            if file.startswith("libicudata."):
                output(ROOT / "Packaging" / "unicode.py", path, target)
        else:
            raise Failure(f"{name} has no place in a wheel: add one to Packaging/wheel.py and BundledLibraries.swift")

    def add_pixbuf_loaders(self):
        """The list of the copied loaders. Names without a folder are looked for where all libraries are."""
        (cache,) = pathlib.Path("/usr/lib").glob("*/gdk-pixbuf-2.0/*/loaders.cache")
        entries = [re.sub(r'^"/.*/', '"', entry) for entry in cache.read_text().split("\n\n") if entry.startswith('"/')]
        copied = [entry for entry in entries if (self.libraries / entry.split('"')[1]).exists()]
        (self.libraries / "loaders.cache").write_text("\n\n".join(copied) + "\n\n")

    def add_fonts(self):
        """Debian's standard fonts and their settings, as they are where libvips is installed there."""
        folder, target = pathlib.Path("/etc/fonts"), self.libraries / "fonts"
        for package in FONT_PACKAGES:
            self.packages.add(package)
            files = [pathlib.Path(name) for name in output("dpkg-query", "-L", package).splitlines()]
            for file in files:
                if file.suffix == ".ttf":
                    copy(file, target / "dejavu" / file.name)
            for link in folder.glob("conf.d/*.conf"):
                if link.resolve() in files:
                    copy(link, target / "conf.d" / link.name)
        text, own = (folder / "fonts.conf").read_text(), '<dir prefix="relative">dejavu</dir>\n\t'
        (target / "fonts.conf").write_text(text.replace("<dir>", own + "<dir>", 1))

    def add_owned(self, file, target):
        owner = libraries.owners([file])[file]
        if owner:
            self.packages.add(owner)
            copy(file, target)


def used_libraries(program):
    """All libraries by name, without those that only the unused ones need, and without modules of formats that are not read."""
    places = libraries.files(ROOT, program)
    waiting = [name for file in (program, program.with_name("thumbs-decode")) for name in libraries.needed(file)]
    waiting += libraries.lazy_names(ROOT) + [name for name in places if "/" in name and not name.endswith(UNUSED_MODULES)]
    used = {}
    while waiting:
        name = waiting.pop()
        # The loader itself is no library by that name.
        if name in used or name not in places:
            continue
        used[name] = places[name]
        if not name.startswith(UNUSED):
            waiting += libraries.needed(places[name])
    return used


def write_empty(name, library, others, target):
    """A library with the functions of the given one that others are linked to: calling one ends the process."""
    defined, called = symbols(library, "--defined-only"), set()
    for other in others:
        if name in libraries.needed(other):
            called |= symbols(other, "--undefined-only") & defined
    message = f"the wheel has no {name}"
    lines = ["#include <stdio.h>", "#include <stdlib.h>", f'static void end(void) {{ fputs("{message}\\n", stderr); abort(); }}']
    lines += [f"void {function}(void) {{ end(); }}" for function in sorted(called)]
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder) / "empty.c"
        source.write_text("\n".join(lines) + "\n")
        output("cc", "-w", "-O1", "-s", "-fno-builtin", "-shared", "-fPIC", f"-Wl,-soname,{name}", "-o", target, source)


def symbols(library, which):
    """The names of the functions that a library defines, or is linked to."""
    lines = output("nm", "-D", which, library).splitlines()
    return {words[-1].split("@")[0] for words in map(str.split, lines) if words and words[-2] in "TUW"}


def add_licences(folder, packages):
    """The licences of all that is in the wheel."""
    copy(ROOT / "LICENSE", folder / "LICENSE")
    (folder / "LIBRARIES.md").write_text(
        (ROOT / "docs" / "licences.md").read_text()
        + "\nThe copyright files of these packages are in `debian`, the licences that they name in `common`, those of the"
        "\nSwift packages in `swift`. Debian's sources of these versions are the sources of the libraries. Of ICU's data"
        "\nonly a part is left (`Packaging/unicode.py`), and "
        + ", ".join(f"`{name}*`" for name in UNUSED)
        + " are empty: the program does not call them (`Packaging/wheel.py`).\n\n"
        + output("dpkg-query", "--show", "--showformat", "- ${Package} ${Version}\n", *sorted(packages))
    )
    texts = ""
    for package in sorted(packages):
        text = pathlib.Path(f"/usr/share/doc/{package}/copyright").read_text(errors="replace")
        texts += text
        (folder / "debian").mkdir(exist_ok=True)
        (folder / "debian" / f"{package}.txt").write_text(text)
    for name in sorted(set(re.findall(rf"{COMMON_LICENCES}/([A-Za-z0-9.-]*[A-Za-z0-9])", texts))):
        if (COMMON_LICENCES / name).exists():
            copy(COMMON_LICENCES / name, folder / "common" / f"{name}.txt")
    for checkout in checkouts():
        for pattern in ("LICEN[CS]E*", "NOTICE*", "Sources/*/LICEN[CS]E*"):
            for file in checkout.glob(pattern):
                part = "" if file.parent == checkout else f"-{file.parent.name}"
                copy(file, folder / "swift" / f"{checkout.name}{part}-{file.stem}.txt")
    compiler = pathlib.Path(shutil.which("swift")).resolve().parents[1]
    copy(compiler / "share" / "swift" / "LICENSE.txt", folder / "swift" / "swift-LICENSE.txt")


def describe(information, tag):
    """Tells in the wheel's own files what it is now: for one platform, and under more licences."""
    wheel = information / "WHEEL"
    text = re.sub(r"^Root-Is-Purelib: .*$", "Root-Is-Purelib: false", wheel.read_text(), flags=re.MULTILINE)
    wheel.write_text(re.sub(r"^Tag: .*$", f"Tag: {tag}", text, flags=re.MULTILINE))
    metadata = information / "METADATA"
    head, separator, description = metadata.read_text().partition("\n\n")
    lines = [line for line in head.splitlines() if not line.startswith(("License", "Metadata-Version:"))]
    folder = information / "licenses"
    files = sorted(str(file.relative_to(folder)) for file in folder.rglob("*") if file.is_file())
    lines = [
        "Metadata-Version: 2.4", *lines, "License-Expression: MIT AND GPL-3.0-or-later AND LicenseRef-Libraries",
        *(f"License-File: {file}" for file in files),
    ]
    metadata.write_text("\n".join(lines) + separator + description)


def record(folder, information):
    """Lists all files with their digests."""
    lines = []
    for file in sorted(path for path in folder.rglob("*") if path.is_file() and path.name != "RECORD"):
        digest = base64.urlsafe_b64encode(hashlib.sha256(file.read_bytes()).digest()).rstrip(b"=").decode()
        lines.append(f"{file.relative_to(folder)},sha256={digest},{file.stat().st_size}\n")
    name = information / "RECORD"
    name.write_text("".join(lines) + f"{name.relative_to(folder)},,\n")


class Deflater:
    """What zipfile calls to compress a file, with libdeflate: 4 % smaller than with zlib."""

    def __init__(self):
        self.data = bytearray()

    def compress(self, data):
        self.data += data
        return b""

    def flush(self):
        command = ["libdeflate-gzip", "-12", "-c"]
        packed = subprocess.run(command, input=self.data, stdout=subprocess.PIPE, check=True).stdout
        # Without the header and the trailer of gzip.
        return packed[10:-8]


def pack(folder, target):
    """The same files give the same bytes; the time is that of SOURCE_DATE_EPOCH, or else of the last commit."""
    zipfile._get_compressor = lambda *_: Deflater()
    seconds = os.environ.get("SOURCE_DATE_EPOCH") or output("git", "-C", ROOT, "log", "-1", "--format=%ct")
    with zipfile.ZipFile(target, "w") as archive:
        for file in sorted(path for path in folder.rglob("*") if path.is_file()):
            entry = zipfile.ZipInfo(str(file.relative_to(folder)), time.gmtime(int(seconds))[:6])
            entry.external_attr = (0o100755 if os.access(file, os.X_OK) else 0o100644) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, file.read_bytes())


def main():
    wheel, program, target = (pathlib.Path(argument) for argument in sys.argv[1:])
    distribution = "-".join(wheel.name.split("-")[:2])
    tag = f"py3-none-manylinux_{os.confstr('CS_GNU_LIBC_VERSION').split()[1].replace('.', '_')}_{platform.machine()}"
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(folder)
        information = folder / f"{distribution}.dist-info"
        contents = Program(program, folder / "thumbs_worker" / "program")
        add_licences(information / "licenses", contents.packages)
        commands = information / "entry_points.txt"
        commands.write_text(commands.read_text().replace("[console_scripts]\n", "[console_scripts]\n" + COMMAND))
        describe(information, tag)
        record(folder, information)
        new = target / f"{distribution}-{tag}.whl"
        pack(folder, new)
    print(new)


if __name__ == "__main__":
    try:
        main()
    except (Failure, subprocess.CalledProcessError, OSError) as failure:
        print(f"wheel.py: {failure}", file=sys.stderr)
        sys.exit(70)
