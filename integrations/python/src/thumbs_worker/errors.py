"""The errors that end a whole run. A failure of one image is a result, never an exception."""

from __future__ import annotations

import re


def shown(text: object) -> str:
    """A text whose URLs have no login and no query: each may be a key."""
    return re.sub(r"(\w://)(?:[^\s/?#'\"]*@)?([^\s?#'\"]*)[?#]?[^\s'\"]*", r"\1\2", str(text))


class WorkerError(Exception):
    """What ends a run: the program is missing, was started wrongly, or keeps ending."""

    def __init__(self, message: object = "") -> None:
        super().__init__(shown(message))


class ProgramNotFound(WorkerError):
    """There is no `thumbs` to start. The message says where it was looked for and how to install it."""


class WorkerFailed(WorkerError):
    """`thumbs worker` ended and starting it again does not help.

    `status` is its exit status, negative for a signal; `errors` are the last lines that it wrote to standard error.
    """

    def __init__(self, message: str, status: int | None = None, errors: str = "") -> None:
        super().__init__(f"{message}: {errors}" if errors else message)
        self.status = status
        self.errors = shown(errors)

    def __reduce__(self) -> tuple[object, ...]:
        # Engines send exceptions between processes; the message is put together already.
        return (_restored, (self.args[0], self.status, self.errors))


def _restored(message: str, status: int | None, errors: str) -> WorkerFailed:
    """The same error in another process."""
    error = WorkerFailed(message, status)
    error.errors = errors
    return error
