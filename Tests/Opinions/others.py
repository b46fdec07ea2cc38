"""PNG, APNG, GIF, portable maps and icons."""

import io
import struct
import zlib

import numpy as np
from PIL import Image

from picture import SIZE, Case, alpha, colours, gray, on_white, shown


def cases(folder):
    return [*pngs(folder), *animated(folder), *gifs(folder), *maps(folder), *icons(folder)]


# MARK: PNG

PASSES = ((0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2))


def chunk(kind, content):
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))


def png(samples, colour, depth, interlaced, before=b"", after=b""):
    """A PNG of an array of rows, columns and samples, without filters."""
    height, width = samples.shape[:2]
    passes = PASSES if interlaced else ((0, 0, 1, 1),)
    rows = bytearray()
    for left, top, across, down in passes:
        for row in samples[top::down, left::across]:
            if row.size == 0:
                continue
            if depth < 8:
                bits = np.unpackbits(row.reshape(-1, 1).astype(np.uint8), axis=1)[:, 8 - depth :]
                data = np.packbits(bits.reshape(-1)).tobytes()
            else:
                data = row.astype(">u2" if depth == 16 else "u1").tobytes()
            rows += b"\0" + data
    header = struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, int(interlaced))
    pixels = chunk(b"IDAT", zlib.compress(bytes(rows)))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + before + pixels + after + chunk(b"IEND", b"")


def pngs(folder):
    indexed = Image.fromarray(colours()).quantize(200)
    entries = np.array(indexed.getpalette()[: 200 * 3], dtype=np.uint8)
    kinds = {
        "g": (gray()[:, :, None], 0, 8, shown(gray()), b""),
        "g16": (gray()[:, :, None].astype(int) * 257, 0, 16, shown(gray()), b""),
        "rgb": (colours(), 2, 8, shown(colours()), b""),
        "rgb16": (colours().astype(int) * 257, 2, 16, shown(colours()), b""),
        "ga": (np.dstack([gray(), alpha()]), 4, 8, shown(gray(), alpha()), b""),
        "rgba": (np.dstack([colours(), alpha()]), 6, 8, shown(colours(), alpha()), b""),
        "palette": (
            np.asarray(indexed)[:, :, None], 3, 8, shown(entries.reshape(-1, 3)[np.asarray(indexed)]),
            chunk(b"PLTE", entries.tobytes()),
        ),
    }
    for depth in (1, 2, 4):
        levels = gray() >> (8 - depth)
        kinds[f"g{depth}"] = (levels[:, :, None], 0, depth, shown(levels / ((1 << depth) - 1) * 255), b"")
    found = []
    for name, (samples, colour, depth, expected, before) in kinds.items():
        for width, height in (SIZE, (1, 1), (2, 3), (5, 1), (1, 9), (8, 8), (9, 5)):
            path = folder / f"png-interlaced-{name}-{width}x{height}.png"
            path.write_bytes(png(samples[:height, :width], colour, depth, True, before))
            found.append(Case(path, expected[:height, :width]))
    turned = b"MM\0*\0\0\0\x08\0\1\x01\x12\0\3\0\0\0\1\0\6\0\0\0\0\0\0"
    for name, before, after in (("early", chunk(b"eXIf", turned), b""), ("late", b"", chunk(b"eXIf", turned))):
        path = folder / f"png-exif-{name}.png"
        path.write_bytes(png(colours(), 2, 8, False, before, after))
        found.append(Case(path, np.rot90(shown(colours()), -1)))
    return found


def animated(folder):
    found = []
    for count in (0, 1, 3, 2**31, 2**32 - 1):
        path = folder / f"png-frames-{count}.png"
        path.write_bytes(png(colours(), 2, 8, False, chunk(b"acTL", struct.pack(">II", count, 0))))
        found.append(Case(path, shown(colours())))
    return found


# MARK: GIF


