#!/usr/bin/env python3
"""Tests of Scripts/thumbs, Scripts/install and Scripts/release: when they build, what they say. The compiler is a stand-in.
Of .ci/size, and of all shell scripts: that no pipe of theirs fails by chance."""

import glob
import os
import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

SCRIPTS = Path(__file__).resolve().parent.parent / "Scripts"
TOOLS = "bash cat chmod cksum cp cut date dirname env find grep mkdir mv readlink rm sed tail touch".split()

# Counts its calls and "links" programs that print their directory, arguments and standard input.
SWIFT = """#!/bin/sh
if [ "$1" = -print-target-info ]; then echo '"runtimeResourcePath": "/the toolchain/lib/swift"'; exit; fi
echo "swift $*"
echo "[1/2] Compiling"
printf '<%s>' "$@"
echo call >>"$PROJECT/.build/calls"
[ ! -e "$PROJECT/Sources/broken" ] || { echo "error: broken" >&2; exit 1; }
folder=$PROJECT/.build/release
[ "$4" != --scratch-path ] || folder=$5/release
mkdir -p "$folder"
printf '#!/bin/sh\\npwd; printf "<%%s>" "$@"; cat; exit 3\\n' >"$folder/thumbs"
cp "$folder/thumbs" "$folder/thumbs-decode"
chmod +x "$folder/thumbs" "$folder/thumbs-decode"
"""


