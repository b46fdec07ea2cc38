"""Files that lie, end early or hold nonsense: each must cost one picture, never the run."""

import struct
import zlib

import numpy as np
from PIL import Image

from . import jpeg, png
from .charts import chart
from .formats import big_endian_tiff, heifs, saved

WIDTH, HEIGHT = 320, 240


def make(folder):
    picture = chart(WIDTH, HEIGHT)
    files = {}
    files.update(not_pictures())
    files.update(truncated(picture))
    files.update(damaged(picture))
    files.update(claims(picture))
    files.update(floods())
    for name, data in files.items():
        (folder / name).write_bytes(data)
    print(f"{sum(map(len, files.values())) / 1000:8.0f} kB  {len(files)} files  {folder.name}")


def not_pictures():
    page = "<!DOCTYPE html>\n<html><head><title>404 Not Found</title></head>\n<body><h1>Not Found</h1></body></html>\n"
    noise = np.random.default_rng(404).integers(0, 256, 4096, dtype=np.uint8)
    noise[0] = 0x11  # the start of no format
    return {
        "html-page.jpg": page.encode(),
        "empty.jpg": b"",
        "one-byte.jpg": b"\xff",
        "random-bytes.jpg": noise.tobytes(),
        "jpeg-marker-then-random.jpg": b"\xff\xd8\xff\xe0" + noise.tobytes(),
        "png-signature-only.png": png.SIGNATURE,
    }


