"""Licences by the names of SPDX: of a licence file's text, and of a Debian copyright file."""

import re

# The short names of Debian's copyright format that SPDX writes in another way, in lower case.
DEBIAN_NAMES = {
    "apache-2": "Apache-2.0",
    "apache-2.0": "Apache-2.0",
    "artistic": "Artistic-1.0-Perl",
    "bsd-2": "BSD-2-Clause",
    "bsd-2-clause": "BSD-2-Clause",
    "bsd-3-clause": "BSD-3-Clause",
    "bsd3": "BSD-3-Clause",
    "cc0": "CC0-1.0",
    "cc0-1.0": "CC0-1.0",
    "curl": "curl",
    "expat": "MIT",
    "ftl": "FTL",
    "gpl-2": "GPL-2.0-only",
    "gpl-2+": "GPL-2.0-or-later",
    "gpl-3": "GPL-3.0-only",
    "gpl-3+": "GPL-3.0-or-later",
    "gpl-3.0+": "GPL-3.0-or-later",
    "isc": "ISC",
    "lgpl-2+": "LGPL-2.0-or-later",
    "lgpl-2.0+": "LGPL-2.0-or-later",
    "lgpl-2.1": "LGPL-2.1-only",
    "lgpl-2.1+": "LGPL-2.1-or-later",
    "lgpl-3+": "LGPL-3.0-or-later",
    "libpng": "Libpng",
    "mit": "MIT",
    "mpl-1.1": "MPL-1.1",
    "mpl-2.0": "MPL-2.0",
    "zlib": "Zlib",
}


def of_text(text):
    """The licence of a LICENSE file; None if it is none of those that occur here."""
    words = " ".join(text.split())
    if "Apache License Version 2.0" in words:
        return "Apache-2.0 WITH Swift-exception" if "Runtime Library Exception" in words else "Apache-2.0"
    if "Permission is hereby granted, free of charge, to any person obtaining a copy" in words:
        return "MIT"
    return None


def of_debian_copyright(text):
    """What a copyright file says of a package's files as a whole, in Debian's words; None if it is prose.

    Single files may be under other licences: the file names them further on.
    """
    paragraphs = [fields(paragraph) for paragraph in re.split(r"\n[ \t]*\n", text)]
    if not paragraphs or "format" not in paragraphs[0]:
        return None
    of_files = [paragraph for paragraph in paragraphs if "files" in paragraph and paragraph.get("license")]
    of_all = [paragraph for paragraph in of_files if paragraph["files"].split() == ["*"]]
    chosen = (of_all or of_files or [p for p in paragraphs if p.get("license")])[:1]
    return chosen[0]["license"].splitlines()[0].strip() or None if chosen else None


def fields(paragraph):
    """The fields of a paragraph, their names in lower case."""
    found, name = {}, None
    for line in paragraph.splitlines():
        if line[:1] in " \t":
            if name:
                found[name] += "\n" + line.strip()
        elif ":" in line:
            name, value = line.split(":", 1)
            name = name.strip().lower()
            found[name] = value.strip()
    return found


def expression(debian):
    """The SPDX expression for Debian's words; None if a part of them has no name there."""
    parts = re.split(r"(?:,\s*)?\s+(and|or)\s+", debian, flags=re.IGNORECASE)
    names = [DEBIAN_NAMES.get(part.strip().lower()) for part in parts[::2]]
    operators = [part.upper() for part in parts[1::2]]
    # Which of two different operators comes first is not certain in Debian's words.
    if None in names or len(set(operators)) > 1:
        return None
    return f" {(operators or [''])[0]} ".join(names)