class Project(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory(prefix="a path with spaces ")
        self.addCleanup(directory.cleanup)
        self.project = Path(directory.name) / "the project"
        self.elsewhere = Path(directory.name) / "elsewhere"
        self.tools = Path(directory.name) / "bin"
        for folder in [self.project / "Scripts", self.project / "Sources" / "A", self.project / ".build"]:
            folder.mkdir(parents=True)
        for folder in [self.elsewhere, self.tools]:
            folder.mkdir()
        for name in ["thumbs", "install", "lib.sh"]:
            shutil.copy(SCRIPTS / name, self.project / "Scripts" / name)
        for name in ["Package.swift", "Sources/A/One.swift", "Sources/A/Two.swift"]:
            (self.project / name).touch()
        for name in TOOLS:
            (self.tools / name).symlink_to(shutil.which(name))
        self.tool("swift", SWIFT)
        self.tool("pkg-config", "#!/bin/sh\n")
        self.tool("git", "#!/bin/sh\n")
        self.tool("python3", "#!/bin/sh\n")
        unicode = self.project / "Packaging" / "unicode.py"
        unicode.parent.mkdir()
        unicode.write_text('#!/bin/sh\nprintf "%s\\n" -Xlinker "$1" "$2"\n')
        unicode.chmod(0o755)

    def tool(self, name, text):
        (self.tools / name).write_text(text)
        (self.tools / name).chmod(0o755)

    def start(self, *arguments, program=None, **options):
        return subprocess.run(
            [program or self.project / "Scripts" / "thumbs", *arguments],
            cwd=self.elsewhere,
            env={"PATH": str(self.tools), "PROJECT": str(self.project), "HOME": str(self.elsewhere)},
            capture_output=True,
            text=True,
            timeout=60,
            **options,
        )

    def log(self, name="thumbs"):
        return (self.project / ".build" / f"{name}.log").read_text()

    def builds(self):
        calls = self.project / ".build" / "calls"
        return len(calls.read_text().split()) if calls.exists() else 0


class Thumbs(Project):
    def test_arguments_directory_input_and_status_are_passed_on(self):
        result = self.start("get", "a b", "", input="from stdin")
        self.assertEqual(result.stdout, f"{self.elsewhere}\n<get><a b><>from stdin")
        self.assertEqual(result.returncode, 3)

    def test_the_first_start_builds_and_says_so_on_standard_error(self):
        result = self.start(input="")
        self.assertRegex(result.stderr, r"\Athumbs: building, .*\n\Z")
        self.assertIn("swift build --package-path", self.log())
        self.assertNotIn("swift", result.stdout)

    def test_the_second_start_is_silent(self):
        self.start(input="")
        result = self.start(input="")
        self.assertEqual(result.stderr, "")
        self.assertEqual(self.builds(), 1)

    def test_it_runs_through_a_symbolic_link(self):
        link = self.elsewhere / "t"
        link.symlink_to(self.project / "Scripts" / "thumbs")
        self.assertEqual(self.start(program=link, input="").returncode, 3)

    def test_every_kind_of_change_leads_to_a_build(self):
        one, two = (self.project / "Sources" / "A" / name for name in ["One.swift", "Two.swift"])
        old = self.elsewhere / "Old.swift"
        old.touch()
        os.utime(old, (0, 0))
        changes = {
            "written": lambda: one.write_text("changed"),
            "restored with an old date": lambda: (one.write_text("as before"), os.utime(one, (0, 0))),
            "an old file moved in": lambda: old.rename(one.with_name("Old.swift")),
            "deleted": two.unlink,
            "manifest": (self.project / "Package.swift").touch,
            "versions": lambda: (self.project / "Package.resolved").write_text("1.0.1"),
            "program removed": (self.project / ".build" / "release" / "thumbs").unlink,
            "compiler": (self.tools / "swift").touch,
        }
        self.start(input="")
        for number, (name, change) in enumerate(changes.items()):
            change()
            self.start(input="")
            self.start(input="")
            self.assertEqual(self.builds(), number + 2, name)

    def test_a_stale_program_never_runs(self):
        self.start(input="")
        (self.project / "Sources" / "broken").touch()
        for _ in range(2):
            result = self.start(input="")
            self.assertEqual((result.returncode, result.stdout), (70, ""))
            self.assertIn("error: broken", result.stderr)
            self.assertNotIn("[1/2]", result.stderr)
            self.assertIn("thumbs: the build failed", result.stderr)
            self.assertTrue(result.stderr.endswith(f"all are in {self.project}/.build/thumbs.log\n"))

    def apt(self, text):
        """Packages are missing until apt-get, which is run by a shell, has installed them."""
        self.tool("pkg-config", '#!/bin/sh\n[ "$2" != vips ] || [ -e "${0%/*}/installed" ]\n')
        self.tool("apt-get", "#!/bin/sh\nexit 1\n")
        self.tool("apt-cache", "#!/bin/sh\n")
        self.tool("sudo", '#!/bin/sh\nshift; exec "$@"\n')
        self.tool("true", "#!/bin/sh\n")
        self.tool("sh", f"#!/bin/sh\necho a line of apt-get; echo another >&2; {text}\n")

    def test_each_stage_says_one_line(self):
        self.apt('[ "$4" = update ] || : >"${0%/*}/installed"')
        lines = self.start(input="").stderr.splitlines()
        self.assertEqual(lines[:2], ["thumbs: reading the package lists", "thumbs: installing libvips-dev"])
        self.assertEqual((len(lines), self.builds()), (3, 1))
        self.assertIn("a line of apt-get\nanother\n", self.log())

    def test_an_installation_that_fails_shows_its_messages_and_names_the_log(self):
        self.apt('[ "$4" = update ]')
        result = self.start(input="")
        self.assertEqual((result.returncode, self.builds()), (70, 0))
        self.assertIn("a line of apt-get", result.stderr)
        self.assertIn("apt-get could not install libvips-dev: ", result.stderr)
        self.assertTrue(result.stderr.endswith(f"all are in {self.project}/.build/thumbs.log\n"))

    def test_what_cannot_be_installed_is_named(self):
        self.tool("pkg-config", '#!/bin/sh\n[ "$2" != vips ]\n')
        result = self.start(input="")
        self.assertEqual((result.returncode, self.builds()), (70, 0))
        self.assertRegex(result.stderr, r"missing: libvips-dev.*; install .* as root: apt-get install libvips-dev")

    def test_without_swift_it_says_where_to_get_it(self):
        (self.tools / "swift").unlink()
        result = self.start(input="")
        self.assertEqual(result.returncode, 70)
        self.assertIn("swift.org/install", result.stderr)


class Install(Project):
    def install(self, *arguments):
        return self.start(*arguments, program=self.project / "Scripts" / "install")

    def test_the_program_is_linked_without_swifts_libraries_and_put_into_the_folder(self):
        folder = self.elsewhere / "a folder" / "bin"
        result = self.install(str(folder))
        self.assertEqual((result.returncode, result.stdout), (0, ""))
        self.assertIn("--static-swift-stdlib", self.log("install"))
        library, data = "/the toolchain/lib/swift_static/linux/lib_FoundationICU.a", self.project / ".build/static/unicode.o"
        self.assertIn(f"<-Xlinker><{library}><{data}>", self.log("install"))
        self.assertIn(f"installed {folder}/thumbs", result.stderr)
        self.assertIn("is not in PATH", result.stderr)
        # What others have built stays as it is.
        self.assertFalse((self.project / ".build" / "release").exists())
        self.assertEqual(sorted(file.name for file in folder.iterdir()), ["thumbs", "thumbs-decode"])
        run = self.start("get", program=folder / "thumbs", input="")
        self.assertEqual((run.returncode, run.stdout), (3, f"{self.elsewhere}\n<get>"))

    def test_a_program_that_is_there_gives_way_in_one_step(self):
        self.install(str(self.tools))
        with (self.tools / "thumbs").open() as earlier:
            result = self.install(str(self.tools))
            self.assertEqual(os.fstat(earlier.fileno()).st_nlink, 0)
        self.assertNotIn("is not in PATH", result.stderr)

    def test_without_a_folder_it_goes_where_programs_of_the_user_are(self):
        if os.geteuid() == 0:
            self.skipTest("root's folder is not touched")
        self.install()
        self.assertTrue((self.elsewhere / ".local" / "bin" / "thumbs").exists())

    def test_a_folder_that_cannot_be_made_is_named_before_the_build(self):
        (self.elsewhere / "file").touch()
        result = self.install(str(self.elsewhere / "file"))
        self.assertEqual((result.returncode, self.builds()), (70, 0))
        self.assertIn("file cannot be written to", result.stderr)

    def test_wrong_usage_builds_nothing(self):
        for arguments in [("a", "b"), ("--prefix",)]:
            result = self.install(*arguments)
            self.assertEqual((result.returncode, self.builds()), (64, 0))
            self.assertIn("usage: Scripts/install [FOLDER]", result.stderr)
        self.assertIn("FOLDER", self.install("--help").stdout)

    def test_a_failed_build_leaves_what_is_there(self):
        self.install(str(self.elsewhere))
        (self.project / "Sources" / "broken").touch()
        result = self.install(str(self.elsewhere))
        self.assertEqual(result.returncode, 70)
        self.assertIn("install: the build failed", result.stderr)
        self.assertTrue((self.elsewhere / "thumbs").exists())


class Release(Project):
    def setUp(self):
        super().setUp()
        shutil.copy(SCRIPTS / "release", self.project / "Scripts" / "release")
        settings = self.project / "Sources" / "Thumbnailer" / "Pipeline" / "ThumbnailPipeline+Configuration.swift"
        settings.parent.mkdir(parents=True)
        settings.write_text('  public static let version = "1.2.3"\n')
        (self.project / "CHANGELOG.md").write_text("## 1.2.3 (2026-01-02)\n")
        for name in ["cmp", "sort"]:
            (self.tools / name).symlink_to(shutil.which(name))
        # The next step after the folder is a clone, or the question who is root.
        self.tool("git", "#!/bin/sh\necho changed\n")

    def release(self, files):
        folder = self.elsewhere / "a folder"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        for name, text in files.items():
            (folder / name).write_text(text)
        result = self.start("1.2.3", str(folder), program=self.project / "Scripts" / "release")
        self.assertEqual((result.returncode, self.builds()), (70, 0))
        self.assertEqual(sorted(file.name for file in folder.iterdir()), sorted(files))
        return result.stderr

    def test_a_folder_with_files_of_others_is_refused(self):
        sums = f"{'0' * 64}  notes.md\n"
        for files in [{"letter": ""}, {"SHA256SUMS": sums, "notes.md": "", "letter": ""}, {"SHA256SUMS": sums}]:
            self.assertIn("has files that are of no earlier release", self.release(files), files)

    def test_an_empty_folder_and_an_earlier_release_are_taken(self):
        for files in [{}, {"SHA256SUMS": f"{'0' * 64}  notes.md\n", "notes.md": ""}]:
            self.assertNotIn("no earlier release", self.release(files), files)


class Size(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.project = Path(directory.name)
        self.git("init", "-q")
        self.git("commit", "-qm", "nothing", "--allow-empty")
        self.write(".ci/size", (SCRIPTS.parent / ".ci" / "size").read_text())
        (self.project / ".ci" / "size").chmod(0o755)
        self.write("Sources/A.swift", "/// Comment.\n\n@Option var size: Int\npublic let a = 1 // one\n" + "a()\n" * 198)
        self.write("Tests/ATests.swift", "a()\n" * 100)
        self.write("Scripts/a", '#!/usr/bin/env python3\n"""What it\ndoes."""\na = """\n1"""\n')
        self.write("Page/a.css", "/* One\ntwo */\na {}\n")
        self.write("docs/a.md", "one two  three\n")
        self.changes()
        self.assertEqual(self.size("--update").returncode, 0)

    def git(self, *arguments):
        subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@example.org", *arguments], cwd=self.project, check=True)

    def write(self, name, text):
        (self.project / name).parent.mkdir(exist_ok=True)
        (self.project / name).write_text(text)

    def changes(self, *lines):
        self.write("CHANGELOG.md", "# Changes\n\n## Unreleased\n\n" + "".join(f"- {line}\n" for line in lines))

    def size(self, *arguments):
        program = self.project / ".ci" / "size"
        return subprocess.run([program, *arguments], capture_output=True, text=True)

    def recorded(self):
        lines = (self.project / ".ci" / "size.tsv").read_text().splitlines()
        return {kind: int(figure) for figure, kind in (line.split("\t") for line in lines)}

    def test_lines_of_code_options_declarations_and_words_are_counted(self):
        recorded = self.recorded()
        self.assertEqual([recorded["Swift"], recorded["options"], recorded["public declarations"]], [200, 1, 1])
        self.assertEqual([recorded["Swift of tests"], recorded["page"], recorded["words of docs"]], [100, 1, 3])
        # The program that counts is a script as well.
        (self.project / "Scripts" / "a").unlink()
        self.size("--update")
        self.assertEqual(recorded["scripts"] - self.recorded()["scripts"], 2)

    def test_what_grows_by_more_than_one_per_cent_fails_and_moving_it_does_not_help(self):
        self.write("Sources/B.swift", "b()\n" * 2)
        self.assertEqual(self.size().returncode, 0)
        self.write("Sources/B.swift", "b()\n" * 3)
        self.assertIn("- Size: +3 Swift: …", self.size().stdout)
        (self.project / "Sources" / "B.swift").rename(self.project / "B.swift")
        self.assertEqual(self.size().returncode, 1)

    def test_a_line_of_the_changelog_raises_a_figure_if_it_says_what_for(self):
        self.write("Sources/B.swift", "b()\n" * 50)
        for line, status in [("+48 Swift: b.", 0), ("+40 Swift: b.", 1), ("+48 Swift:", 1), ("+48 C++: b.", 1)]:
            self.changes(f"Size: {line}")
            self.assertEqual(self.size().returncode, status, line)
            self.size("--update")
            self.assertEqual(self.recorded()["Swift"], 200)

    def test_figures_go_down_with_what_is_there_and_never_up(self):
        self.changes("Size: +50 Swift: b.")
        self.write("Sources/A.swift", "a()\n" * 100)
        self.assertIn("can be lowered", self.size().stdout)
        self.git("add", ".")
        self.git("commit", "-qm", "200")
        self.size("--update")
        self.assertEqual(self.recorded()["Swift"], 50)
        self.assertEqual(self.size().returncode, 0)
        self.git("commit", "-qam", "50")
        record = (self.project / ".ci" / "size.tsv").read_text()
        self.write(".ci/size.tsv", record.replace("50\tSwift\n", "200\tSwift\n"))
        self.assertIn("had 50 before", self.size().stdout)
        self.assertEqual(self.size().returncode, 1)


class Pipes(unittest.TestCase):
    # A reader that may leave before its writer has ended: the writer ends with SIGPIPE then, and under pipefail so does all.
    LEAVES = re.compile(r"(?<!\|)\|&?\s*(\\\n\s*)?(head|cmp|read|grep [^|\n]*(-\w*[qm]\w*|--quiet|--max-count)|sed [^|\n]*\dq)\b")

    def leaving(self, text):
        return [match[0] for match in self.LEAVES.finditer(text)]

    def test_readers_that_may_leave_are_recognised(self):
        for reader in ["head -n 1", "grep -q x", "grep -E -m1 x", "grep -aqi x", "cmp -n 3 - x", "sed 1q", "\\\n  head"]:
            self.assertTrue(self.leaving(f"writer | {reader}"), reader)
        for reader in ["grep x", "sed -n 1p", "tail -n 1", "wc -l", "header"]:
            self.assertFalse(self.leaving(f"writer | {reader}"), reader)
        self.assertFalse(self.leaving("writer || read -r line"))

    def test_no_reader_of_a_pipe_leaves_before_its_writer(self):
        scripts = 0
        for folder in [".ci", "Scripts", "Packaging", "Benchmarks"]:
            # Without files whose names begin with a dot: what is built or measured is not looked through.
            for file in map(Path, glob.glob(f"{SCRIPTS.parent / folder}/**/*", recursive=True)):
                if file.is_file() and (file.suffix == ".sh" or re.match(rb"#!.*sh\b", file.read_bytes())):
                    scripts += 1
                    self.assertEqual(self.leaving(file.read_text()), [], file)
        self.assertGreater(scripts, 20)


if __name__ == "__main__":
    unittest.main()
