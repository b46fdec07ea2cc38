#!/usr/bin/env python3
"""Tests of layers.py: each makes a small tree of sources and looks at what is reported."""

import tempfile
import unittest
from pathlib import Path

import layers
from swift_source import Blanker


def report(**files):
    """What layers.py says of these files; `Cache_A` stands for Sources/Thumbnailer/Cache/A.swift."""
    with tempfile.TemporaryDirectory() as directory:
        root = Path(directory)
        (root / layers.LIBRARY).mkdir(parents=True)
        for name, text in files.items():
            folder, _, stem = name.rpartition("_")
            target = Path("Sources") if folder == "thumbs" else Path(layers.LIBRARY)
            path = root / target / folder / f"{stem}.swift"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        return [line.replace(layers.LIBRARY + "/", "") for line in layers.problems(root)]


class Imports(unittest.TestCase):
    def test_a_module_stands_in_its_home_only(self):
        self.assertEqual(report(Download_A="import CCurl\n", Codec_B="import CVips\n", Cache_C="import GRDB\n"), [])
        self.assertEqual(
            report(Cache_A="import Foundation\nimport CCurl\n", Pipeline_B="internal import GRDB\n"),
            [
                "Cache/A.swift:2: imports CCurl: only Download may",
                "Pipeline/B.swift:1: imports GRDB: only Cache may",
            ],
        )

    def test_attributes_kinds_and_submodules_do_not_hide_an_import(self):
        for line in [
            "@preconcurrency import CVips",
            "@_spi(Deep) public import CVips",
            "import func CVips.vips_init",
            "import CVips.Deep",
            "import Foundation; import CVips",
        ]:
            self.assertEqual(len(report(Cache_A=line)), 1, line)

    def test_modules_outside_the_tables_are_refused(self):
        self.assertIn("no file may", report(Support_A="import FoundationNetworking\n")[0])

    def test_the_command_parses_arguments_and_the_library_does_not(self):
        self.assertEqual(report(thumbs_A="import ArgumentParser\nimport Thumbnailer\n"), [])
        self.assertEqual(report(thumbs_A="import CVips\n"), ["Sources/thumbs/A.swift:1: imports CVips: only Codec may"])
        self.assertEqual(
            report(Request_A="import ArgumentParser\n"), ["Request/A.swift:1: imports ArgumentParser: only thumbs may"]
        )


