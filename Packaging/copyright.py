#!/usr/bin/python3
"""Writes the copyright file of a package: the program's licence, and those of all that is linked into it.

Usage: copyright.py, after a build.
"""

import json
import pathlib
import re
import sys
import textwrap

ROOT = pathlib.Path(__file__).resolve().parent.parent
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
SWIFT = "Apache-2.0 with Swift exception"


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


def licences():
    """The licence of each Swift package in the program, as docs/licences.md says."""
    rows = re.findall(r"^\| \[(.+?)\]\(.+?\)(.*) \| (.+) \|$", (ROOT / "docs" / "licences.md").read_text(), re.MULTILINE)
    # Debian has a name of its own for MIT's.
    return {name: licence.replace("MIT", "Expat") for name, note, licence in rows if "not in the program" not in note}


def checkouts():
    """The folders of these packages: Scripts/install builds in one of its own."""
    builds = [ROOT / build / "checkouts" for build in (".build/static", ".build")]
    return [next(build / name for build in builds if (build / name).exists()) for name in licences()]


def package_stanzas(folder, licence, pin):
    """A Swift package, with the notice that its licence asks to pass on, and the parts of it with a licence of their own."""
    comment = f"{pin['location'].removesuffix('.git')} {pin['state']['version']}\n" + "".join(
        "\n" + file.read_text().strip() for file in sorted(folder.glob("NOTICE*"))
    )
    place = f".build/checkouts/{folder.name}"
    yield f"Files: {place}/*\nCopyright: {holders(folder, folder.name)}\nLicense: {licence}\n{field('Comment', comment)}"
    # What others have written, and the package contains.
    for file in sorted(folder.glob("Sources/*/LICEN[CS]E*")):
        if "Permission is hereby granted, free of charge, to any person" not in " ".join(file.read_text().split()):
            sys.exit(f"copyright.py: {file} is not the MIT licence: name it here and in docs/licences.md")
        part = f"{place}/{file.parent.relative_to(folder)}/*"
        yield f"Files: {part}\nCopyright: {holders(file.parent, folder.name)}\nLicense: Expat"


def main():
    own = (ROOT / "LICENSE").read_text()
    holder = next(line for line in own.splitlines() if line.startswith("Copyright"))
    pins = {pin["identity"]: pin for pin in json.loads((ROOT / "Package.resolved").read_text())["pins"]}
    packages = [
        stanza
        for folder, licence in zip(checkouts(), licences().values())
        for stanza in package_stanzas(folder, licence, pins[folder.name.lower()])
    ]
    stanzas = [
        "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\nUpstream-Name: Thumbnailer\n"
        "Comment: The executables contain the Swift packages and libraries that are named below.",
        f"Files: *\nCopyright: {holder.removeprefix('Copyright ')}\nLicense: Expat",
        f"Files: usr/lib/swift_static/*\nCopyright: (c) 2014-2026 Apple Inc. and the Swift project authors\nLicense: {SWIFT}\n"
        "Comment: The standard library, Foundation and Dispatch, in the folder of the compiler.",
        "Files: usr/lib/swift_static/linux/lib_FoundationICU.a\nCopyright: (c) 2016-2026 Unicode, Inc.\n"
        "License: Unicode-3.0\nComment: Part of Foundation.",
        *packages,
        licence("Expat", own.split(holder)[1]),
        licence("Apache-2.0", APACHE),
        licence(SWIFT, APACHE + "\n" + EXCEPTION),
        licence("Unicode-3.0", UNICODE),
    ]
    print("\n\n".join(stanzas))


if __name__ == "__main__":
    main()
