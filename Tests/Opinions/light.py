"""Radiance and OpenEXR: samples in linear light."""

import struct

import numpy as np

from picture import SIZE, Case, alpha, colours, shown


def linear(samples):
    part = samples / 255.0
    return np.where(part <= 0.04045, part / 12.92, ((part + 0.055) / 1.055) ** 2.4)


def cases(folder):
    return [*radiance(folder), *open_exr(folder)]


# MARK: Radiance


def shared_exponents(light):
    """Red, green, blue and exponent, a byte each."""
    most = light.max(axis=2)
    mantissa, exponent = np.frexp(most)
    scale = np.where(most < 1e-32, 0, mantissa * 256 / np.maximum(most, 1e-32))
    return np.dstack([(light * scale[:, :, None]).astype(np.uint8), np.where(most < 1e-32, 0, exponent + 128)]).astype(np.uint8)


def run_lengths(row):
    """A row in the form that all programs write: each of four parts in turn, here as literal bytes and runs."""
    coded = bytes([2, 2]) + struct.pack(">H", len(row))
    for part in row.T:
        at = 0
        while at < len(part):
            run = 1
            while at + run < len(part) and run < 127 and part[at + run] == part[at]:
                run += 1
            coded += bytes([128 + run, part[at]]) if run > 2 else bytes([1, part[at]])
            at += run if run > 2 else 1
    return coded


def radiance(folder):
    width, height = SIZE
    rows = shared_exponents(linear(colours()))
    # The light that a byte and an exponent stand for: 8 bits in the brightest of three, fewer in the others.
    stored = np.ldexp((rows[:, :, :3] + 0.5) / 256, rows[:, :, 3:].astype(int) - 128) * (rows[:, :, 3:] > 0)
    expected = np.where(stored <= 0.0031308, stored * 12.92, 1.055 * np.maximum(stored, 1e-9) ** (1 / 2.4) - 0.055) * 255
    head = f"#?RADIANCE\nFORMAT=32-bit_rle_rgbe\n\n-Y {height} +X {width}\n".encode()
    files = {"flat": rows.tobytes(), "runs": b"".join(run_lengths(row) for row in rows)}
    found = []
    for name, body in files.items():
        path = folder / f"hdr-{name}.hdr"
        path.write_bytes(head + body)
        found.append(Case(path, expected, 1))
    return found


# MARK: OpenEXR


def exr(channels, kind, place=(0, 0), window=SIZE):
    """Rows without compression; `channels` are arrays by their names, `kind` is 1 for half floats, 2 for floats. The
    first pixel is at `place` in the display window, which has the size `window` and begins at (-5, 9)."""
    width, height = SIZE
    left, top = place[0] - 5, place[1] + 9
    names = sorted(channels)

    def attribute(name, kind, value):
        return name + b"\0" + kind + b"\0" + struct.pack("<I", len(value)) + value

    listed = b"".join(name.encode() + b"\0" + struct.pack("<IBBBBII", kind, 0, 0, 0, 0, 1, 1) for name in names) + b"\0"
    stored = struct.pack("<iiii", left, top, left + width - 1, top + height - 1)
    shown = struct.pack("<iiii", -5, 9, window[0] - 6, window[1] + 8)
    head = struct.pack("<II", 20000630, 2) + b"".join([
        attribute(b"channels", b"chlist", listed),
        attribute(b"compression", b"compression", b"\0"),
        attribute(b"dataWindow", b"box2i", stored),
        attribute(b"displayWindow", b"box2i", shown),
        attribute(b"lineOrder", b"lineOrder", b"\0"),
        attribute(b"pixelAspectRatio", b"float", struct.pack("<f", 1)),
        attribute(b"screenWindowCenter", b"v2f", struct.pack("<ff", 0, 0)),
        attribute(b"screenWindowWidth", b"float", struct.pack("<f", 1)),
    ]) + b"\0"
    kinds = {1: "<f2", 2: "<f4"}
    rows = [b"".join(channels[name][row].astype(kinds[kind]).tobytes() for name in names) for row in range(height)]
    start, table, body = len(head) + 8 * height, b"", b""
    for number, row in enumerate(rows):
        table += struct.pack("<Q", start + len(body))
        body += struct.pack("<iI", top + number, len(row)) + row
    return head + table + body


def open_exr(folder):
    light = linear(colours())
    clear = alpha() / 255.0
    rgb = {name: light[:, :, index] for index, name in enumerate("RGB")}
    # Colours are multiplied by alpha.
    multiplied = {name: channel * clear for name, channel in rgb.items()} | {"A": clear}
    found = []
    for name, kind in (("half", 1), ("float", 2)):
        for suffix, channels, expected in (
            ("rgb", rgb, shown(colours())), ("rgba", multiplied, shown(colours(), alpha()))
        ):
            path = folder / f"exr-{suffix}-{name}.exr"
            path.write_bytes(exr(channels, kind))
            found.append(Case(path, expected, 1))
    # A region of the frame, and more than the frame.
    for place, window in (((20, 30), (200, 150)), ((-20, -10), (100, 60)), ((-40, 25), (150, 110)), ((300, 0), (90, 90))):
        frame = np.full((window[1] + 800, window[0] + 800, 3), 255.0)
        frame[400 + place[1] :, 400 + place[0] :][: SIZE[1], : SIZE[0]] = shown(colours())
        path = folder / f"exr-at-{place[0]}-{place[1]}.exr"
        path.write_bytes(exr(rgb | {"A": np.ones_like(clear)}, 1, place, window))
        refusal = "has none of its pixels is not supported" if place[0] >= window[0] else ""
        found.append(Case(path, frame[400 : 400 + window[1], 400 : 400 + window[0]], 1, refusal))
    return found