def half(data):
    return data[: len(data) // 2]


def scans(data):
    """The offsets of each start-of-scan segment."""
    return [offset for marker, offset, _ in jpeg.segments(data) if marker == 0xDA]


def truncated(picture):
    plain = jpeg.encode(picture, 85)
    progressive = jpeg.transform(plain, "-progressive")
    moving = [Image.fromarray(part) for part in (picture, 255 - picture)]
    heif = heifs(picture)
    return {
        "truncated-in-the-header.jpg": plain[: scans(plain)[0] - 40],
        "truncated-after-the-header.jpg": plain[: scans(plain)[0] + 14],
        "truncated-in-the-middle.jpg": half(plain),
        "truncated-by-its-end-marker.jpg": plain[:-2],
        "truncated-progressive-after-the-first-scan.jpg": progressive[: scans(progressive)[1]],
        "truncated-progressive-in-the-first-scan.jpg": progressive[
            : (scans(progressive)[0] + scans(progressive)[1]) // 2
        ],
        "truncated-progressive-in-the-middle.jpg": half(progressive),
        "truncated-progressive-before-the-last-scan.jpg": progressive[: scans(progressive)[-1]],
        "truncated-separate-dc-before-the-third-scan.jpg": before_scan(
            jpeg.transform(plain, scans=jpeg.SEPARATE_DC), 2
        ),
        "truncated.png": half(png.encode(picture, png.RGB)),
        "truncated-interlaced.png": half(png.encode(picture, png.RGB, interlaced=True)),
        "truncated-by-its-end-chunk.png": png.encode(picture, png.RGB)[:-12],
        "truncated.webp": half(saved(picture, "WEBP", quality=80)),
        "truncated-lossless.webp": half(saved(picture, "WEBP", lossless=True)),
        "truncated.gif": half(saved(Image.fromarray(picture).quantize(64), "GIF")),
        "truncated-in-the-second-frame.gif": saved(
            moving[0].quantize(64), "GIF", save_all=True, append_images=[moving[1].quantize(64)]
        )[:-900],
        "truncated.tif": half(big_endian_tiff(picture[:120, :160])),
        "truncated.heic": half(heif["heic.heic"]),
        "truncated.avif": half(heif["avif.avif"]),
    }


def before_scan(data, index):
    return data[: scans(data)[index]]


def damaged(picture):
    plain = jpeg.encode(picture, 85)
    body = scans(plain)[0] + 14
    rng = np.random.default_rng(505)
    flipped = bytearray(plain)
    for place in rng.integers(body + (len(plain) - body) // 3, len(plain) - 2, 24):
        # Neither makes nor breaks a marker: the entropy-coded data alone is wrong.
        if 0xFF not in (flipped[place - 1], flipped[place], flipped[place + 1]):
            flipped[place] = (flipped[place] ^ (1 << int(rng.integers(0, 8)))) % 0xFF
    marked = bytearray(plain)
    marked[len(plain) * 2 // 3 : len(plain) * 2 // 3 + 2] = b"\xff\xc4"
    whole = png.encode(picture, png.RGB)
    data_at = whole.index(b"IDAT")
    bad_sum = bytearray(whole)
    bad_sum[-16] ^= 0x55  # the last byte of the data's checksum is 13 from the end
    bad_header = bytearray(whole)
    bad_header[29] ^= 0x55
    bad_stream = (
        whole[: data_at - 4]
        + png.chunk(b"IDAT", b"\x78\x9c" + rng.integers(0, 256, 3000, dtype=np.uint8).tobytes())
        + png.chunk(b"IEND")
    )
    gif = bytearray(saved(Image.fromarray(picture).quantize(64), "GIF"))
    gif[len(gif) // 2 : len(gif) // 2 + 200] = rng.integers(0, 256, 200, dtype=np.uint8).tobytes()
    loop = bytearray(big_endian_tiff(picture[:48, :64]))
    loop[8 + 2 + 12 * 9 : 8 + 2 + 12 * 9 + 4] = struct.pack(">I", 8)
    return {
        "flipped-bits.jpg": bytes(flipped),
        "marker-in-the-data.jpg": bytes(marked),
        "invalid-huffman-table.jpg": with_table(plain, bytes([255] * 16)),
        "missing-huffman-tables.jpg": jpeg.without(plain, 0xC4),
        "missing-quantization-tables.jpg": jpeg.without(plain, 0xDB),
        "missing-frame-header.jpg": jpeg.without(plain, 0xC0),
        "zero-height.jpg": resized(plain, WIDTH, 0),
        "zero-height-then-dnl.jpg": with_dnl(resized(plain, WIDTH, 0), HEIGHT),
        "zero-width.jpg": resized(plain, 0, HEIGHT),
        "bad-checksum.png": bytes(bad_sum),
        "bad-header-checksum.png": bytes(bad_header),
        "bad-stream.png": bad_stream,
        "zero-width.png": png.SIGNATURE + png.header(0, HEIGHT, 8, png.RGB) + whole[33:],
        "zero-height.png": png.SIGNATURE + png.header(WIDTH, 0, 8, png.RGB) + whole[33:],
        "palette-missing.png": png.encode(picture[..., 0] >> 2, png.PALETTE),
        "damaged.gif": bytes(gif),
        "endless-directories.tif": bytes(loop),
    }


def with_table(data, counts):
    """`data` whose first Huffman table claims `counts` codes of each length."""
    at = next(offset for marker, offset, _ in jpeg.segments(data) if marker == 0xC4)
    return data[: at + 5] + counts + data[at + 21 :]


def resized(data, width, height):
    """`data` whose frame header claims another size."""
    at = next(offset for marker, offset, _ in jpeg.segments(data) if marker in (0xC0, 0xC1, 0xC2))
    return data[: at + 5] + struct.pack(">HH", height, width) + data[at + 9 :]


def with_dnl(data, height):
    """`data` with its number of lines told after the first scan, as the standard allows and few readers do."""
    return data[:-2] + b"\xff\xdc" + struct.pack(">HH", 4, height) + data[-2:]


def claims(picture):
    """A few kilobytes that claim to be enormous."""
    small = picture[:48, :64]
    plain = jpeg.encode(picture, 85)  # about 5 kB, so that there is a body not to download
    progressive = jpeg.encode(picture, 85, progressive=True)
    gif = bytearray(saved(Image.fromarray(small).quantize(16), "GIF"))
    gif[6:10] = b"\xff\xff\xff\xff"
    at = gif.index(b"\x2c\0\0\0\0")
    gif[at + 5 : at + 9] = b"\xff\xff\xff\xff"
    lossy = bytearray(saved(small, "WEBP", quality=75))
    key = lossy.index(b"\x9d\x01\x2a")
    lossy[key + 3 : key + 7] = struct.pack("<HH", 16383, 16383)
    lossless = bytearray(saved(small, "WEBP", lossless=True))
    start = lossless.index(b"VP8L") + 9
    lossless[start : start + 4] = struct.pack(
        "<I", 16383 - 1 | (16383 - 1) << 14 | struct.unpack("<I", lossless[start : start + 4])[0] & 0xF0000000
    )
    tiff = bytearray(big_endian_tiff(small))
    tiff[18:22] = tiff[30:34] = struct.pack(">I", 60000)
    return {
        "claims-60000x60000.jpg": resized(plain, 60000, 60000),
        "claims-60000x60000-progressive.jpg": resized(progressive, 60000, 60000),
        "claims-60000x60000.png": png.SIGNATURE
        + png.header(60000, 60000, 8, png.RGB)
        + png.encode(small, png.RGB)[33:],
        "claims-60000x60000.tif": bytes(tiff),
        "claims-2147483647x2147483647.png": png.SIGNATURE
        + png.header(2**31 - 1, 2**31 - 1, 16, png.RGBA)
        + png.encode(small, png.RGB)[33:],
        "claims-65535x65535.gif": bytes(gif),
        "claims-16383x16383.webp": bytes(lossy),
        "claims-16383x16383-lossless.webp": bytes(lossless),
        "bomb-30000x30000.png": bomb(30000),
    }


def bomb(side):
    """A valid picture, black, of one bit a pixel: a thousandth of what it unpacks to."""
    packer = zlib.compressobj(9)
    line = bytes(1 + (side + 7) // 8)
    stream = b"".join(packer.compress(line * 100) for _ in range(side // 100)) + packer.flush()
    return png.SIGNATURE + png.header(side, side, 1, png.GRAY) + png.chunk(b"IDAT", stream) + png.chunk(b"IEND")


def floods():
    """Valid files, small, that hold more frames or more passes than anyone should walk through."""
    return {
        "frames-5000.gif": gif_of_many_frames(5000, 2000),
        "frames-2000.webp": webp_of_many_frames(2000, 2000),
        "frames-2000.png": png_of_many_frames(2000, 2000),
        "pages-2000.tif": tiff_of_many_pages(2000),
        "scans-694.jpg": jpeg_of_many_scans(6000),
    }


def gif_of_many_frames(count, side):
    frame = b"\x21\xf9\x04\x00\x01\0\0\0" + b"\x2c" + struct.pack("<HHHHB", 0, 0, 1, 1, 0) + b"\x02\x02\x44\x01\x00"
    return (
        b"GIF89a"
        + struct.pack("<HHBBB", side, side, 0xF0, 0, 0)
        + b"\x20\x60\xa0\xff\xff\xff"
        + frame * count
        + b"\x3b"
    )


def webp_of_many_frames(count, side):
    def riff(kind, body):
        return kind + struct.pack("<I", len(body)) + body + b"\0" * (len(body) % 2)

    def three(value):
        return struct.pack("<I", value)[:3]

    dot = saved(Image.new("RGB", (1, 1), "#2060a0"), "WEBP", lossless=True)[12:]
    frame = riff(b"ANMF", three(0) * 2 + three(0) * 2 + three(10) + b"\0" + dot)
    extended = riff(b"VP8X", b"\x02\0\0\0" + three(side - 1) * 2)
    body = b"WEBP" + extended + riff(b"ANIM", b"\xff\xff\xff\xff\0\0") + frame * count
    return b"RIFF" + struct.pack("<I", len(body)) + body


def png_of_many_frames(count, side):
    first = zlib.compress(bytes(1 + side // 8) * side, 9)
    dot = zlib.compress(b"\0\x80", 9)

    def control(number, width):
        return png.chunk(b"fcTL", struct.pack(">IIIIIHHBB", number, width, width, 0, 0, 1, 100, 0, 0))

    parts = [
        png.SIGNATURE,
        png.header(side, side, 1, png.GRAY),
        png.chunk(b"acTL", struct.pack(">II", count, 0)),
        control(0, side),
        png.chunk(b"IDAT", first),
    ]
    for index in range(1, count):
        parts += [control(2 * index - 1, 1), png.chunk(b"fdAT", struct.pack(">I", 2 * index) + dot)]
    return b"".join(parts) + png.chunk(b"IEND")


def tiff_of_many_pages(count):
    """Pages of one grey pixel, all of which share that pixel."""
    out = b"II" + struct.pack("<HI", 42, 10) + b"\x80\0"
    fields = (
        (256, 4, 1),
        (257, 4, 1),
        (258, 3, 8),
        (259, 3, 1),
        (262, 3, 1),
        (273, 4, 8),
        (277, 3, 1),
        (278, 4, 1),
        (279, 4, 1),
    )
    body = struct.pack("<H", len(fields)) + b"".join(
        struct.pack("<HHII", tag, kind, 1, value) for tag, kind, value in fields
    )
    for index in range(count):
        following = len(out) + len(body) + 4 if index + 1 < count else 0
        out += body + struct.pack("<I", following)
    return out


def jpeg_of_many_scans(side):
    """A flat picture, each of whose 63 AC coefficients comes bit by bit in scans of its own: every pixel is
    visited 694 times. cjpeg refuses to write it, but a scan of nothing is the same for every coefficient."""
    data = jpeg.encode(np.full((side, side), 90, np.uint8), 75, scans="0: 0-0, 0, 0;\n0: 1-1, 0, 10;\n0: 2-63, 0, 0;\n")
    _, first, last = scans(data)
    scan = data[first:last]
    if b"\xff\xc4" in scan:  # the tables of the scan that follows
        scan = scan[: scan.index(b"\xff\xc4")]

    def of(place, high, low):
        return scan[:7] + bytes((place, place, high << 4 | low)) + scan[10:]

    parts = [data[:first]]
    for place in range(1, 64):
        parts.append(of(place, 0, 10))
        parts += [of(place, low + 1, low) for low in range(9, -1, -1)]
    return b"".join(parts) + b"\xff\xd9"