def gifs(folder):
    found = []
    width, height = SIZE
    for name, (left, top, across, down), interlaced in (
        ("whole", (0, 0, *SIZE), False),
        ("beside", (40, 20, 60, 50), False),
        ("beside-interlaced", (40, 20, 60, 50), True),
    ):
        part = Image.fromarray(colours()).resize((across, down)).quantize(128)
        stream = io.BytesIO()
        part.save(stream, "GIF", interlace=int(interlaced))
        data = bytearray(stream.getvalue())
        at = data.index(b"\x2c" + struct.pack("<HHHH", 0, 0, across, down))
        data[6:10] = struct.pack("<HH", width, height)
        data[at + 1 : at + 5] = struct.pack("<HH", left, top)
        path = folder / f"gif-{name}.gif"
        path.write_bytes(data)
        expected = np.full((height, width, 3), 255.0)
        expected[top : top + down, left : left + across] = np.asarray(part.convert("RGB"))
        found.append(Case(path, expected))
    return found


# MARK: Portable maps


def maps(folder):
    width, height = SIZE
    bits = (gray() < 128).astype(int)
    rows = colours().reshape(height, -1)
    linear = colours() / 255.0
    linear = np.where(linear <= 0.04045, linear / 12.92, ((linear + 0.055) / 1.055) ** 2.4)[::-1]

    def text(kind, most, samples, between=" "):
        lines = "\n".join(between.join(str(sample) for sample in row) for row in samples)
        return f"P{kind}\n# a comment\n{width} {height}{most}\n{lines}\n".encode()

    def binary(kind, most, samples):
        return f"P{kind} # a comment\n{width} {height}{most}\n".encode() + samples.tobytes()

    thousand = colours().astype(int) * 1000 // 255
    files = {
        "bits-text.pbm": (text(1, "", bits), None),
        "gray-text.pgm": (text(2, " 255", gray()), None),
        "rgb-text.ppm": (text(3, " 255", rows), None),
        "bits.pbm": (binary(4, "", np.packbits(bits.astype(np.uint8), axis=1)), None),
        "gray.pgm": (binary(5, " 255", gray()), shown(gray())),
        "gray-16.pgm": (binary(5, " 65535", (gray().astype(int) * 257).astype(">u2")), shown(gray())),
        "rgb.ppm": (binary(6, " 255", colours()), shown(colours())),
        "rgb-1000.ppm": (binary(6, " 1000", thousand.astype(">u2")), None),
        "float.pfm": (binary("F", "\n-1.0", linear.astype("<f4")), None),
    }
    found = []
    for name, (data, expected) in files.items():
        path = folder / f"pnm-{name}"
        path.write_bytes(data)
        found.append(Case(path, expected, refusal="is not supported" if expected is None else ""))
    return found


# MARK: Icons


def icons(folder):
    small = Image.fromarray(colours()).resize((48, 48))
    clear = small.convert("RGBA")
    clear.putalpha(Image.fromarray(alpha()).resize((48, 48)))
    pictures = {
        "gray": [small.convert("L")],
        "gray-alpha": [clear.convert("LA")],
        "rgb": [small],
        "rgba": [clear],
        "palette": [small.quantize(16)],
        "several": [small.resize((16, 16)), clear.convert("LA"), small.resize((32, 32))],
    }
    found = []
    for name, images in pictures.items():
        files = []
        for image in images:
            stream = io.BytesIO()
            image.save(stream, "PNG")
            files.append((image, stream.getvalue()))
        data = struct.pack("<HHH", 0, 1, len(files))
        place = 6 + 16 * len(files)
        for image, file in files:
            data += struct.pack("<BBBBHHII", image.width, image.height, 0, 0, 1, 32, len(file), place)
            place += len(file)
        path = folder / f"ico-{name}.ico"
        path.write_bytes(data + b"".join(file for _, file in files))
        found.append(Case(path, on_white(max(images, key=lambda image: image.width))))
    return found
