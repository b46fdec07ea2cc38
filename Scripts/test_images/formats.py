"""One small file for every format and feature that the readers must know."""

import gzip
import io
import struct
import tempfile
from pathlib import Path

import numpy as np
from PIL import Image

from . import exr, hdr, heif, icc, jpeg, png, tools
from .charts import alpha, chart, letter


def make(folder):
    picture = chart()
    files = {}
    files.update(jpegs(picture))
    files.update(orientations())
    files.update(profiles(picture))
    files.update(pngs(picture))
    files.update(webps(picture))
    files.update(gifs(picture))
    files.update(tiffs(picture))
    files.update(heifs(picture))
    files.update(sizes())
    files.update(others(picture))
    for name, data in files.items():
        (folder / name).write_bytes(data)
    print(f"{sum(map(len, files.values())) / 1000:8.0f} kB  {len(files)} files  {folder.name}")


def saved(pixels, kind, **options):
    """`pixels` (an array or a Pillow image) in a format that Pillow writes."""
    image = pixels if isinstance(pixels, Image.Image) else Image.fromarray(pixels)
    out = io.BytesIO()
    image.save(out, kind, **options)
    return out.getvalue()


def gray_of(picture):
    return np.asarray(Image.fromarray(picture).convert("L"))


def cmyk_of(picture):
    """Ink from 0 to 255, with a third of the black taken out of the colours."""
    ink = 255 - picture.astype(np.int32)
    black = ink.min(axis=2) // 3
    return np.dstack([ink - black[..., None], black]).astype(np.uint8)


def jpegs(picture):
    files = {
        f"jpeg-{name}.jpg": jpeg.encode(picture, 90, sampling)
        for name, sampling in (("444", "1x1"), ("422", "2x1"), ("420", "2x2"), ("440", "1x2"), ("411", "4x1"))
    }
    plain = files["jpeg-420.jpg"]
    files["jpeg-gray.jpg"] = jpeg.encode(gray_of(picture), 90)
    files["jpeg-gray-progressive.jpg"] = jpeg.encode(gray_of(picture), 90, progressive=True)
    files["jpeg-progressive.jpg"] = jpeg.transform(plain, "-progressive")
    files["jpeg-progressive-444.jpg"] = jpeg.transform(files["jpeg-444.jpg"], "-progressive")
    files["jpeg-progressive-separate-dc.jpg"] = jpeg.transform(plain, scans=jpeg.SEPARATE_DC)
    files["jpeg-not-interleaved.jpg"] = jpeg.transform(plain, scans=jpeg.NOT_INTERLEAVED)
    files["jpeg-restart.jpg"] = jpeg.transform(plain, "-restart", "1")
    files["jpeg-restart-progressive.jpg"] = jpeg.transform(plain, "-progressive", "-restart", "1")
    files["jpeg-arithmetic.jpg"] = jpeg.transform(plain, "-arithmetic")
    files["jpeg-arithmetic-progressive.jpg"] = jpeg.transform(plain, "-arithmetic", "-progressive")
    files["jpeg-rgb.jpg"] = jpeg.encode(picture, 90, "1x1", options=["-rgb"])
    files["jpeg-cmyk.jpg"] = saved(Image.fromarray(cmyk_of(picture), "CMYK"), "JPEG", quality=90)
    files["jpeg-ycck.jpg"] = ycck(cmyk_of(picture))
    large = jpeg.encode(np.asarray(Image.fromarray(picture).resize((640, 480), Image.Resampling.NEAREST)), 80)
    small = jpeg.encode(picture, 80)
    files["jpeg-exif-thumbnail.jpg"] = jpeg.with_exif(large, orientation=1, thumbnail=small)
    return files


