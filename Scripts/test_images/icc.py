"""ICC display profiles made of three primaries and one tone curve, and pixels converted to them.

They are written from published chromaticities, so no vendor's profile is copied.
"""

import struct

import numpy as np

D50 = (0.9642, 1.0, 0.8249)
D65 = (0.3127, 0.3290)
SRGB = ((0.640, 0.330), (0.300, 0.600), (0.150, 0.060))
WIDE = ((0.640, 0.330), (0.210, 0.710), (0.150, 0.060))  # Adobe RGB (1998)'s primaries
P3 = ((0.680, 0.320), (0.265, 0.690), (0.150, 0.060))
WIDE_GAMMA = 563 / 256  # Adobe RGB (1998)'s: 2.19921875


def _xyz(x, y):
    return np.array([x / y, 1.0, (1 - x - y) / y])


def matrix(primaries):
    """Linear RGB of `primaries` and a D65 white to XYZ."""
    columns = np.stack([_xyz(*point) for point in primaries], axis=1)
    return columns * np.linalg.solve(columns, _xyz(*D65))


def adapted(primaries):
    """The same for D50, the profile connection space's white, by Bradford's method."""
    cone = np.array([[0.8951, 0.2664, -0.1614], [-0.7502, 1.7135, 0.0367], [0.0389, -0.0685, 1.0296]])
    scale = np.diag((cone @ np.array(D50)) / (cone @ _xyz(*D65)))
    return np.linalg.inv(cone) @ scale @ cone @ matrix(primaries)


def _fixed(values):
    return b"".join(struct.pack(">i", round(float(value) * 65536)) for value in values)


def profile(name, primaries, gamma=None):
    """A version 2 profile with a plain gamma, or a version 4 one with sRGB's curve."""
    fourth = gamma is None
    if fourth:
        text = name.encode("utf-16-be")
        description = b"mluc" + struct.pack(">IIIHHII", 0, 1, 12, 0x656E, 0x5553, len(text), 28) + text
        note = "No copyright".encode("utf-16-be")
        rights = b"mluc" + struct.pack(">IIIHHII", 0, 1, 12, 0x656E, 0x5553, len(note), 28) + note
        curve = b"para" + struct.pack(">IHH", 0, 3, 0) + _fixed((2.4, 1 / 1.055, 0.055 / 1.055, 1 / 12.92, 0.04045))
    else:
        text = name.encode() + b"\0"
        description = b"desc" + struct.pack(">II", 0, len(text)) + text + bytes(78)
        rights = b"text" + bytes(4) + b"No copyright\0"
        curve = b"curv" + struct.pack(">IIH", 0, 1, round(gamma * 256))
    columns = adapted(primaries)
    tags = [(b"desc", description), (b"cprt", rights), (b"wtpt", b"XYZ " + bytes(4) + _fixed(D50))]
    tags += [(b"%cXYZ" % letter, b"XYZ " + bytes(4) + _fixed(columns[:, index])) for index, letter in enumerate(b"rgb")]
    tags += [(b"%cTRC" % letter, curve) for letter in b"rgb"]

    table, body, seen = struct.pack(">I", len(tags)), b"", {}
    start = 128 + 4 + 12 * len(tags)
    for signature, data in tags:
        if data not in seen:
            body += bytes(-len(body) % 4)
            seen[data] = start + len(body)
            body += data
        table += signature + struct.pack(">II", seen[data], len(data))
    body += bytes(-len(body) % 4)
    size = 128 + len(table) + len(body)
    head = struct.pack(
        ">I4sI4s4s4s6H4s",
        size,
        bytes(4),
        0x04200000 if fourth else 0x02100000,
        b"mntr",
        b"RGB ",
        b"XYZ ",
        2020,
        1,
        1,
        0,
        0,
        0,
        b"acsp",
    )
    head += bytes(28) + _fixed(D50)
    return head + bytes(128 - len(head)) + table + body


def converted(pixels, primaries, gamma=None):
    """sRGB pixels (uint8) as pixels of another profile that show the same colours."""
    value = pixels.astype(np.float64) / 255
    linear = np.where(value <= 0.04045, value / 12.92, ((value + 0.055) / 1.055) ** 2.4)
    linear = np.clip(linear @ (np.linalg.inv(matrix(primaries)) @ matrix(SRGB)).T, 0, 1)
    if gamma is None:
        value = np.where(linear <= 0.0031308, linear * 12.92, 1.055 * linear ** (1 / 2.4) - 0.055)
    else:
        value = linear ** (1 / gamma)
    return (value * 255 + 0.5).astype(np.uint8)
