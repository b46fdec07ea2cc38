#!/usr/bin/env python3
"""Checks who may use whom among the folders of Sources/Thumbnailer.

The folders are rooms of one module, so the compiler lets any of them use any other. This reads the imports and the
names of types in every source file and reports each use that the tables below do not allow, as `file:line: what`.
Exit status 0: all in order; 1: violations.

A folder's types are those declared at the top level of its files, and those nested in an extension of another
folder's type, which are looked for as `Outer.Inner`. Free functions and members are not looked at.

Usage: layers.py [ROOT]      ROOT is the project's directory; by default the one this script belongs to.
"""

import re
import sys
from pathlib import Path

from swift_source import read_sources

LIBRARY = "Sources/Thumbnailer"
COMMAND = "Sources/thumbs"

# For each folder, the others whose types it may name. Support is everyone's vocabulary. Cache, Download and Codec
# never meet: Pipeline connects them.
FOLDERS = {
    "Support": [],
    "Concurrency": ["Support"],
    "Request": ["Support"],
    "Cache": ["Request", "Concurrency", "Support"],
    "Download": ["Request", "Concurrency", "Support"],
    "Codec": ["Request", "Concurrency", "Support"],
    "Pipeline": ["Cache", "Download", "Codec", "Request", "Concurrency", "Support"],
    "Prefetch": ["Pipeline", "Request", "Concurrency", "Support"],
    "Providers": ["Request", "Concurrency", "Support"],
    "Export": ["Codec", "Request", "Concurrency", "Support"],
    "Gallery": ["Prefetch", "Providers", "Export", "Pipeline", "Request", "Support"],
    "Batch": ["Export", "Pipeline", "Request", "Concurrency", "Support"],
}

# Modules with one home each. `thumbs` is the command.
MODULE_HOMES = {
    "CCurl": "Download",
    "CGLib": "Support",
    "CVips": "Codec",
    "CSandbox": "Codec",
    "GRDB": "Cache",
    "GRDBSQLite": "Cache",
    "ArgumentParser": "thumbs",
    "CMalloc": "thumbs",
    "Thumbnailer": "thumbs",
}

# Modules that every file may import. What stands neither here nor above may be imported nowhere.
COMMON_MODULES = {
    *["Swift", "Foundation", "FoundationEssentials", "Synchronization", "Dispatch", "Glibc", "Musl"],
    *["Logging", "Collections", "DequeModule", "HeapModule", "OrderedCollections"],
}

# A name that stands alone or behind the module's: `Variant`, `Thumbnailer.Variant`, but not `Foo.Variant`.
TYPE_NAME = re.compile(r"(?:(?<![\w.])|(?<=\bThumbnailer\.))[A-Z]\w*")


def unknown_folders(sources):
    for source in sources:
        if source.folder not in FOLDERS:
            place = f"the folder {source.folder}" if source.folder else "a place outside the folders"
            yield source, 1, f"{place} is not in the table of .ci/layers.py"


def forbidden_imports(sources, command=False):
    for source in sources:
        for line, module in source.imports():
            home = MODULE_HOMES.get(module)
            if module not in COMMON_MODULES and home != ("thumbs" if command else source.folder):
                allowed = f"only {home} may" if home else "no file may (see the tables of .ci/layers.py)"
                yield source, line, f"imports {module}: {allowed}"


def names_of_two_folders(sources):
    owners = {}
    for source in sources:
        for name in source.types:
            owners.setdefault(name, source)
    for source in sources:
        for name, line in {**source.types, **source.private_types}.items():
            owner = owners.get(name, source)
            if owner.folder != source.folder:
                yield source, line, f"declares {name}, as {owner.path} does: one name belongs to one folder"


def uses(source, owners, extension_owners, own_names):
    """Every name of a folder's type in a file: offset, name, folder."""
    for match in TYPE_NAME.finditer(source.code):
        if match[0] in owners and match[0] not in own_names:
            yield match.start(), match[0], owners[match[0]]
    for (outer, inner), folder in extension_owners.items():
        dotted = r"\s*\.\s*".join([*outer.split("."), inner])
        for match in re.finditer(rf"(?<![\w.]){dotted}\b", source.code):
            yield match.start(), f"{outer}.{inner}", folder


def forbidden_names(sources):
    owners = {name: source.folder for source in sources for name in source.types}
    extension_owners = {
        names: source.folder
        for source in sources
        for names in source.extension_types
        if owners.get(names[0].split(".")[0]) != source.folder
    }
    nested = {}
    for source in sources:
        nested.setdefault(source.folder, set()).update(source.nested_types)
    for source in sources:
        if source.folder not in FOLDERS:
            continue
        allowed = FOLDERS[source.folder]
        # A name that the folder declares within a type, or the file for itself, means that one.
        own_names = nested[source.folder] | source.private_types.keys()
        reported = set()
        for offset, name, folder in uses(source, owners, extension_owners, own_names):
            line = source.line(offset)
            if folder != source.folder and folder not in allowed and (line, name) not in reported:
                reported.add((line, name))
                may = f"only {', '.join(allowed)}" if allowed else "no other folder"
                yield source, line, f"names {name} of {folder}: {source.folder} may use {may}"


def problems(root):
    """All violations below `root` as lines to print, by file and line."""
    library, command = read_sources(root, LIBRARY), read_sources(root, COMMAND)
    found = [
        *unknown_folders(library),
        *forbidden_imports(library),
        *forbidden_imports(command, command=True),
        *names_of_two_folders(library),
        *forbidden_names(library),
    ]
    found.sort(key=lambda problem: (problem[0].path, problem[1]))
    return [f"{source.path}:{line}: {text}" for source, line, text in found]


def main(arguments):
    root = Path(arguments[0]) if arguments else Path(__file__).resolve().parent.parent
    if not (root / LIBRARY).is_dir():
        print(f"{root / LIBRARY} is not a directory", file=sys.stderr)
        return 1
    found = problems(root)
    print(*found, sep="\n", end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
