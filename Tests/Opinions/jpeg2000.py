"""JPEG 2000 by opj_compress: tiles, offsets, sampling, depths, palettes."""

import shutil
import struct
import subprocess

import numpy as np
from PIL import Image

from picture import SIZE, Case, alpha, colours, gray, shown

# Of odd sizes opj_compress reads the wrong number of samples of chroma.
EVEN = (150, 102)
# libvips would show these wrongly.
REFUSAL = "is not supported"

LAYOUTS = {
    "plain": [],
    "lossy": ["-I", "-r", "4"],
    "tiles": ["-t", "64,48"],
    "offset": ["-d", "101,33"],
    "tiles-offset": ["-t", "64,48", "-d", "37,51", "-T", "11,7"],
    "one-level": ["-n", "1"],
    "six-levels": ["-n", "6"],
    "large-tiles": ["-t", "128,128", "-p", "RPCL"],
    "layers": ["-r", "40,20,1", "-p", "RLCP", "-c", "[64,64]"],
    "markers": ["-SOP", "-EPH", "-M", "5"],
}


def cases(folder):
    if shutil.which("opj_compress") is None:
        return []
    width, height = SIZE
    sources = {
        "rgb": (colours(), shown(colours())),
        "g": (gray(), shown(gray())),
        "rgba": (np.dstack([colours(), alpha()]), shown(colours(), alpha())),
        "ga": (np.dstack([gray(), alpha()]), shown(gray(), alpha())),
    }
    found = []
    scratch = folder.parent
    for extension in ("jp2", "j2k"):
        for name, (samples, expected) in sources.items():
            Image.fromarray(samples).save(scratch / "source.png")
            for layout, options in LAYOUTS.items():
                path = folder / f"jp2-{name}-{layout}.{extension}"
                compress(scratch / "source.png", path, options)
                found.append(Case(path, expected, 3 if layout == "lossy" else 0.6, REFUSAL if "offset" in layout else ""))
        for bits in (4, 12, 16):
            most = (1 << bits) - 1
            samples = np.round(gray() / 255 * most).astype("u1" if bits <= 8 else "<u2")
            path = folder / f"jp2-g{bits}.{extension}"
            (scratch / "source.rawl").write_bytes(samples.tobytes())
            compress(scratch / "source.rawl", path, ["-F", f"{width},{height},1,{bits},u"])
            found.append(Case(path, shown(samples / most * 255), refusal=REFUSAL if bits < 8 else ""))
        for across, down in ((1, 1), (2, 1), (2, 2)):
            (scratch / "source.raw").write_bytes(chroma(across, down))
            shape = f"{EVEN[0]},{EVEN[1]},3,8,u@1x1:{across}x{down}:{across}x{down}"
            for layout in ("plain", "tiles"):
                path = folder / f"jp2-ycc{across}{down}-{layout}.{extension}"
                compress(scratch / "source.raw", path, ["-F", shape, "-mct", "0", *LAYOUTS[layout]])
                # A bare codestream does not tell that chroma of full size is chroma.
                if extension == "jp2" or across > 1:
                    found.append(Case(path, None, refusal=REFUSAL))
    found += palettes(folder, scratch)
    found += narrow(folder, scratch)
    found.append(fewer_levels(folder, scratch))
    return found


def compress(source, path, options):
    command = ["opj_compress", "-i", source, "-o", path, *options]
    subprocess.run(command, check=True, capture_output=True)


def chroma(across, down):
    """Planes of luma and chroma."""
    width, height = EVEN
    planes = np.asarray(Image.fromarray(colours()[:height, :width]).convert("YCbCr"))
    small = [planes[::down, ::across, index] for index in (1, 2)]
    return planes[:, :, 0].tobytes() + b"".join(plane.tobytes() for plane in small)


def palettes(folder, scratch):
    """JP2 files of indices, whose boxes say the colours."""
    indexed = Image.fromarray(colours()).quantize(64)
    entries = np.array(indexed.getpalette()[: 64 * 3], dtype=np.uint8).reshape(-1, 3)
    Image.fromarray(np.asarray(indexed)).save(scratch / "source.png")
    found = []
    for layout in ("plain", "tiles"):
        path = folder / f"jp2-palette-{layout}.jp2"
        compress(scratch / "source.png", path, LAYOUTS[layout])
        data = path.read_bytes()
        start = data.index(b"jp2h") - 4
        length = struct.unpack(">I", data[start : start + 4])[0]
        header = data[start + 8 : start + length]
        at = header.index(b"colr") - 4
        after = at + struct.unpack(">I", header[at : at + 4])[0]
        header = header[:at] + box(b"colr", b"\1\0\0" + struct.pack(">I", 16)) + header[after:]
        header += box(b"pclr", struct.pack(">HB", len(entries), 3) + b"\7\7\7" + entries.tobytes())
        header += box(b"cmap", b"".join(struct.pack(">HBB", 0, 1, column) for column in range(3)))
        path.write_bytes(data[:start] + box(b"jp2h", header) + data[start + length :])
        found.append(Case(path, None, refusal=REFUSAL))
    return found


def narrow(folder, scratch):
    """Tiles of which the last ones have no samples at a reduced size."""
    found = []
    Image.fromarray(colours()).save(scratch / "source.png")
    for tile in ("75,51", "50,34", "149,101"):
        for offset in ([], ["-d", "1,1"], ["-d", "3,2"]):
            path = folder / f"jp2-narrow-{tile.replace(',', 'x')}-{len(found)}.j2k"
            compress(scratch / "source.png", path, ["-t", tile, *offset])
            found.append(Case(path, shown(colours()), refusal=REFUSAL if offset else ""))
    return found


def fewer_levels(folder, scratch):
    """A codestream whose second tile has fewer resolution levels than the header says."""
    Image.fromarray(colours()).save(scratch / "source.png")
    parts = {}
    for levels in ("6", "2"):
        path = scratch / f"levels-{levels}.j2k"
        compress(scratch / "source.png", path, ["-t", "80,60", "-n", levels])
        parts[levels] = tile_parts(path.read_bytes())
    (header, tiles), (other, others) = parts["6"], parts["2"]
    own = b"".join(segment(other, marker) for marker in (b"\xff\x52", b"\xff\x5c"))
    tile = others[1]
    # The length of the tile-part, and its own parameters behind its marker.
    length = struct.unpack(">I", tile[6:10])[0] + len(own)
    tiles[1] = tile[:6] + struct.pack(">I", length) + tile[10:12] + own + tile[12:]
    path = folder / "jp2-fewer-levels-in-a-tile.j2k"
    path.write_bytes(header + b"".join(tiles) + b"\xff\xd9")
    return Case(path, shown(colours()))


def tile_parts(data):
    """The main header of a codestream, and its tile-parts."""
    start = data.index(b"\xff\x90")
    header, tiles = data[:start], []
    while data[start : start + 2] == b"\xff\x90":
        length = struct.unpack(">I", data[start + 6 : start + 10])[0]
        tiles.append(data[start : start + length])
        start += length
    return header, tiles


def segment(header, marker):
    """The segment of a marker of a header."""
    at = header.index(marker)
    return header[at : at + 2 + struct.unpack(">H", header[at + 2 : at + 4])[0]]


def box(kind, content):
    return struct.pack(">I4s", 8 + len(content), kind) + content
