#!/usr/bin/env python3
"""Asks a second opinion of every reader: makes files of known pictures in every variant, has thumbs convert them, and
compares the result with the picture itself and with what other programs read.

    opinions.py THUMBS [FORMAT ...]

Each file is converted twice, and both results must be the same bytes. A difference from the picture is a failure. A
difference from another program is a failure too, unless LISTED says who is right, and why. Programs that are not
installed are not asked. Ends with the number of files, and 1 if there was a failure.
"""

import json
import shutil
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np
from PIL import Image

import jpeg2000
import others
import photographs
import tiff
from picture import Case, on_white

FORMATS = {"jpeg2000": jpeg2000.cases, "tiff": tiff.cases, "others": others.cases, "photographs": photographs.cases}

# (part of the file's name, program, reason). Ours is what the case expects.
LISTED = [
    ("jp2-ycc", "ffmpeg", "its conversion from chroma of fewer samples interpolates, and it drops the image's offset"),
    ("jp2-", "pillow", "it takes 16 bits for 8, and shows no palette, no chroma and no offsets"),
    ("jp2-g4", "ffmpeg", "it shows 4 bits as 8"),
    ("jp2-bw", "ffmpeg", "it shows one bit as 8"),
    ("jp2-ycc", "opj_decompress", "its -upsample leaves the first row and column of an odd offset without chroma"),
    ("tif-float-rgb", "", "floating-point RGB is linear light, as for libvips, Photoshop and GIMP; others show it as it is"),
    ("tif-x-", "", "an unspecified sample is no alpha (TIFF 6.0, ExtraSamples); others take a fourth one for it"),
    ("tif-ycc", "ffmpeg", "it takes chroma for that of video"),
    ("tif-cmyk", "", "colours by a profile of printing inks, not by 1 - ink"),
    ("tif-signed-gray-i2", "magick", "it adds 32,768 to 16 bits, but not to 8 or 32"),
    ("tif-signed-gray-below-i2", "", "what is below zero is black; others show it as bright or shifted"),
    ("tif-float-gray", "magick", "it clips at 1 what was made from 8 bits or measured"),
    ("tif-", "ffmpeg", "it reads no tiles, no 32 bits, no floating point and no planes in tiles"),
    ("tif-", "pillow", "it reads no 16-bit RGB, no 32 bits, no signed samples, no planes of more than 8 bits"),
    ("tif-u4", "magick", "it takes alpha of 32 bits for its inverse"),
    ("gif-beside", "", "what a frame does not cover is transparent, as in browsers; others paint it black"),
    ("pnm-float", "", "PFM is linear light (Debevec); others show it as it is"),
    ("png-exif", "", "others do not turn a PNG by its eXIf chunk, or not by a late one"),
    ("jpeg-", "ffmpeg", "it repeats chroma of fewer samples where others interpolate"),
    ("webp-", "ffmpeg", "it repeats chroma of fewer samples where others interpolate"),
    ("avif-rgb-", "ffmpeg", "it repeats chroma of fewer samples where others interpolate"),
    ("avif-rgba-", "magick", "it reads no alpha"),
    ("avif-rgba-", "ffmpeg", "it reads no alpha"),
    ("heic-rgba", "magick", "it reads no alpha"),
    ("ico-", "magick", "it takes luminance for alpha, or another of the icons"),
    ("ico-", "ffmpeg", "it shows the first icon, not the largest"),
]


# Of this picture, as fine as its pixels, the filters of wavelets let far more through than Lanczos does.
MOST_OF_REDUCED = 13


def opinions(case):
    """What other programs read: pairs of a name and an array of red, green and blue, or None."""
    yield "pillow", pillow(case.path)
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "read.png"
        for name, command in {
            "opj_decompress": ["opj_decompress", "-i", case.path, "-o", target, "-upsample"],
            "magick": ["convert-im6.q16", f"{case.path}[0]", "-auto-orient", "-depth", "8", target],
            "ffmpeg": ["ffmpeg", "-v", "error", "-y", "-i", case.path, "-frames:v", "1", target],
        }.items():
            if (name == "opj_decompress") != (case.name.startswith("jp2")) and name != "ffmpeg":
                continue
            if shutil.which(command[0]) is None:
                continue
            target.unlink(missing_ok=True)
            subprocess.run(command, capture_output=True, check=False)
            yield name, pillow(target) if target.exists() else None


def pillow(path):
    try:
        with Image.open(path) as image:
            return on_white(image)
    except (OSError, ValueError, SyntaxError):
        return None


def convert(thumbs, folder, target, size="4000x4000"):
    """The results by source: a path, or the error's message."""
    command = [thumbs, "convert", folder, "--size", size, "--format", "png", "-o", target, "--json"]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    found = {}
    for line in run.stdout.splitlines():
        entry = json.loads(line)
        if "source" in entry:
            outputs = entry["outputs"]
            found[Path(entry["source"]).name] = Path(outputs[0]["path"]) if outputs else entry["error"]["message"]
    return found


def reduced(picture, size):
    return np.asarray(Image.fromarray(picture.round().astype(np.uint8)).resize(size, Image.LANCZOS)).astype(float)


def difference(one, other):
    if one is None or other is None or one.shape != other.shape:
        return None
    return float(np.abs(one - other).mean())


def check_reduced(case, made):
    """A thumbnail may be made of a reduced form of the file, and still shows the same."""
    if isinstance(made, str):
        return [f"{case.name}: reduced, {made}"]
    ours = pillow(made)
    found = difference(ours, reduced(case.expected, ours.shape[1::-1]))
    return [] if found is not None and found <= MOST_OF_REDUCED else [f"{case.name}: reduced, differs by {found}"]


def main():
    warnings.simplefilter("ignore")
    thumbs, names = sys.argv[1], sys.argv[2:] or list(FORMATS)
    failures, count, listed = [], 0, 0
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        (folder / "made").mkdir()
        cases = [case for name in names for case in FORMATS[name](folder / "made")]
        count = len(cases)
        first, second = (convert(thumbs, folder / "made", folder / name) for name in ("one", "two"))
        small = convert(thumbs, folder / "made", folder / "small", "16x16")
        for case in cases:
            made = first.get(case.path.name, "no result")
            if case.refusal:
                if case.refusal not in str(made):
                    failures.append(f"{case.name}: {made} instead of a refusal: {case.refusal}")
                continue
            if isinstance(made, str):
                failures.append(f"{case.name}: {made}")
                continue
            if made.read_bytes() != Path(str(second[case.path.name])).read_bytes():
                failures.append(f"{case.name}: two conversions give two pictures")
            ours = pillow(made)
            if case.expected is not None:
                found = difference(ours, case.expected)
                if found is None or found > case.tolerance:
                    failures.append(f"{case.name}: differs from the picture by {found}, {ours.shape}")
                if ours.shape[1] > 80:
                    failures += check_reduced(case, small.get(case.path.name, "no result"))
            for program, theirs in opinions(case):
                found = difference(ours, theirs)
                if theirs is None or found is not None and found <= max(case.tolerance, 1):
                    continue
                if any(case.name.startswith(part) and name in ("", program) for part, name, _ in LISTED):
                    listed += 1
                else:
                    failures.append(f"{case.name}: {program} reads another picture, {found}")
    print("\n".join(failures))
    print(f"{count} files, {len(failures)} failures, {listed} opinions that are listed as wrong")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
