"""The programs the script runs, and what to install where one is missing."""

import importlib.util
import shutil
import subprocess
import sys

PROGRAMS = {
    "cjpeg": "libjpeg-turbo-progs",
    "jpegtran": "libjpeg-turbo-progs",
    "vips": "libvips-tools",
    "heif-enc": "libheif-examples",
    "avifenc": "libavif-bin",
}
MODULES = {"numpy": "python3-numpy", "PIL": "python3-pil"}


def require():
    """Ends the script with the packages to install unless everything it needs is there."""
    missing = {package for program, package in PROGRAMS.items() if shutil.which(program) is None}
    missing |= {package for module, package in MODULES.items() if importlib.util.find_spec(module) is None}
    if missing:
        names = " ".join(sorted(missing))
        sys.exit(f"make-test-images: something it needs is missing. On Debian and Ubuntu: sudo apt-get install {names}")


def run(*command, stdin=b""):
    """The standard output of `command`; its error text becomes the exception's."""
    done = subprocess.run([str(part) for part in command], input=stdin, capture_output=True)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(map(str, command))}: {done.stderr.decode(errors='replace').strip()}")
    return done.stdout
