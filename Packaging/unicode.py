#!/usr/bin/python3
"""Makes a small copy of the data of ICU, the Unicode library inside Foundation, for the linker.

Usage: unicode.py ARCHIVE OBJECT. ARCHIVE is lib_FoundationICU.a of the static toolchain. Prints the options of the linker
that use OBJECT in place of ICU's own data.

Foundation's data for the languages, currencies, character sets and scripts of the world takes 34 MB of each program. `thumbs`
formats and compares nothing by language: the data of the root locale and of English is kept, with normalization, host names,
case, character properties and time zones. ICU uses the root locale in place of what is not there.
"""

import re
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

# Of the trees of locales (collation, currencies, time zones and so on), and of the locales themselves.
LOCALES = r"(root|pool|res_index|en|en_001|en_US|en_US_POSIX|supplementalData|tzdbNames|ucadata)\.(res|icu)"
# Data that belongs to no locale: normalization, host names, spoofing, character properties, and the tables of metadata.
TABLES = (
    r"(cnvalias|pnames|ucase|uprops|ubidi|uemoji|ulayout)\.icu|\w+\.(nrm|spp)|(currencyNumericCodes|dayPeriods|"
    r"genderList|grammaticalFeatures|icustd|icuver|keyTypeData|langInfo|likelySubtags|metaZones|metadata|numberingSystems|"
    r"pluralRanges|plurals|timezoneTypes|units|windowsZones|zoneinfo64)\.res"
)
KEPT = re.compile(rf"\w+/((coll|curr|lang|region|unit|zone)/{LOCALES}|{LOCALES}|{TABLES}|brkitr/(root\.res|(char|word)\.brk))")
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


def main():
    archive, target = Path(sys.argv[1]), Path(sys.argv[2])
    member = "icu_packaged_data.cpp.o"
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        subprocess.run(["ar", "x", archive, member], cwd=folder, check=True)
        symbols = subprocess.run(["nm", member], cwd=folder, check=True, capture_output=True, text=True).stdout
        symbol = re.search(r"\bicudt\w+_dat\b", symbols)[0]
        subprocess.run(["objcopy", "-O", "binary", "-j", ".rodata", member, "data"], cwd=folder, check=True)
        data = (folder / "data").read_bytes()
        chosen = [item for item in items(data) if KEPT.fullmatch(item[0])]
        (header,) = struct.unpack_from("<H", data)
        (folder / "small").write_bytes(package(data[:header], chosen))
        source = f'.section .rodata.{symbol},"a"\n.balign 16\n.globl __wrap_{symbol}\n__wrap_{symbol}:\n.incbin "small"\n'
        (folder / "small.s").write_text(source + '.section .note.GNU-stack,"",%progbits\n')
        subprocess.run(["as", "-o", target.absolute(), "small.s"], cwd=folder, check=True)
    print(f"-Xlinker --wrap={symbol} -Xlinker {target}")


if __name__ == "__main__":
    main()