def ycck(ink):
    """Ink as an Adobe YCCK file. Pillow writes CMYK as it is given, so it is given Y, Cb, Cr and K, and the
    Adobe marker is told afterwards. The colours of the ink, not their complements, go through the YCbCr matrix,
    because Adobe stores ink inverted and YCCK inverts it again."""
    luma = np.asarray(Image.fromarray(ink[..., :3], "RGB").convert("YCbCr"))
    given = np.dstack([255 - luma, ink[..., 3]])
    data = saved(Image.fromarray(given, "CMYK"), "JPEG", quality=92, subsampling=0)
    at = data.index(b"Adobe")
    return data[: at + 11] + b"\x02" + data[at + 12 :]


def orientations():
    upright = letter()
    files = {}
    for number in range(1, 9):
        stored = jpeg.encode(jpeg.stored_for(upright, number), 95, "1x1")
        files[f"orientation-{number}.jpg"] = jpeg.with_exif(stored, orientation=number, big_endian=number % 2 == 0)
    turned = jpeg.stored_for(upright, 6)
    progressive = jpeg.encode(turned, 95, progressive=True)
    files["orientation-6-progressive.jpg"] = jpeg.with_exif(progressive, orientation=6)
    wrong = jpeg.encode(upright, 90)
    files["orientation-0-is-none.jpg"] = jpeg.with_exif(wrong, orientation=0)
    files["orientation-9-is-none.jpg"] = jpeg.with_exif(wrong, orientation=9)
    block = jpeg.exif(6)[6:]
    files["orientation-6.png"] = png.encode(turned, png.RGB, before=[(b"eXIf", block)])
    files["orientation-6.webp"] = saved(np.ascontiguousarray(turned), "WEBP", quality=90, exif=jpeg.exif(6))
    files["orientation-6.tif"] = saved(np.ascontiguousarray(turned), "TIFF", tiffinfo={274: 6})
    return files


def profiles(picture):
    """The chart's colours in other colour spaces: right only for those who read the profile."""
    wide = icc.profile("Wide RGB, gamma 2.2", icc.WIDE, icc.WIDE_GAMMA)
    p3 = icc.profile("P3 primaries, sRGB curve", icc.P3)
    in_wide = icc.converted(picture, icc.WIDE, icc.WIDE_GAMMA)
    in_p3 = icc.converted(picture, icc.P3)
    return {
        "icc-adobe-rgb.jpg": jpeg.with_profile(jpeg.encode(in_wide, 92, "1x1"), wide),
        "icc-adobe-rgb-progressive.jpg": jpeg.with_profile(jpeg.encode(in_wide, 92, progressive=True), wide),
        "icc-adobe-rgb.png": png.encode(in_wide, png.RGB, before=[png.profile_chunk(wide)]),
        "icc-display-p3.jpg": jpeg.with_profile(jpeg.encode(in_p3, 92, "1x1"), p3),
        "icc-display-p3.png": png.encode(in_p3, png.RGB, before=[png.profile_chunk(p3)]),
        "icc-display-p3.webp": saved(in_p3, "WEBP", lossless=True, icc_profile=p3),
        "icc-broken-profile.jpg": jpeg.with_profile(jpeg.encode(picture, 92, "1x1"), b"not a profile" * 20),
    }


