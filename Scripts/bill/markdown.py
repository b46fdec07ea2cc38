"""The list of licences, docs/licences.md."""

from .document import os_release

HEAD = """# Licences

Thumbnailer itself is under the [MIT licence](../LICENSE); no file of `Sources` names another. `Scripts/sbom --licences`
writes this page, and `Scripts/sbom` the versions with it, as a CycloneDX document.

## In the program

| package | licence |
|---|---|
"""

LIBRARY_HEAD = """| Swift's standard library, Foundation, Dispatch | Apache-2.0 WITH Swift-exception |

Foundation contains ICU, under the Unicode licence.

## Libraries of the system

They are not part of the program: it is linked to them, or loads them when it needs them, and the system's packages
bring them and their licences. The names are those of Debian's copyright files, for a package as a whole; single files
may be under others. The machine that this list was made on has {system}.

| package | licence |
|---|---|
"""


def licences(packages, libraries):
    lines = [HEAD]
    for package in packages:
        where = "" if package.is_linked else " (not in the program `thumbs`)"
        lines.append(f"| [{package.name}]({package.url}){where} | {package.licence} |\n")
    lines.append(LIBRARY_HEAD.format(system=os_release()["PRETTY_NAME"]))
    for library in libraries:
        licence = library.expression or library.licence or f"in prose: `{library.copyright_file}`"
        lines.append(f"| {library.name} | {licence} |\n")
    return "".join(lines)
