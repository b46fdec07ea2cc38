"""HEIC files as phones write them: a grid of equal tiles, a thumbnail and an EXIF block in one container."""

import struct
import tempfile
from pathlib import Path

import numpy as np

from . import png, tools

# As ImageIO on phones writes it: samples of BT.601 over the full range; here with sRGB's primaries.
COLOUR = b"nclx" + struct.pack(">3H", 1, 13, 6) + b"\x80"


def box(kind, *content):
    content = b"".join(content)
    return struct.pack(">I", 8 + len(content)) + kind + content


def full_box(kind, version, *content, flags=0):
    return box(kind, struct.pack(">I", version << 24 | flags), *content)


def boxes(data):
    """The boxes in `data`, by their kind; the last of each."""
    found, place = {}, 0
    while place + 8 <= len(data):
        length, kind = struct.unpack_from(">I4s", data, place)
        found[kind] = data[place + 8 : place + length]
        place += length
    return found


def coded(pixels, quality=60, switches=()):
    """The HEVC configuration of an image that heif-enc has coded, and its bytes."""
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder, "in.png"), Path(folder, "out.heic")
        source.write_bytes(png.encode(pixels, png.RGB))
        tools.run("heif-enc", "-q", quality, *switches, "-o", target, source)
        file = target.read_bytes()
    meta = boxes(file)[b"meta"][4:]
    configuration = boxes(boxes(boxes(meta)[b"iprp"])[b"ipco"])[b"hvcC"]
    # An image alone is all of the file's data.
    return configuration, boxes(file)[b"mdat"]


def phone(picture, tile=512, thumbnail=None, turns=0, quality=60, profile=None, exif=b"", switches=()):
    """A HEIC of tiles of this size, turned anti-clockwise by quarter turns, with a thumbnail's pixels or without."""
    height, width = picture.shape[:2]
    rows, columns = -(-height // tile), -(-width // tile)
    padded = np.pad(picture, ((0, rows * tile - height), (0, columns * tile - width), (0, 0)), mode="edge")
    properties, kinds, data, associations, references = [], [], [], [], []

    def named(content):
        if content not in properties:
            properties.append(content)
        return properties.index(content) + 1

    def add(kind, content, used, is_hidden=False):
        number = len(kinds) + 1
        flags = 1 if is_hidden else 0
        kinds.append(full_box(b"infe", 2, struct.pack(">HH", number, 0), kind, b"\0", flags=flags))
        data.append(content)
        associations.append(struct.pack(">HB", number, len(used)) + bytes(used))
        return number

    colour = named(box(b"colr", b"prof" + profile) if profile else box(b"colr", COLOUR))
    turn = [named(box(b"irot", bytes([turns])))] if turns else []

    def size(across, down):
        return named(full_box(b"ispe", 0, struct.pack(">II", across, down)))

    tiles = []
    for row in range(rows):
        for column in range(columns):
            part = padded[row * tile : (row + 1) * tile, column * tile : (column + 1) * tile]
            configuration, content = coded(np.ascontiguousarray(part), quality, switches)
            used = [colour, named(box(b"hvcC", configuration)) | 0x80, size(tile, tile)]
            tiles.append(add(b"hvc1", content, used, is_hidden=True))
    grid = struct.pack(">BBBBHH", 0, 0, rows - 1, columns - 1, width, height)
    primary = add(b"grid", grid, [colour, size(width, height)] + turn)
    references.append(box(b"dimg", struct.pack(f">HH{len(tiles)}H", primary, len(tiles), *tiles)))
    if thumbnail is not None:
        configuration, content = coded(np.ascontiguousarray(thumbnail), quality, switches)
        used = [colour, named(box(b"hvcC", configuration)) | 0x80, size(*thumbnail.shape[1::-1])] + turn
        number = add(b"hvc1", content, used)
        references.append(box(b"thmb", struct.pack(">HHH", number, 1, primary)))
    if exif:
        number = add(b"Exif", struct.pack(">I", 0) + exif, [])
        references.append(box(b"cdsc", struct.pack(">HHH", number, 1, primary)))
    return assembled(primary, kinds, properties, associations, references, data, grid)


def assembled(primary, kinds, properties, associations, references, data, grid):
    """The file: the grid's own bytes are in the table of contents, all others after it."""

    def meta(start):
        places, position = [], start
        for number, content in enumerate(data, 1):
            is_grid = number == primary
            place = 0 if is_grid else position
            places.append(struct.pack(">HHHHII", number, int(is_grid), 0, 1, place, len(content)))
            position += 0 if is_grid else len(content)
        handler = full_box(b"hdlr", 0, b"\0\0\0\0pict", bytes(13))
        entries = struct.pack(">I", len(associations)) + b"".join(associations)
        return full_box(
            b"meta",
            0,
            handler,
            full_box(b"pitm", 0, struct.pack(">H", primary)),
            full_box(b"iinf", 0, struct.pack(">H", len(kinds)), *kinds),
            full_box(b"iref", 0, *references),
            box(b"iprp", box(b"ipco", *properties), full_box(b"ipma", 0, entries)),
            box(b"idat", grid),
            full_box(b"iloc", 1, b"\x44\0", struct.pack(">H", len(places)), *places),
        )

    head = box(b"ftyp", b"heic", bytes(4), b"mif1heic")
    start = len(head) + len(meta(0)) + 8
    rest = b"".join(content for number, content in enumerate(data, 1) if number != primary)
    return head + meta(start) + box(b"mdat", rest)