def pngs(picture):
    gray, clear = gray_of(picture), alpha()
    shown = Image.fromarray(picture).quantize(64, dither=Image.Dither.NONE)
    indexes, palette = np.asarray(shown), bytes(shown.getpalette()[: 64 * 3])
    see_through = bytes(0 if index % 2 else 255 for index in range(64))
    deep = picture.astype(np.uint16) * 257
    return {
        "png-rgb.png": png.encode(picture, png.RGB),
        "png-rgb-interlaced.png": png.encode(picture, png.RGB, interlaced=True),
        "png-rgb-16.png": png.encode(deep, png.RGB, 16),
        "png-rgb-colour-key.png": png.encode(picture, png.RGB, before=[(b"tRNS", struct.pack(">3H", 255, 255, 255))]),
        "png-rgba.png": png.encode(np.dstack([picture, clear]), png.RGBA),
        "png-rgba-16.png": png.encode(np.dstack([deep, clear.astype(np.uint16) * 257]), png.RGBA, 16),
        "png-rgba-interlaced.png": png.encode(np.dstack([picture, clear]), png.RGBA, interlaced=True),
        "png-gray.png": png.encode(gray, png.GRAY),
        "png-gray-16.png": png.encode(gray.astype(np.uint16) * 257, png.GRAY, 16),
        "png-gray-1.png": png.encode(gray > 127, png.GRAY, 1),
        "png-gray-1-interlaced.png": png.encode(gray > 127, png.GRAY, 1, interlaced=True),
        "png-gray-4.png": png.encode(gray >> 4, png.GRAY, 4),
        "png-gray-alpha.png": png.encode(np.dstack([gray, clear]), png.GRAY_ALPHA),
        "png-palette.png": png.encode(indexes, png.PALETTE, palette=palette),
        "png-palette-interlaced.png": png.encode(indexes, png.PALETTE, interlaced=True, palette=palette),
        "png-palette-alpha.png": png.encode(indexes, png.PALETTE, palette=palette, before=[(b"tRNS", see_through)]),
        "png-palette-2-bit.png": png.encode(
            gray >> 6, png.PALETTE, 2, palette=b"\x10\x20\x40\x50\x80\x60\xd0\xa0\x50\xff\xf0\xd0"
        ),
        "png-animated.png": saved(
            Image.fromarray(picture), "PNG", save_all=True, append_images=frames(picture)[1:], duration=100
        ),
    }


def frames(picture):
    """The chart, then the chart in other colours: only the first may be seen."""
    return [Image.fromarray(part) for part in (picture, 255 - picture, picture[::-1], np.roll(picture, 40, axis=1))]


def webps(picture):
    shown = np.dstack([picture, alpha()])
    moving = frames(picture)
    return {
        "webp-lossy.webp": saved(picture, "WEBP", quality=85),
        "webp-lossless.webp": saved(picture, "WEBP", lossless=True),
        "webp-lossy-alpha.webp": saved(shown, "WEBP", quality=85),
        "webp-lossless-alpha.webp": saved(shown, "WEBP", lossless=True, exact=True),
        "webp-animated.webp": saved(
            moving[0], "WEBP", save_all=True, append_images=moving[1:], duration=100, lossless=True
        ),
    }


