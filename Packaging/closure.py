#!/usr/bin/python3
"""Copies what a built `thumbs` needs of the system into a folder: libraries, those loaded later, their data and licences.

Usage: closure.py PROGRAM FOLDER

The files have the same paths below FOLDER as in the system, so that each is found where its library looks for it. The
packages that they are from are listed in /var/lib/dpkg/status.d, where scanners for vulnerabilities look.
"""

import pathlib
import re
import shutil
import sys

sys.dont_write_bytecode = True
import libraries  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parent.parent
# What libraries read at run time: certificates; fonts for the text of SVG and PDF, and the codes of PDF's characters; the
# list of ImageMagick's decoders, of the C library's encodings, and of the loaders of GdkPixbuf with the types of files.
DATA = [
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/fonts",
    "/usr/share/fontconfig/conf.avail",
    "/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf",
    "/usr/share/poppler",
    "/etc/ImageMagick-[67]",
    "/usr/share/ImageMagick-[67]",
    "/usr/lib/*/ImageMagick-*/modules-*/coders/magick.la",
    "/usr/lib/*/gconv/gconv-modules*",
    "/usr/lib/*/gdk-pixbuf-2.0/*/loaders.cache",
    "/usr/share/mime/mime.cache",
    "/usr/share/common-licenses",
    # By which scanners for vulnerabilities know whose packages these are.
    "/etc/os-release",
    "/usr/lib/os-release",
]
# The packages of these data.
DATA_PACKAGES = ["base-files", "ca-certificates", "fontconfig-config", "fonts-dejavu-core", "poppler-data", "shared-mime-info"]


def copy(path, folder):
    """Copies a file to its own path, and a link as a link."""
    target = folder / path.relative_to("/")
    target.parent.mkdir(parents=True, exist_ok=True)
    if not target.exists() and not target.is_symlink():
        shutil.copy2(path, target, follow_symlinks=False)
    return target


def copy_library(name, path, folder):
    """Copies a library with what libtool says of it, and makes the link by which others know it."""
    if path.with_suffix(".la").exists():
        copy(path.with_suffix(".la"), folder)
    link = copy(path.resolve(), folder).with_name(pathlib.Path(name).name)
    if not link.exists():
        link.symlink_to(path.resolve().name)


def link_loader(program, folder):
    """Makes the link to the dynamic loader that a program names."""
    headers = libraries.output("readelf", "--program-headers", program)
    loader = pathlib.Path(re.search(r"interpreter: (.+)\]", headers)[1])
    link = folder / loader.relative_to("/")
    link.parent.mkdir(parents=True, exist_ok=True)
    if not link.exists():
        link.symlink_to(loader.resolve())


def record(package, folder):
    """Copies the licences of a package, and what the package manager knows of it."""
    text = pathlib.Path(f"/usr/share/doc/{package}/copyright")
    (folder / text.parent.relative_to("/")).mkdir(parents=True, exist_ok=True)
    shutil.copy2(text, folder / text.relative_to("/"))
    status = folder / "var/lib/dpkg/status.d"
    status.mkdir(parents=True, exist_ok=True)
    (status / package).write_text(libraries.output("dpkg-query", "--status", package))


def write_sources(packages, folder):
    """Says where the sources and licences of the libraries are."""
    fields = "${source:Package} ${source:Version}\n"
    sources = libraries.output("dpkg-query", "--show", "--showformat", fields, *packages).splitlines()
    target = folder / "usr/share/doc/thumbs/SOURCES"
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(
        "The program's own licence, and those of the Swift packages in it, are in `copyright` beside this file.\n"
        "The libraries are those of Debian; only the data of ICU is a smaller copy (Packaging/unicode.py). Their\n"
        "licences are in /usr/share/doc/PACKAGE/copyright. Their sources are Debian's source packages of these versions,\n"
        "which `apt-get source NAME=VERSION` brings on Debian:\n\n" + "".join(f"{line}\n" for line in sorted(set(sources)))
    )


def main():
    program, folder = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    files = libraries.files(ROOT, program)
    for name, path in files.items():
        copy_library(name, path, folder)
    link_loader(program, folder)
    for pattern in DATA:
        for found in sorted(pathlib.Path("/").glob(pattern.lstrip("/"))):
            for file in [found] if not found.is_dir() else sorted(found.rglob("*")):
                if not file.is_dir() or file.is_symlink():
                    copy(file, folder)
    names = sorted({package for package in libraries.owners(files.values()).values() if package} | set(DATA_PACKAGES))
    for name in names:
        record(name, folder)
    write_sources(names, folder)


if __name__ == "__main__":
    main()
