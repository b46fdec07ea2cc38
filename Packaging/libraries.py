"""The system's libraries that a program is linked to, loads later, or has loaded by these, and their Debian packages."""

import pathlib
import re
import subprocess

# What libraries load by themselves while a picture is read, beside the library whose name begins so. The program's own
# list of it is LateLibraries.
PLUGINS = {
    "libvips.so": ["vips-modules-*/*.so"],
    "libMagickCore": [f"ImageMagick-*/modules-*/coders/{name}.so" for name in ("bmp", "dib", "icon", "jp2", "png")],
    "libgdk_pixbuf": ["gdk-pixbuf-2.0/*/loaders/libpixbufloader-gif.so"],
    "libc.so": [f"gconv/{name}.so" for name in ("CP1251", "CP1252", "ISO8859-2", "ISO8859-15")],
    "libheif.so": ["libheif/*.so", "libheif/plugins/*.so"],
}


class Failure(Exception):
    """Ends the script with this message."""


def output(*command, allowed=(0,)):
    """What a command prints; fails with its own message."""
    try:
        result = subprocess.run(command, capture_output=True, text=True, errors="replace")
    except OSError as error:
        raise Failure(f"{command[0]} cannot be started: {error.strerror}") from error
    if result.returncode not in allowed:
        raise Failure(f"{' '.join(map(str, command))}: {result.stderr.strip()}")
    return result.stdout


def files(root, program):
    """All libraries, by the name under which the loader or another library looks for them."""
    places = {}
    follow(program, places)
    for name in lazy_names(root):
        path = find(name)
        places[name] = path
        follow(path, places)
    for beginning, patterns in PLUGINS.items():
        for library in [path for name, path in places.items() if name.startswith(beginning)]:
            for path in sorted(file for pattern in patterns for file in library.parent.glob(pattern)):
                places[f"{path.parent.name}/{path.name}"] = path
                follow(path, places)
    return places


def lazy_names(root):
    """The libraries that CLazyLibraries loads."""
    folder = root / "Sources" / "CLazyLibraries"
    texts = [file.read_text() for file in sorted(folder.glob("*.c"))]
    return [name for text in texts for name in re.findall(r'LAZY_LIBRARY\(\w+, "(.+?)"\)', text)]


def find(name):
    for line in output("/sbin/ldconfig", "-p").splitlines():
        words = line.split()
        if words and words[0] == name:
            return pathlib.Path(words[-1])
    raise Failure(f"{name} is not installed")


def follow(file, places):
    """Adds all libraries that the loader takes with a file, by name."""
    for line in output("ldd", file).splitlines():
        words = line.split()
        if "=>" in words and words[-1].startswith("("):
            if words[2] == "not":
                raise Failure(f"{file} needs {words[0]}, which is not installed")
            places.setdefault(words[0], pathlib.Path(words[2]))
        elif words and words[0].startswith("/"):
            places.setdefault(pathlib.Path(words[0]).name, pathlib.Path(words[0]))


def needed(file):
    """The names that a file is linked to."""
    return re.findall(r"\(NEEDED\).*\[(.+)\]", output("readelf", "-d", file))


def owners(files):
    """The package of each file; None if it is of none."""
    # Packages from before the merge of /lib and /usr/lib are recorded under /lib.
    names = {file: [str(file.resolve()), str(file.resolve()).removeprefix("/usr")] for file in set(files)}
    found = output("dpkg-query", "-S", *sum(names.values(), []), allowed=(0, 1)).splitlines()
    recorded = {}
    for line in found:
        package, _, name = line.partition(": ")
        if not line.startswith("diversion "):
            recorded.setdefault(name, package.split(",")[0].split(":")[0])
    return {file: next((recorded[name] for name in names[file] if name in recorded), None) for file in names}
