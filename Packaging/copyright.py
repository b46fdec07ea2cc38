#!/usr/bin/python3
"""Writes the copyright file of a package: the program's licence, and those of all that is linked into it.

Usage: copyright.py, after a build.
"""

import pathlib
import re
import sys
import textwrap

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "Scripts"))
from bill import spdx, swift_packages  # noqa: E402

APACHE = "On Debian systems, this licence is in /usr/share/common-licenses/Apache-2.0."
EXCEPTION = """
Runtime Library Exception to the Apache 2.0 License:

As an exception, if you use this Software to compile your source code and portions of this Software are embedded into the
binary product as a result, you may redistribute such product without providing attribution as would otherwise be required
by Sections 4(a), 4(b) and 4(d) of the License."""
UNICODE = """
UNICODE LICENSE V3

COPYRIGHT AND PERMISSION NOTICE

NOTICE TO USER: Carefully read the following legal agreement. BY DOWNLOADING, INSTALLING, COPYING OR OTHERWISE USING DATA
FILES, AND/OR SOFTWARE, YOU UNEQUIVOCALLY ACCEPT, AND AGREE TO BE BOUND BY, ALL OF THE TERMS AND CONDITIONS OF THIS
AGREEMENT. IF YOU DO NOT AGREE, DO NOT DOWNLOAD, INSTALL, COPY, DISTRIBUTE OR USE THE DATA FILES OR SOFTWARE.

Permission is hereby granted, free of charge, to any person obtaining a copy of data files and any associated documentation
(the "Data Files") or software and any associated documentation (the "Software") to deal in the Data Files or Software
without restriction, including without limitation the rights to use, copy, modify, merge, publish, distribute, and/or sell
copies of the Data Files or Software, and to permit persons to whom the Data Files or Software are furnished to do so,
provided that either (a) this copyright and permission notice appear with all copies of the Data Files or Software, or (b)
this copyright and permission notice appear in associated Documentation.

THE DATA FILES AND SOFTWARE ARE PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED
TO THE WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT OF THIRD PARTY RIGHTS.

IN NO EVENT SHALL THE COPYRIGHT HOLDER OR HOLDERS INCLUDED IN THIS NOTICE BE LIABLE FOR ANY CLAIM, OR ANY SPECIAL INDIRECT OR
CONSEQUENTIAL DAMAGES, OR ANY DAMAGES WHATSOEVER RESULTING FROM LOSS OF USE, DATA OR PROFITS, WHETHER IN AN ACTION OF
CONTRACT, NEGLIGENCE OR OTHER TORTIOUS ACTION, ARISING OUT OF OR IN CONNECTION WITH THE USE OR PERFORMANCE OF THE DATA FILES
OR SOFTWARE.

Except as contained in this notice, the name of a copyright holder shall not be used in advertising or otherwise to promote
the sale, use or other dealings in these Data Files or Software without prior written authorization of the copyright holder.
"""
# What Debian calls the licences.
NAMES = {"MIT": "Expat", "Apache-2.0 WITH Swift-exception": "Apache-2.0 with Swift exception"}
SWIFT = NAMES["Apache-2.0 WITH Swift-exception"]


def field(name, text):
    """A field of a control file whose value begins on the next line."""
    lines = [line for paragraph in text.strip().splitlines() for line in textwrap.wrap(paragraph, 100) or ["."]]
    return "\n".join([f"{name}:", *(" " + line for line in lines)])


def licence(name, text):
    return field(f"License: {name}", text).replace(":\n", "\n", 1)


def holders(folder, project):
    """The lines of the licence and the notice that name who holds the copyright."""
    files = sorted(file for pattern in ("LICEN[CS]E*", "NOTICE*") for file in folder.glob(pattern))
    lines = [line.strip() for file in files for line in file.read_text().splitlines()]
    named = [line for line in lines if re.match(r"copyright\b.*[12][0-9]{3}", line, re.IGNORECASE)]
    return "\n           ".join(dict.fromkeys(line[10:] for line in named)) or f"the authors of {project}"


def package_stanzas(package):
    """A Swift package, with the notice that its licence asks to pass on, and the parts of it with a licence of their own."""
    folder = swift_packages.checkouts(ROOT, package.name.removesuffix(".git"))[0]
    comment = f"{package.url} {package.version}\n" + "".join(
        "\n" + file.read_text().strip() for file in sorted(folder.glob("NOTICE*"))
    )
    name = NAMES.get(package.licence, package.licence)
    place = f".build/checkouts/{package.name}"
    yield f"Files: {place}/*\nCopyright: {holders(folder, package.name)}\nLicense: {name}\n{field('Comment', comment)}"
    # What others have written, and the package contains.
    for file in sorted(folder.glob("Sources/*/LICEN[CS]E*")):
        known = spdx.of_text(file.read_text())
        if known is None:
            sys.exit(f"copyright.py: no licence that is known here: {file}; add it to Scripts/bill/spdx.py")
        part = f"{place}/{file.parent.relative_to(folder)}/*"
        yield f"Files: {part}\nCopyright: {holders(file.parent, package.name)}\nLicense: {NAMES.get(known, known)}"


def main():
    own = (ROOT / "LICENSE").read_text()
    holder = next(line for line in own.splitlines() if line.startswith("Copyright"))
    stanzas = [
        "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\nUpstream-Name: Thumbnailer\n"
        "Comment: The executables contain the Swift packages and libraries that are named below.",
        f"Files: *\nCopyright: {holder.removeprefix('Copyright ')}\nLicense: Expat",
        f"Files: usr/lib/swift_static/*\nCopyright: (c) 2014-2026 Apple Inc. and the Swift project authors\nLicense: {SWIFT}\n"
        "Comment: The standard library, Foundation and Dispatch, in the folder of the compiler.",
        "Files: usr/lib/swift_static/linux/lib_FoundationICU.a\nCopyright: (c) 2016-2026 Unicode, Inc.\n"
        "License: Unicode-3.0\nComment: Part of Foundation.",
        *(stanza for package in swift_packages.linked(ROOT) if package.is_linked for stanza in package_stanzas(package)),
        licence("Expat", own.split(holder)[1]),
        licence("Apache-2.0", APACHE),
        licence(SWIFT, APACHE + "\n" + EXCEPTION),
        licence("Unicode-3.0", UNICODE),
    ]
    print("\n\n".join(stanzas))


if __name__ == "__main__":
    main()
