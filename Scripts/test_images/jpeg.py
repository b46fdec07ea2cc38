"""JPEG files: written by libjpeg-turbo's cjpeg, then taken apart and put together by segments."""

import struct
import tempfile

import numpy as np

from . import tools

# One DC scan per component, as some encoders write; libjpeg's own script interleaves them.
SEPARATE_DC = """0: 0-0, 0, 1;
1: 0-0, 0, 1;
2: 0-0, 0, 1;
0: 1-5, 0, 2;
2: 1-63, 0, 1;
1: 1-63, 0, 1;
0: 6-63, 0, 2;
0: 1-63, 2, 1;
0: 0-0, 1, 0;
1: 0-0, 1, 0;
2: 0-0, 1, 0;
2: 1-63, 1, 0;
1: 1-63, 1, 0;
0: 1-63, 1, 0;
"""

# A sequential file with one scan per component.
NOT_INTERLEAVED = "0;\n1;\n2;\n"


def portable_map(pixels):
    """A PPM or PGM of uint8 pixels: what cjpeg reads."""
    height, width = pixels.shape[:2]
    kind = b"P6" if pixels.ndim == 3 else b"P5"
    return b"%s\n%d %d\n255\n" % (kind, width, height) + np.ascontiguousarray(pixels).tobytes()


def encode(pixels, quality=75, sampling="2x2", progressive=False, scans=None, options=()):
    """`pixels` as a JPEG. `sampling` is the luma's; `scans` the text of a scan script."""
    command = ["cjpeg", "-quality", quality, "-optimize", *options]
    if pixels.ndim == 3:
        command += ["-sample", sampling]
    if progressive and not scans:
        command.append("-progressive")
    return _with_scans(command, scans, portable_map(pixels))


def transform(data, *options, scans=None):
    """`data` with its coefficients stored in another way, by jpegtran."""
    return _with_scans(["jpegtran", "-copy", "all", *options], scans, data)


def _with_scans(command, scans, stdin):
    if scans is None:
        return tools.run(*command, stdin=stdin)
    with tempfile.NamedTemporaryFile("w", suffix=".scans") as script:
        script.write(scans)
        script.flush()
        return tools.run(*command, "-scans", script.name, stdin=stdin)


def segments(data):
    """Each marker segment of the header and of every later scan: (marker, offset, length with marker)."""
    position = 2
    while position < len(data) - 1:
        if data[position] != 0xFF or data[position + 1] in (0x00, 0xFF) or 0xD0 <= data[position + 1] <= 0xD7:
            position += 1
            continue
        marker = data[position + 1]
        if marker == 0xD9:
            return
        length = 2 + struct.unpack(">H", data[position + 2 : position + 4])[0]
        yield marker, position, length
        position += length


def insert(data, marker, payload):
    """`data` with one more application segment, after JFIF's if there is one."""
    at = 2
    if data[2:4] == b"\xff\xe0":
        at += 2 + struct.unpack(">H", data[4:6])[0]
    return data[:at] + bytes((0xFF, marker)) + struct.pack(">H", len(payload) + 2) + payload + data[at:]


def without(data, marker):
    """`data` without the segments of `marker`."""
    for found, offset, length in reversed(list(segments(data))):
        if found == marker:
            data = data[:offset] + data[offset + length :]
    return data


def exif(orientation=None, thumbnail=b"", big_endian=True):
    """An EXIF payload with an orientation, and with a second directory that holds a JPEG thumbnail."""
    order = ">" if big_endian else "<"
    entries = []
    if orientation is not None:
        entries.append(struct.pack(order + "HHIHH", 0x0112, 3, 1, orientation, 0))
    first = struct.pack(order + "H", len(entries)) + b"".join(entries)
    following = 8 + len(first) + 4
    body = (b"MM" if big_endian else b"II") + struct.pack(order + "HI", 42, 8) + first
    if not thumbnail:
        return b"Exif\0\0" + body + struct.pack(order + "I", 0)
    start = following + 2 + 3 * 12 + 4
    second = struct.pack(order + "H", 3)
    second += struct.pack(order + "HHIHH", 0x0103, 3, 1, 6, 0)
    second += struct.pack(order + "HHII", 0x0201, 4, 1, start)
    second += struct.pack(order + "HHII", 0x0202, 4, 1, len(thumbnail))
    return b"Exif\0\0" + body + struct.pack(order + "I", following) + second + struct.pack(order + "I", 0) + thumbnail


def with_exif(data, **fields):
    """`data` with EXIF instead of JFIF, as cameras write it."""
    return insert(without(data, 0xE0), 0xE1, exif(**fields))


def with_profile(data, profile):
    return insert(data, 0xE2, b"ICC_PROFILE\0\x01\x01" + profile)


def stored_for(pixels, orientation):
    """The pixels to store so that a reader who obeys `orientation` shows `pixels`."""
    return {
        1: lambda p: p,
        2: lambda p: p[:, ::-1],
        3: lambda p: p[::-1, ::-1],
        4: lambda p: p[::-1],
        5: lambda p: p.swapaxes(0, 1),
        6: lambda p: p.swapaxes(0, 1)[::-1],
        7: lambda p: p.swapaxes(0, 1)[::-1, ::-1],
        8: lambda p: p.swapaxes(0, 1)[:, ::-1],
    }[orientation](pixels)