def gifs(picture):
    moving = [frame.quantize(64, dither=Image.Dither.NONE) for frame in frames(picture)]
    clear = Image.fromarray(np.where(alpha() > 127, np.asarray(moving[0]), 255).astype(np.uint8), "P")
    clear.putpalette(moving[0].getpalette() + [255, 0, 255] * (256 - len(moving[0].getpalette()) // 3))
    return {
        "gif-still.gif": saved(moving[0], "GIF", interlace=0),
        "gif-interlaced.gif": saved(moving[0], "GIF", interlace=1),
        "gif-animated.gif": saved(moving[0], "GIF", save_all=True, append_images=moving[1:], duration=100, loop=0),
        "gif-transparent.gif": saved(clear, "GIF", transparency=255),
    }


def tiffs(picture):
    pages = [Image.fromarray(part) for part in (picture, 255 - picture, picture[:, ::-1])]
    return {
        "tiff-strips.tif": saved(picture, "TIFF"),
        "tiff-lzw.tif": saved(picture, "TIFF", compression="tiff_lzw"),
        "tiff-deflate.tif": saved(picture, "TIFF", compression="tiff_adobe_deflate"),
        "tiff-big-endian.tif": big_endian_tiff(picture),
        "tiff-tiled.tif": by_vips(picture, "tif", "tile", "tile-width=64", "tile-height=64", "compression=deflate"),
        "tiff-pyramid.tif": by_vips(
            picture, "tif", "tile", "pyramid", "tile-width=64", "tile-height=64", "compression=deflate"
        ),
        "tiff-jpeg.tif": by_vips(picture, "tif", "compression=jpeg", "Q=90"),
        "tiff-16-bit.tif": by_vips(picture.astype(np.uint16) * 257, "tif", "compression=deflate"),
        "tiff-alpha.tif": saved(np.dstack([picture, alpha()]), "TIFF", compression="tiff_adobe_deflate"),
        "tiff-gray.tif": saved(gray_of(picture), "TIFF", compression="tiff_adobe_deflate"),
        "tiff-1-bit.tif": saved(Image.fromarray(gray_of(picture) > 127), "TIFF", compression="group4"),
        "tiff-cmyk.tif": saved(Image.fromarray(cmyk_of(picture), "CMYK"), "TIFF", compression="tiff_lzw"),
        "tiff-multi-page.tif": saved(
            pages[0], "TIFF", save_all=True, append_images=pages[1:], compression="tiff_adobe_deflate"
        ),
    }


def by_vips(pixels, suffix, *options):
    """`pixels` written by libvips, for what Pillow cannot write."""
    depth = 16 if pixels.dtype == np.uint16 else 8
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder, "in.png"), Path(folder, f"out.{suffix}")
        source.write_bytes(png.encode(pixels, png.RGB, depth))
        tools.run("vips", "copy", source, f"{target}[{','.join(options)}]")
        return target.read_bytes()


def big_endian_tiff(picture):
    height, width = picture.shape[:2]
    fields = (
        (256, 4, width),
        (257, 4, height),
        (258, 3, 8),
        (259, 3, 1),
        (262, 3, 2),
        (273, 4, 0),
        (277, 3, 3),
        (278, 4, height),
        (279, 4, picture.size),
    )
    start = 8 + 2 + 12 * len(fields) + 4
    body = b""
    for tag, kind, value in fields:
        if tag == 258:
            body += struct.pack(">HHII", tag, kind, 3, start)
        else:
            value = start + 6 if tag == 273 else value
            body += struct.pack(">HHI", tag, kind, 1) + (
                struct.pack(">HH", value, 0) if kind == 3 else struct.pack(">I", value)
            )
    return (
        b"MM"
        + struct.pack(">HIH", 42, 8, len(fields))
        + body
        + bytes(4)
        + struct.pack(">3H", 8, 8, 8)
        + picture.tobytes()
    )


def heifs(picture):
    shown = np.dstack([picture, alpha(picture.shape[1], picture.shape[0])])
    files = {}
    for suffix in ("heic", "avif"):
        for name, pixels in (("", picture), ("-alpha", shown)):
            kind = png.RGB if pixels.shape[2] == 3 else png.RGBA
            with tempfile.TemporaryDirectory() as folder:
                source, target = Path(folder, "in.png"), Path(folder, f"out.{suffix}")
                source.write_bytes(png.encode(pixels, kind))
                switch = ["--avif"] if suffix == "avif" else []
                tools.run("heif-enc", *switch, "-q", 70, "-o", target, source)
                files[f"{suffix}{name}.{suffix}"] = target.read_bytes()
        for bits in (8, 10):
            with tempfile.TemporaryDirectory() as folder:
                source, target = Path(folder, "in.png"), Path(folder, f"out.{suffix}")
                deep = picture.astype(np.uint16) * 257
                source.write_bytes(png.encode(picture if bits == 8 else deep, png.RGB, depth=8 if bits == 8 else 16))
                switch = ["--avif"] if suffix == "avif" else []
                tools.run("heif-enc", *switch, "-q", 70, "-b", bits, "-p", "chroma=422", "-o", target, source)
                files[f"{suffix}-422-{bits}-bit.{suffix}"] = target.read_bytes()
    # Stored lying on its side, as a phone that was held upright does it.
    stored = np.rot90(picture, -1)
    small = np.asarray(Image.fromarray(picture).resize((80, 60), Image.LANCZOS))
    files["heic-grid.heic"] = heif.phone(stored, 64, np.rot90(small, -1), turns=1)
    files["avif-pq-10-bit.avif"] = hdr.avif(picture)
    return files


def sizes():
    ramp = np.linspace(0, 255, 65500).astype(np.uint8)
    wide = np.dstack([ramp, ramp[::-1], np.full_like(ramp, 128)])
    tall = wide[:, ::6][:, :10000].swapaxes(0, 1)
    dot = np.full((1, 1, 3), (200, 80, 40), np.uint8)
    return {
        "size-1x1.jpg": jpeg.encode(dot, 90),
        "size-1x1.png": png.encode(dot, png.RGB),
        "size-1x1.gif": saved(dot, "GIF"),
        "size-1x1.webp": saved(dot, "WEBP", lossless=True),
        "size-1x10000.jpg": jpeg.encode(tall, 80),
        "size-1x10000.png": png.encode(tall, png.RGB),
        "size-65500x1.jpg": jpeg.encode(wide, 60),
        "size-65500x1.png": png.encode(wide, png.RGB),
        "size-65500x1-progressive.jpg": jpeg.encode(wide, 60, progressive=True),
        "size-17x13.jpg": jpeg.encode(chart()[40:53, 30:47], 90),
    }


SVG = """<svg xmlns="http://www.w3.org/2000/svg" width="160" height="120">
  <rect width="160" height="120" fill="#2040d0"/>
  <circle cx="80" cy="60" r="40" fill="#f0d020"/>
</svg>
"""


def others(picture):
    """A wrong name, formats left to the helper process, and what is refused."""
    image = Image.fromarray(picture)
    return {
        "png-named.jpg": png.encode(picture, png.RGB),
        "jpeg-named.png": jpeg.encode(picture, 90),
        "webp-without-suffix": saved(picture, "WEBP", quality=85),
        "bmp.bmp": saved(picture, "BMP"),
        "ico.ico": saved(image.resize((48, 48)), "ICO", sizes=[(48, 48)]),
        "jpeg2000.jp2": saved(picture, "JPEG2000", quality_layers=[20]),
        "jpeg-xl.jxl": vips_saved(picture, "jxl", "Q=90"),
        "radiance.hdr": radiance(picture),
        "openexr.exr": exr.encode(exr.linear(picture[::2, ::2])),
        "svg.svg": SVG.encode(),
        "svg-gzip.svgz": gzip.compress(SVG.encode(), mtime=0),
        "pdf.pdf": pdf(),
        "pnm.ppm": jpeg.portable_map(picture),
    }


def vips_saved(picture, suffix, options):
    """`picture` in a format that libvips writes and Pillow does not."""
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder) / "in.png", Path(folder) / f"out.{suffix}"
        source.write_bytes(png.encode(picture, png.RGB))
        tools.run("vips", "copy", source, f"{target}[{options}]")
        return target.read_bytes()