class Names(unittest.TestCase):
    def test_siblings_never_name_each_other(self):
        self.assertEqual(
            report(
                Cache_A="struct Row {}\n",
                Download_B="final class Transfer {\n  var row: [Row]\n}\n",
                Codec_C="func decode(_ transfer: Transfer) {}\n",
            ),
            [
                "Codec/C.swift:1: names Transfer of Download: Codec may use only Request, Concurrency, Support",
                "Download/B.swift:2: names Row of Cache: Download may use only Request, Concurrency, Support",
            ],
        )

    def test_what_the_table_allows_passes(self):
        self.assertEqual(
            report(
                Support_S="protocol Client {}\n",
                Cache_A="struct Row { var client: any Client }\n",
                Pipeline_P="actor Jobs { var row: Row? }\n",
                Gallery_G="struct Paging { var jobs: Jobs; let client: Client }\n",
            ),
            [],
        )

    def test_lower_folders_never_name_upper_ones(self):
        self.assertEqual(
            report(Pipeline_P="actor Jobs {}\n", Support_S="typealias J = Jobs\n"),
            ["Support/S.swift:1: names Jobs of Pipeline: Support may use no other folder"],
        )

    def test_every_kind_of_declaration_counts(self):
        for kind in ["struct", "public final class", "enum", "actor", "protocol", "@frozen public indirect enum"]:
            self.assertEqual(len(report(Cache_A=kind + " Row<T>: X {}\n", Codec_B="let row: Row")), 1, kind)
        self.assertEqual(len(report(Cache_A="typealias Row = Int\n", Codec_B="let row: Row")), 1)
        self.assertEqual(len(report(Cache_A="extension Int {}\nstruct Row {}\n", Codec_B="let row: Row")), 1)

    def test_subfolders_belong_to_their_folder(self):
        found = report(**{"Codec/JPEG_A": "struct Scan {}\n", "Codec_B": "let a: Scan", "Cache_C": "let a: Scan"})
        self.assertEqual([line.split(":")[0] for line in found], ["Cache/C.swift"])

    def test_members_of_other_types_are_other_names(self):
        self.assertEqual(report(Cache_A="struct Row {}\n", Codec_B="let a: Table.Row; let b = x.Row"), [])
        self.assertEqual(len(report(Cache_A="struct Row {}\n", Codec_B="let a: Thumbnailer.Row")), 1)
        self.assertEqual(report(Cache_A="struct Row {}\n", Codec_B="let RowCount = 1; let aRow = 2"), [])

    def test_a_type_of_the_folder_or_private_to_the_file_hides_the_others(self):
        self.assertEqual(report(Cache_A="struct Row {}\n", Codec_B="enum Plan { struct Row {}; var row: Row }\n"), [])
        self.assertEqual(report(Cache_A="private struct Row {}\n", Codec_B="struct Row {}\nvar row: Row\n")[1:], [])

    def test_types_nested_in_another_folders_type_belong_to_the_extension(self):
        files = dict(
            Request_R="struct Request {}\n",
            Pipeline_P="extension Request {\n  struct Handle {}\n}\nextension URL { enum Kind {} }\n",
        )
        self.assertEqual(report(**files), [])
        self.assertEqual(
            report(**files, Cache_C="let handle: Request.Handle\nlet kind: URL\n  .Kind"),
            [
                "Cache/C.swift:1: names Request.Handle of Pipeline: Cache may use only Request, Concurrency, Support",
                "Cache/C.swift:2: names URL.Kind of Pipeline: Cache may use only Request, Concurrency, Support",
            ],
        )

    def test_class_members_declare_no_type(self):
        self.assertEqual(report(Cache_A="class A { class func make() {} }\n", Codec_B="let make = func_()\n"), [])


class Places(unittest.TestCase):
    def test_one_name_belongs_to_one_folder(self):
        self.assertEqual(
            report(Cache_A="struct Limits {}\n", Codec_B="\nprivate enum Limits {}\n"),
            [
                "Codec/B.swift:2: declares Limits, as Cache/A.swift does: one name belongs to one folder",
            ],
        )
        self.assertEqual(report(Cache_A="private enum Key {}\n", Codec_B="fileprivate enum Key {}\n"), [])

    def test_every_file_stands_in_a_known_folder(self):
        found = report(Helpers_A="", _Loose="")
        self.assertEqual(len(found), 2)
        self.assertIn("the folder Helpers is not in the table", found[0])


class Code(unittest.TestCase):
    def check(self, text, expected):
        code = "".join(Blanker(text).code)
        self.assertEqual(code.count("\n"), text.count("\n"))
        self.assertEqual(len(code), len(text))
        self.assertEqual(code.split(), expected.split())

    def test_comments(self):
        self.check("a // Row\nb /* Row /* Row */ Row */ c /// Row", "a b c")
        self.check("/* unfinished Row", "")

    def test_strings(self):
        self.check(r'a("Row \" Row", "//", b) /* " */ c', "a( , , b) c")
        self.check('a("""\n Row " Row\n """) b', "a( ) b")
        self.check(r'a(#"Row " \(Row) \"#) b', "a( ) b")
        self.check('"unfinished Row\nb', "b")

    def test_interpolations_are_code(self):
        self.check(r'"Row \(f(Row, "Row \(g)")) Row" h', "(f(Row, (g) )) h")
        self.check(r'#"Row \(no) \#(Row) "# h', "(Row) h")

    def test_regular_expressions(self):
        self.check('let a = /Row"[/"]/ ; b', "let a = ; b")
        self.check('let a = #/Row" / "/# ; b', "let a = ; b")
        self.check('let a = b / c; let d = "Row" / e', "let a = b / c; let d = / e")
        self.check('let half = (width + 1) / 2 // "', "let half = (width + 1) / 2")


if __name__ == "__main__":
    unittest.main()
