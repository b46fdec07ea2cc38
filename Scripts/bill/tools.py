"""What the parts of Scripts/sbom share."""

import subprocess


class Failure(Exception):
    """Ends the script with this message."""


def output(*command, allowed=(0,)):
    """What a command prints; fails with its own message."""
    try:
        result = subprocess.run(command, capture_output=True, text=True, errors="replace", env=None)
    except OSError as error:
        raise Failure(f"{command[0]} cannot be started: {error.strerror}") from error
    if result.returncode not in allowed:
        raise Failure(f"{' '.join(map(str, command))}: {result.stderr.strip()}")
    return result.stdout
