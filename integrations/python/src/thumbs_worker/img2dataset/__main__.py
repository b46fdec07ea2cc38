"""`python -m thumbs_worker.img2dataset`, or `thumbs-img2dataset`: img2dataset's command line on a worker."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import fields

from thumbs_worker.errors import WorkerError

_USAGE = """usage: thumbs-img2dataset --url_list FILE [--output_folder FOLDER] [--OPTION VALUE …]

The options of img2dataset 1.47, with its defaults:
"""


def main(words: Sequence[str] | None = None) -> int:
    """Runs the command; returns its exit status: 64 for wrong options, 69 where the worker cannot be run."""
    words = sys.argv[1:] if words is None else words
    try:
        from thumbs_worker.img2dataset.run import download
        from thumbs_worker.img2dataset.settings import SettingError, Settings, parse
    except ModuleNotFoundError as error:
        print(f"{error.name} is missing: pip install 'thumbs-worker[img2dataset]'", file=sys.stderr)
        return 69
    if not words or "--help" in words or "-h" in words:
        print(_USAGE + "".join(f"  --{each.name}\n" for each in fields(Settings)), end="")
        return 0 if words else 64
    try:
        download(**parse(words))
    except SettingError as error:
        print(error, file=sys.stderr)
        return 64
    except OSError as error:
        print(f"the output cannot be written, or the list not read: {error}", file=sys.stderr)
        return 73
    except WorkerError as error:
        print(error, file=sys.stderr)
        return 69
    except KeyboardInterrupt:
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
