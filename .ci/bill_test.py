#!/usr/bin/env python3
"""Tests of Scripts/sbom on this project: needs a built `thumbs`, whose path THUMBS may name."""

import json
import os
import pathlib
import re
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "Scripts"))
from bill import spdx


def sbom(*arguments):
    program = ["--program", os.environ["THUMBS"]] if "THUMBS" in os.environ else []
    command = [ROOT / "Scripts" / "sbom", *program, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=300).stdout


class Bill(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.text = sbom()
        cls.bill = json.loads(cls.text)
        cls.components = {component["name"]: component for component in cls.bill["components"]}

    def test_it_is_a_cyclonedx_document_whose_references_are_sound(self):
        self.assertEqual((self.bill["bomFormat"], self.bill["specVersion"]), ("CycloneDX", "1.6"))
        self.assertRegex(self.bill["serialNumber"], r"^urn:uuid:[0-9a-f-]{36}$")
        self.assertRegex(self.bill["metadata"]["timestamp"], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$")
        refs = [component["bom-ref"] for component in self.bill["components"]]
        refs.append(self.bill["metadata"]["component"]["bom-ref"])
        self.assertEqual(len(refs), len(set(refs)))
        self.assertEqual(sorted(refs), sorted(edge["ref"] for edge in self.bill["dependencies"]))
        for edge in self.bill["dependencies"]:
            self.assertLessEqual(set(edge["dependsOn"]), set(refs) - {edge["ref"]})
            self.assertEqual(len(edge["dependsOn"]), len(set(edge["dependsOn"])))

    def test_every_pinned_package_has_its_version_and_licence(self):
        pins = json.loads((ROOT / "Package.resolved").read_text())["pins"]
        self.assertGreater(len(pins), 0)
        for pin in pins:
            component = self.components[pin["location"].removesuffix(".git").rsplit("/", 1)[-1]]
            self.assertEqual(component["version"], pin["state"]["version"])
            self.assertTrue(component["purl"].startswith("pkg:swift/github.com/"))
            self.assertEqual(len(component["licenses"]), 1)
        self.assertEqual(self.components["swift-log"]["scope"], "required")
        self.assertEqual(self.components["swift-system"]["scope"], "excluded")

    def test_linked_and_later_loaded_libraries_are_there_with_their_packages(self):
        places = {
            pathlib.Path(place["location"]).name.split(".so")[0]: component
            for component in self.bill["components"]
            for place in component.get("evidence", {}).get("occurrences", [])
        }
        for name in ["libjpeg", "libwebp", "libisal", "libsqlite3", "libvips", "libcurl", "libtiff", "libheif"]:
            component = places[name]
            self.assertTrue(component["purl"].startswith("pkg:deb/"), name)
            self.assertTrue(component["version"], name)
        root = self.bill["metadata"]["component"]["bom-ref"]
        direct = next(edge["dependsOn"] for edge in self.bill["dependencies"] if edge["ref"] == root)
        for name in ["libjpeg", "libvips", "libcurl"]:
            self.assertIn(places[name]["bom-ref"], direct)

    def test_it_is_the_same_every_time(self):
        self.assertEqual(sbom(), self.text)

    def test_the_page_of_licences_is_current_for_what_is_in_the_program(self):
        def in_program(page):
            return re.search(r"## In the program\n(.*?)\n## ", page, re.DOTALL).group(1)

        page = (ROOT / "docs" / "licences.md").read_text()
        self.assertEqual(in_program(page), in_program(sbom("--licences")), "Scripts/sbom --licences > docs/licences.md")


class Licences(unittest.TestCase):
    def test_that_of_all_files_counts(self):
        text = (
            "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\n\n"
            "Files: debian/*\nLicense: GPL-3+\n\n"
            "Files: *\nCopyright: 2001 A\n 2002 B\nLicense: LGPL-2.1+ or MPL-1.1\n Some text:\n more\n\n"
            "License: GPL-3+\n text\n"
        )
        self.assertEqual(spdx.of_debian_copyright(text), "LGPL-2.1+ or MPL-1.1")
        self.assertIsNone(spdx.of_debian_copyright("This package was debianized by A.\n\nLicense: MIT\n"))

    def test_debians_words_become_an_expression_only_where_all_are_known(self):
        self.assertEqual(spdx.expression("Expat"), "MIT")
        self.assertEqual(spdx.expression("LGPL-3+ or GPL-2+"), "LGPL-3.0-or-later OR GPL-2.0-or-later")
        self.assertEqual(spdx.expression("LGPL-2+, and CC0-1.0"), "LGPL-2.0-or-later AND CC0-1.0")
        for words in ["Hylafax", "Expat or Hylafax", "GPL-2+ or Expat and ISC"]:
            self.assertIsNone(spdx.expression(words))

    def test_texts_are_known_by_their_words(self):
        apache = "Apache License\n   Version 2.0, January 2004\n"
        self.assertEqual(spdx.of_text(apache), "Apache-2.0")
        self.assertEqual(spdx.of_text(apache + "Runtime Library Exception"), "Apache-2.0 WITH Swift-exception")
        self.assertIsNone(spdx.of_text("All rights reserved."))


if __name__ == "__main__":
    unittest.main()
