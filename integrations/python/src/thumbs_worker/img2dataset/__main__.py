"""`python -m thumbs_worker.img2dataset`, or `thumbs-img2dataset`: img2dataset's command line on a worker."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import fields

from thumbs_worker.errors import WorkerError, WorkerFailed, shown

_USAGE = """usage: thumbs-img2dataset --url_list FILE [--output_folder FOLDER] [--OPTION VALUE …]
       thumbs-img2dataset --only_failed --output_folder FOLDER [--OPTION VALUE …]
       thumbs-img2dataset verify FOLDER

The options of img2dataset 1.47, with its defaults; whole_files, robots, only_failed, until; those of thumbs worker:
"""


def main(words: Sequence[str] | None = None) -> int:
    """Runs the command; returns its exit status: 64 for wrong options, 69 where the worker cannot be run."""
    words = sys.argv[1:] if words is None else words
    try:
        from thumbs_worker.img2dataset.run import download
        from thumbs_worker.img2dataset.settings import WORKERS, SettingError, Settings, parse
    except ModuleNotFoundError as error:
        print(f"{error.name} is missing: pip install 'thumbs-worker[img2dataset]'", file=sys.stderr)
        return 69
    if not words or "--help" in words or "-h" in words:
        names = [each.name for each in fields(Settings)]
        print(_USAGE + "".join(f"  --{name}\n" for name in [*names, *sorted(WORKERS)]), end="")
        return 0 if words else 64
    try:
        if len(words) == 2 and words[0] == "verify":
            return _verify(words[1])
        download(**parse(words))
    except SettingError as error:
        print(error, file=sys.stderr)
        return 64
    except OSError as error:
        print(f"the output cannot be written, or the list not read: {shown(error)}", file=sys.stderr)
        return 73
    except ValueError as error:
        print(shown(error), file=sys.stderr)
        return 64
    except WorkerError as error:
        print(error, file=sys.stderr)
        return 64 if isinstance(error, WorkerFailed) and error.status == 64 else 69
    except KeyboardInterrupt:
        return 130
    return 0


def _verify(address: str) -> int:
    """Reads the shards of an output again; 1 if they are not those that were written."""
    from thumbs_worker.img2dataset.storage import Output

    output = Output(address)
    try:
        problems = output.verify()
    except OSError as error:
        print(shown(f"{address} cannot be read: {error}"), file=sys.stderr)
        return 73
    finally:
        output.leave()
    for problem in problems:
        print(problem, file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
