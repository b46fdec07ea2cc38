"""A PNG writer for what image libraries do not write: every colour type, depth, interlace and error."""

import struct
import zlib

import numpy as np

SIGNATURE = b"\x89PNG\r\n\x1a\n"
GRAY, RGB, PALETTE, GRAY_ALPHA, RGBA = 0, 2, 3, 4, 6
CHANNELS = {GRAY: 1, RGB: 3, PALETTE: 1, GRAY_ALPHA: 2, RGBA: 4}
# Adam7's seven passes: first column, first row, step across, step down.
ADAM7 = ((0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2))


def chunk(kind, body=b"", checksum=None):
    if checksum is None:
        checksum = zlib.crc32(kind + body)
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", checksum)


def header(width, height, depth, kind, interlaced=False):
    return chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, depth, kind, 0, 0, int(interlaced)))


def rows(pixels, depth):
    """The unfiltered scan lines of `pixels`, each with its filter byte."""
    height, width = pixels.shape[:2]
    flat = pixels.reshape(height, -1)
    if depth == 16:
        packed = flat.astype(">u2").view(np.uint8).reshape(height, -1)
    elif depth == 8:
        packed = flat.astype(np.uint8)
    else:
        bits = np.unpackbits(flat.astype(np.uint8)[..., None], axis=2)[..., 8 - depth :]
        packed = np.packbits(bits.reshape(height, -1), axis=1)
    return np.hstack([np.zeros((height, 1), np.uint8), packed]).tobytes()


def encode(pixels, kind, depth=8, interlaced=False, palette=None, before=()):
    """`pixels` as a PNG of colour type `kind`; `before` are (name, body) chunks that precede the data."""
    height, width = pixels.shape[:2]
    if interlaced:
        passes = (pixels[y::dy, x::dx] for x, y, dx, dy in ADAM7)
        raw = b"".join(rows(part, depth) for part in passes if part.size)
    else:
        raw = rows(pixels, depth)
    parts = [SIGNATURE, header(width, height, depth, kind, interlaced)]
    parts += [chunk(name, body) for name, body in before if name != b"tRNS"]
    if palette is not None:
        parts.append(chunk(b"PLTE", bytes(palette)))
    parts += [chunk(name, body) for name, body in before if name == b"tRNS"]
    parts += [chunk(b"IDAT", zlib.compress(raw, 9)), chunk(b"IEND")]
    return b"".join(parts)


def profile_chunk(profile):
    return b"iCCP", b"profile\0\0" + zlib.compress(profile, 9)
