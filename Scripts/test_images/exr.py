"""OpenEXR, the simplest kind: whole rows of half floats, not compressed."""

import struct

import numpy as np


def encode(linear):
    """`linear` is an array of red, green and blue, 1.0 for white, without a transfer curve."""
    height, width, _ = linear.shape
    box = struct.pack("<iiii", 0, 0, width - 1, height - 1)
    # Channels come in the order of their names, each with type 1 (half) and every pixel.
    channels = b"".join(name + b"\0" + struct.pack("<iBxxxii", 1, 0, 1, 1) for name in (b"B", b"G", b"R")) + b"\0"
    attributes = [
        (b"channels", b"chlist", channels),
        (b"compression", b"compression", b"\0"),
        (b"dataWindow", b"box2i", box),
        (b"displayWindow", b"box2i", box),
        (b"lineOrder", b"lineOrder", b"\0"),
        (b"pixelAspectRatio", b"float", struct.pack("<f", 1)),
        (b"screenWindowCenter", b"v2f", struct.pack("<ff", 0, 0)),
        (b"screenWindowWidth", b"float", struct.pack("<f", 1)),
    ]
    header = struct.pack("<ii", 20000630, 2)
    for name, kind, value in attributes:
        header += name + b"\0" + kind + b"\0" + struct.pack("<i", len(value)) + value
    header += b"\0"
    rows = []
    for y in range(height):
        data = b"".join(linear[y, :, channel].astype("<f2").tobytes() for channel in (2, 1, 0))
        rows.append(struct.pack("<ii", y, len(data)) + data)
    offset = len(header) + 8 * height
    table = b"".join(struct.pack("<Q", offset + y * len(rows[0])) for y in range(height))
    return header + table + b"".join(rows)


def linear(picture):
    """sRGB pixels of 8 bits as light."""
    value = picture.astype(np.float64) / 255
    return np.where(value <= 0.04045, value / 12.92, ((value + 0.055) / 1.055) ** 2.4)
