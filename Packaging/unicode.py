#!/usr/bin/python3
"""Makes a small copy of the data of ICU, the Unicode library.

unicode.py lib_FoundationICU.a OBJECT    for the linker: prints its options, one a line, that use OBJECT in place of the data
                                         in the static library, which is part of Swift's Foundation
unicode.py libicudata.so.72 LIBRARY      a library in place of the system's

The data for the languages, currencies and scripts of the world takes 34 MB of each program. `thumbs` formats and compares
nothing by language: the data of the root locale and of English is kept, with normalization, host names, case, character
properties and time zones, but no collation and no names of currencies, languages, regions and units. ICU uses the root locale in place of what is not there. A library keeps all character sets as well,
in which libxml2 reads SVG.
"""

import re
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

# Of the names of time zones, and of the locales themselves.
LOCALES = r"(root|pool|res_index|en|en_001|en_US|en_US_POSIX|supplementalData|tzdbNames)\.res"
# Data that belongs to no locale: normalization, host names, character properties, and the tables of metadata.
TABLES = (
    r"(cnvalias|pnames|ucase|uprops|ubidi|uemoji|ulayout)\.icu|\w+\.nrm|(currencyNumericCodes|dayPeriods|"
    r"genderList|grammaticalFeatures|icustd|icuver|keyTypeData|langInfo|likelySubtags|metaZones|metadata|numberingSystems|"
    r"pluralRanges|plurals|timezoneTypes|windowsZones|zoneinfo64)\.res"
)
KEPT = re.compile(rf"\w+/(zone/{LOCALES}|curr/supplementalData\.res|{LOCALES}|{TABLES}|brkitr/(root\.res|(char|word)\.brk))")
CHARACTER_SETS = re.compile(r"\w+/[\w,=-]+\.cnv")
PADDING = 16


def items(data):
    """The names and contents of a package of ICU's (a header, and a table of offsets that begin after it)."""
    (header,) = struct.unpack_from("<H", data)
    (count,) = struct.unpack_from("<I", data, header)
    table = [struct.unpack_from("<II", data, header + 4 + 8 * index) for index in range(count)]
    ends = [offset for _, offset in table[1:]] + [len(data) - header]
    for (name, begin), end in zip(table, ends):
        text = data[header + name : data.index(0, header + name)]
        yield text.decode(), data[header + begin : header + end]


def package(header, chosen):
    """A package of these items, which are in the order of their names."""
    names = b"".join(name.encode() + b"\0" for name, _ in chosen)
    places, name_offset = [], 4 + 8 * len(chosen)
    offset = -(-(name_offset + len(names)) // PADDING) * PADDING
    contents = [names.ljust(offset - name_offset, b"\0")]
    for name, content in chosen:
        places.append(struct.pack("<II", name_offset, offset))
        name_offset += len(name) + 1
        contents.append(content.ljust(-(-len(content) // PADDING) * PADDING, b"\0"))
        offset += len(contents[-1])
    return header + struct.pack("<I", len(chosen)) + b"".join(places) + b"".join(contents)


def run(folder, *command):
    return subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True).stdout


def main():
    source, target = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).absolute()
    is_library = source.suffix != ".a"
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if not is_library:
            run(folder, "ar", "x", source, "icu_packaged_data.cpp.o")
        file = source if is_library else folder / "icu_packaged_data.cpp.o"
        symbol = re.search(r"\bicudt\w+_dat\b", run(folder, "nm", "--dynamic" if is_library else "--extern-only", file))[0]
        run(folder, "objcopy", "-O", "binary", "-j", ".rodata", file, "data")
        data = (folder / "data").read_bytes()
        (header,) = struct.unpack_from("<H", data)
        chosen = [
            item for item in items(data)
            if KEPT.fullmatch(item[0]) or is_library and CHARACTER_SETS.fullmatch(item[0])
        ]  # fmt: skip
        (folder / "small").write_bytes(package(data[:header], chosen))
        shown = symbol if is_library else f"__wrap_{symbol}"
        lines = [f'.section .rodata.{symbol},"a"', ".balign 16", f".globl {shown}", f"{shown}:", '.incbin "small"']
        # The linker of a library that is linked to this one wants to know the kind.
        lines += [f".type {shown}, %object", f".size {shown}, . - {shown}", '.section .note.GNU-stack,"",%progbits']
        (folder / "small.s").write_text("\n".join(lines) + "\n")
        if is_library:
            known = re.search(r"SONAME.*\[(.+)\]", run(folder, "readelf", "-d", source))[1]
            run(folder, "gcc", "-shared", "-nostdlib", f"-Wl,-soname,{known}", "-o", target, "small.s")
        else:
            run(folder, "as", "-o", target, "small.s")
            print("-Xlinker", f"--wrap={symbol}", "-Xlinker", target, sep="\n")


if __name__ == "__main__":
    main()
