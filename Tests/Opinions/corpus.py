"""Real pictures of a folder: nobody knows how they look but the programs that read them."""

import os
from pathlib import Path

from picture import Case

# What no other program here reads, or not as a still picture.
IGNORED = {".tsv", ".md", ".txt", ".json"}
# What libvips would show wrongly.
REFUSED = {"Bretagne2_4.j2k", "narrow.pbm"}


def cases(_):
    """The pictures in the folder that OPINIONS_CORPUS names; none without it."""
    folder = os.environ.get("OPINIONS_CORPUS")
    files = sorted(Path(folder).rglob("*")) if folder else []
    return [
        Case(path, None, 2, "is not supported" if path.name in REFUSED else "")
        for path in files if path.is_file() and path.suffix.lower() not in IGNORED
    ]
