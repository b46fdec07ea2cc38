"""Runs of `thumbs` as a whole process."""

import json
import sys

from measuring.process import measure


def prefetch(binary, *arguments, urls=None):
    """One `thumbs prefetch --json`: its summary, and the run. Ends the script where it fails."""
    run = measure([binary, "prefetch", "--json", *arguments], text="\n".join(urls) if urls else "")
    if run.status != 0:
        sys.exit(f"thumbs ended with {run.status}: {run.errors[-2000:]}")
    return json.loads(run.output.splitlines()[-1])["summary"], run


def understands(binary, command, option):
    """Whether a command of this build has an option, such as "convert", "--output"."""
    text = measure([binary, "help", command]).output
    # For a command that it does not know, it prints the help of all.
    return f"USAGE: thumbs {command} " in text and option in text
