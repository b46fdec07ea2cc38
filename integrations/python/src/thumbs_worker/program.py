"""Finds the program `thumbs`."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

from thumbs_worker.errors import ProgramNotFound

# Names the program before all other places.
VARIABLE = "THUMBS"
# The program that the wheel brings. A package that was installed from its source has none.
_OWN = Path(__file__).parent / "program" / "thumbs"
_BUILD = Path(".build/release/thumbs")


def find_program(program: str | os.PathLike[str] | None = None) -> str:
    """The path of `thumbs`: the argument, else `$THUMBS`, else the wheel's own, else in `PATH`, else
    `./.build/release/thumbs`.

    What is named by the argument or the variable is not replaced by another one when it is missing.
    """
    named = program if program is not None else os.environ.get(VARIABLE)
    if named:
        found = shutil.which(os.fspath(named))
        if found:
            return os.path.abspath(found)
        source = "the program given" if program is not None else f"${VARIABLE}"
        raise ProgramNotFound(f"{source}, {os.fspath(named)}, is no program that can be started on this machine")
    if _OWN.exists():
        return str(_OWN)
    found = shutil.which("thumbs")
    if found:
        return os.path.abspath(found)
    if os.access(_BUILD, os.X_OK):
        return str(_BUILD.resolve())
    raise ProgramNotFound(
        "thumbs is not installed on this machine: install the wheel that has the program, or run Scripts/install in "
        f"Thumbnailer's folder, or name it in the environment variable {VARIABLE}. On a cluster it has to be on each "
        f"machine (looked for in ${VARIABLE}, PATH and {_BUILD})"
    )


def main() -> str:
    """Becomes `thumbs` with the arguments of this process. Returns only an error, for `sys.exit`."""
    try:
        program = find_program()
        # A variable that says `thumbs` can mean this command, which would start itself for ever.
        if os.path.exists(sys.argv[0]) and os.path.samefile(program, sys.argv[0]):
            program = str(_OWN)
        os.execv(program, ["thumbs", *sys.argv[1:]])
    except (ProgramNotFound, OSError) as error:
        return f"thumbs: {error}"
