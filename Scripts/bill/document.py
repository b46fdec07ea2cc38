"""The CycloneDX document."""

import datetime
import json
import os
import re
import urllib.parse
import uuid

from . import swift_packages
from .tools import Failure, output

# Swift's own libraries: the standard library, Foundation, Dispatch; and ICU within Foundation.
SWIFT_LICENCE = "Apache-2.0 WITH Swift-exception"


def cyclonedx(root, packages, libraries):
    """The document as text."""
    distribution = os_release()
    program = own_component(root)
    refs = {library.name: deb_purl(library, distribution) for library in libraries}
    runtime = swift_runtime()
    components = [swift_component(package) for package in packages] + [runtime]
    components += [library_component(library, refs[library.name]) for library in libraries]
    direct = [package.purl for package in packages if package.is_linked] + [runtime["bom-ref"]]
    direct += [refs[library.name] for library in libraries if library.is_direct]
    edges = {program["bom-ref"]: direct}
    edges |= {component["bom-ref"]: [] for component in components}
    for library in libraries:
        edges[refs[library.name]] = [refs[name] for name in library.needs]
    body = {
        "metadata": metadata(root, program),
        "components": components,
        "dependencies": [{"ref": ref, "dependsOn": sorted(needs)} for ref, needs in edges.items()],
    }
    serial = uuid.uuid5(uuid.NAMESPACE_URL, json.dumps(body, sort_keys=True))
    head = {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{serial}",
        "version": 1,
    }
    return json.dumps(head | body, indent=2, ensure_ascii=False) + "\n"


def metadata(root, program):
    described = {"component": program}
    seconds = os.environ.get("SOURCE_DATE_EPOCH") or output(
        "git", "-C", root, "log", "-1", "--format=%ct", allowed=(0, 128)
    )
    if seconds.strip():
        time = datetime.datetime.fromtimestamp(int(seconds), datetime.timezone.utc)
        described = {"timestamp": time.strftime("%Y-%m-%dT%H:%M:%SZ")} | described
    return described


def own_component(root):
    files = sorted((root / "Sources" / "Thumbnailer").rglob("*.swift"))
    versions = [found for file in files for found in re.findall(r'static let version = "(.+?)"', file.read_text())]
    if len(versions) != 1:
        raise Failure("the version of the library is not found in Sources/Thumbnailer")
    return {
        "type": "application",
        "bom-ref": f"thumbs@{versions[0]}",
        "name": "thumbs",
        "version": versions[0],
        "licenses": licences("MIT"),
    }


def swift_component(package):
    return {
        "type": "library",
        "bom-ref": package.purl,
        "name": package.name,
        "version": package.version,
        "scope": "required" if package.is_linked else "excluded",
        "licenses": licences(package.licence),
        "purl": package.purl,
        "pedigree": {"commits": [{"uid": package.revision, "url": package.url}]},
        "externalReferences": [{"type": "vcs", "url": package.url}],
    }


def swift_runtime():
    version = swift_packages.compiler_version()
    purl = f"pkg:github/swiftlang/swift@swift-{version}-RELEASE"
    return {
        "type": "library",
        "bom-ref": purl,
        "name": "swift",
        "version": version,
        "description": "Swift's standard library, Foundation (with ICU) and Dispatch, of the compiler",
        "scope": "required",
        "licenses": licences(SWIFT_LICENCE),
        "purl": purl,
    }


def library_component(library, purl):
    component = {
        "type": "library",
        "bom-ref": purl,
        "name": library.name,
        "version": library.version,
        "scope": "required",
        "purl": purl,
        "externalReferences": [{"type": "license", "url": f"file://{library.copyright_file}"}],
        "evidence": {"occurrences": [{"location": file} for file in sorted(library.files)]},
    }
    if library.licence:
        expression = library.expression
        component["licenses"] = licences(expression) if expression else [{"license": {"name": library.licence}}]
    return component


def licences(expression):
    if re.fullmatch(r"[A-Za-z0-9.+-]+", expression):
        return [{"license": {"id": expression}}]
    return [{"expression": expression}]


def os_release():
    with open("/etc/os-release", encoding="utf-8") as file:
        return dict(re.findall(r'^(\w+)="?(.*?)"?$', file.read(), re.MULTILINE))


def deb_purl(library, distribution):
    name, version = (urllib.parse.quote(text, safe=":") for text in (library.name, library.version))
    system = distribution["ID"]
    qualifiers = f"arch={library.architecture}&distro={system}-{distribution.get('VERSION_ID', 'unstable')}"
    return f"pkg:deb/{system}/{name}@{version}?{qualifiers}"
