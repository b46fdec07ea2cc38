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

Foundation contains ICU, under the Unicode licence, and swift-nio contains llhttp, under the MIT licence.

## Libraries of the system

The program is linked to them or loads them when it needs them. The names are those of Debian's copyright files, for a
package as a whole; single files may be under others. This list was made on {system}.

| licence | packages |
|---|---|
"""
IN_PROSE = "in prose: `/usr/share/doc/PACKAGE/copyright`"


def licences(packages, libraries):
    lines = [HEAD]
    for package in packages:
        where = "" if package.is_linked else " (not in the program `thumbs`)"
        lines.append(f"| [{package.name}]({package.url}){where} | {package.licence} |\n")
    lines.append(LIBRARY_HEAD.format(system=os_release()["PRETTY_NAME"]))
    packages_by_licence = {}
    for library in libraries:
        licence = library.expression or library.licence or IN_PROSE
        packages_by_licence.setdefault(licence, []).append(library.name)
    for licence, names in sorted(packages_by_licence.items()):
        lines.append(f"| {licence} | {', '.join(names)} |\n")
    return "".join(lines)