def radiance(picture):
    """Four bytes a pixel: red, green and blue of one common exponent, not compressed."""
    light = exr.linear(picture[::2, ::2])
    height, width, _ = light.shape
    exponent = np.ceil(np.log2(np.maximum(light.max(axis=2), 1e-9)))
    mantissa = np.clip(light / 2.0 ** exponent[..., None] * 256, 0, 255)
    pixels = np.dstack([mantissa, exponent + 128]).astype(np.uint8)
    header = f"#?RADIANCE\nFORMAT=32-bit_rle_rgbe\n\n-Y {height} +X {width}\n"
    return header.encode() + pixels.tobytes()


def pdf():
    """One page with a yellow square."""
    content = b"0.94 0.82 0.13 rg 20 20 80 80 re f"
    objects = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 120 120]/Contents 4 0 R>>",
        b"<</Length %d>>stream\n%s\nendstream" % (len(content), content),
    ]
    out, places = b"%PDF-1.4\n", []
    for number, body in enumerate(objects, 1):
        places.append(len(out))
        out += b"%d 0 obj%s endobj\n" % (number, body)
    table = b"xref\n0 5\n0000000000 65535 f \n" + b"".join(b"%010d 00000 n \n" % place for place in places)
    return out + table + b"trailer<</Size 5/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n" % len(out)
