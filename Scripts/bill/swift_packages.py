"""The Swift packages that the program is built of, from the manifest, the pinned versions and the checkouts."""

import dataclasses
import json
import re
import urllib.parse

from . import spdx
from .tools import Failure, output


@dataclasses.dataclass
class SwiftPackage:
    name: str
    version: str
    revision: str
    url: str
    #: An SPDX expression.
    licence: str
    #: Whether `thumbs` contains it; else only a product of the library does, or nothing.
    is_linked: bool

    @property
    def purl(self):
        place = self.url.split("://", 1)[-1].removesuffix(".git")
        return f"pkg:swift/{urllib.parse.quote(place)}@{self.version}"


def linked(root):
    """All packages of Package.resolved, by name."""
    names = in_program(root)
    return sorted((package(root, pin, names) for pin in pins(root)), key=lambda package: package.name.lower())


def pins(root):
    try:
        return json.loads((root / "Package.resolved").read_text())["pins"]
    except OSError as error:
        raise Failure("there is no Package.resolved: build first") from error


def package(root, pin, names):
    name = pin["location"].rstrip("/").rsplit("/", 1)[-1].removesuffix(".git")
    # Scripts/install builds in a folder of its own.
    patterns = [f"{build}/checkouts/{name}/LICEN[CS]E*" for build in (".build", ".build/static")]
    files = [file for pattern in patterns for file in root.glob(pattern)]
    licences = [spdx.of_text(file.read_text()) for file in files[:1]]
    if not licences or licences[0] is None:
        raise Failure(f"no licence of {name} that is known here: build first, or add it to Scripts/bill/spdx.py")
    state = pin["state"]
    url = pin["location"].removesuffix(".git")
    return SwiftPackage(name, state["version"], state["revision"], url, licences[0], name.lower() in names)


def in_program(root):
    """The packages, in lower case, whose products the targets of `thumbs` use, and those that these use in turn."""
    manifests = {}

    def manifest(folder):
        if folder not in manifests:
            manifests[folder] = json.loads(output("swift", "package", "--package-path", folder, "dump-package"))
        return manifests[folder]

    found, seen, waiting = set(), set(), [(root, "thumbs")]
    while waiting:
        folder, name = waiting.pop()
        targets = {target["name"]: target for target in manifest(folder)["targets"]}
        if (folder, name) in seen or name not in targets:
            continue
        seen.add((folder, name))
        for dependency in targets[name]["dependencies"]:
            for kind, value in dependency.items():
                if kind != "product":
                    waiting.append((folder, value[0]))
                    continue
                found.add(value[1].lower())
                for other in checkouts(root, value[1]):
                    products = {product["name"]: product for product in manifest(other)["products"]}
                    waiting += [(other, target) for target in products.get(value[0], {"targets": []})["targets"]]
    return found


def checkouts(root, name):
    """The folder of a package, however its address spells the name."""
    folders = [root / build / "checkouts" for build in (".build", ".build/static")]
    paths = [path for folder in folders if folder.exists() for path in folder.iterdir()]
    return [path for path in paths if path.name.lower() == name.lower()][:1]


def compiler_version():
    """The compiler's version, whose own libraries are linked."""
    found = re.search(r"Swift version (\S+)", output("swift", "--version"))
    if not found:
        raise Failure("swift --version does not say its version")
    return found.group(1)
