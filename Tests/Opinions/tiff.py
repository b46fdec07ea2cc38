"""TIFF by tifffile: types of samples, strips, tiles and planes, photometric interpretations."""

import numpy as np
import tifffile
from PIL import Image

from picture import Case, alpha, colours, gray, shown

BLOCKS = {
    "strips": {"rowsperstrip": 16},
    "one-strip": {},
    "tiles": {"tile": (64, 64)},
    "lzw": {"compression": "lzw", "predictor": 2},
    "deflate": {"compression": "zlib", "tile": (32, 32)},
}


def cases(folder):
    found = []

    def write(name, samples, expected, tolerance=0.6, refusal="", **options):
        path = folder / f"tif-{name}.tif"
        try:
            tifffile.imwrite(path, samples, **options)
        except (KeyError, ValueError) as error:
            # LZW takes a package that few systems have.
            if "imagecodecs" not in str(error):
                raise
            path.unlink(missing_ok=True)
            return
        found.append(Case(path, expected, tolerance, refusal))

    for kind, most in (("u1", 255), ("u2", 65_535), ("u4", 2**32 - 1)):
        rgb, single, opacity = (
            np.round(samples / 255 * most).astype(kind) for samples in (colours().astype(float), gray(), alpha())
        )
        part = opacity.astype(float)[:, :, None] / most
        multiplied = np.round(rgb * part).astype(kind)
        for name, options in BLOCKS.items():
            write(f"{kind}-rgb-{name}", rgb, shown(colours()), photometric="rgb", **options)
            write(f"{kind}-gray-{name}", single, shown(gray()), photometric="minisblack", **options)
            inverse = (most - single.astype(np.uint64)).astype(kind)
            write(f"{kind}-white-{name}", inverse, shown(gray()), photometric="miniswhite", **options)
            planes = np.moveaxis(rgb, 2, 0).copy()
            write(f"{kind}-planes-{name}", planes, shown(colours()), photometric="rgb", planarconfig="separate", **options)
            extra = {"photometric": "rgb", **options}
            write(f"x-{kind}-{name}", np.dstack([rgb, opacity]), shown(colours()), extrasamples=["unspecified"], **extra)
            expected = shown(colours(), alpha())
            write(f"{kind}-rgba-{name}", np.dstack([rgb, opacity]), expected, extrasamples=["unassalpha"], **extra)
            # Dark colours behind little alpha have lost their last bits.
            write(
                f"{kind}-multiplied-{name}", np.dstack([multiplied, opacity]), expected, 1.5,
                extrasamples=["assocalpha"], **extra,
            )
        write(f"{kind}-big-endian", rgb.astype(">" + kind), shown(colours()), photometric="rgb", byteorder=">")
    for kind in ("i1", "i2", "i4"):
        most = np.iinfo(kind).max
        half = most / (2.0 * most + 1)
        write(f"signed-gray-{kind}", np.round(gray() / 255 * most).astype(kind), shown(gray() * half), 1, photometric="minisblack")
        write(f"signed-rgb-{kind}", np.round(colours() / 255 * most).astype(kind), shown(colours() * half), 1, photometric="rgb")
    below = (gray().astype(int) * 257 - 32_768).astype("i2")
    write("signed-gray-below-i2", below, shown(np.maximum(below, 0) / 257), photometric="minisblack")
    linear = colours() / 255.0
    linear = np.where(linear <= 0.04045, linear / 12.92, ((linear + 0.055) / 1.055) ** 2.4)
    for kind in ("f2", "f4", "f8"):
        tolerance = 0.8 if kind == "f2" else 0.6
        for name, options in {"strips": {}, "tiles": {"tile": (64, 64), "compression": "zlib"}}.items():
            write(f"float-gray-1-{kind}-{name}", (gray() / 255.0).astype(kind), shown(gray()), tolerance, photometric="minisblack", **options)
            write(f"float-rgb-{kind}-{name}", linear.astype(kind), shown(colours()), tolerance, photometric="rgb", **options)
        write(f"float-gray-255-{kind}", gray().astype(kind), shown(gray()), tolerance, photometric="minisblack")
        planes = np.moveaxis(linear, 2, 0).astype(kind).copy()
        write(f"float-rgb-planes-{kind}", planes, shown(colours()), tolerance, photometric="rgb", planarconfig="separate")
        light = np.dstack([linear * alpha()[:, :, None] / 255.0, alpha() / 255.0]).astype(kind)
        options = {"photometric": "rgb", "extrasamples": ["assocalpha"]}
        # Dark light behind little alpha has lost its last bits.
        write(f"float-rgb-multiplied-{kind}", light, shown(colours(), alpha()), 1, **options)
    heights = gray() * 10.0 - 500
    spread = (gray().astype(float) - gray().min()) / (int(gray().max()) - int(gray().min())) * 255
    write("float-gray-heights", heights.astype("f4"), shown(spread), photometric="minisblack")
    inks = 255 - np.dstack([colours(), np.full(gray().shape, 255, np.uint8)])
    for kind, factor in (("u1", 1), ("u2", 257)):
        samples = inks.astype(kind) * np.array(factor, kind)
        write(f"cmyk-{kind}", samples, None, photometric="separated")
        write(f"cmyk-{kind}-tiles", samples, None, photometric="separated", tile=(64, 64), compression="lzw")
        planes = np.moveaxis(samples, 2, 0).copy()
        write(f"cmyk-{kind}-planes", planes, None, photometric="separated", planarconfig="separate")
    picture = Image.fromarray(colours())
    for name, image, options in (
        ("bits-g4", picture.convert("1"), {"compression": "group4"}),
        ("bits", picture.convert("1"), {}),
        ("palette", picture.quantize(256), {}),
        ("palette-16", picture.quantize(16), {}),
        ("packbits", picture, {"compression": "packbits"}),
    ):
        image.save(folder / f"tif-{name}.tif", **options)
        found.append(Case(folder / f"tif-{name}.tif", shown(np.asarray(image.convert("RGB")))))
    picture.convert("YCbCr").save(folder / "tif-ycc.tif")
    found.append(Case(folder / "tif-ycc.tif", shown(colours()), 1))
    return found
