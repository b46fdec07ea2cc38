#!/usr/bin/env python3
"""Asks a second opinion of every reader: makes files of known pictures in every variant, has thumbs convert them, and
compares the result with the picture itself and with what other programs read.

    opinions.py THUMBS [--all] [GROUP ...]

A difference from the picture is a failure. Other programs are asked until one agrees, with --all every one. If one
disagrees and none agrees (with --all: if one disagrees), that is a failure, unless LISTED says who is right, and why.
Programs that are not installed are not asked. With --all each file that is made here is converted twice, and both
results must be the same bytes. The group "corpus" is the pictures of the folder OPINIONS_CORPUS. Ends with the number
of files, and 1 if there was a failure.
"""

import io
import json
import shutil
import subprocess
import sys
import tempfile
import warnings
from fnmatch import fnmatch
from pathlib import Path

import numpy as np
from PIL import Image, ImageCms

import corpus
import drawings
import jpeg2000
import light
import others
import photographs
import tiff
from picture import on_white

GROUPS = {
    "jpeg2000": jpeg2000.cases,
    "tiff": tiff.cases,
    "others": others.cases,
    "drawings": drawings.cases,
    "light": light.cases,
    "photographs": photographs.cases,
    "corpus": corpus.cases,
}

# (pattern of the file's name, program or "" for all, reason). Ours is what the case expects.
LISTED = [
    ("jp2-*", "pillow", "it takes 16 bits for 8, and shows no palette, no chroma and no offsets"),
    ("jp2-*", "magick", "it takes alpha and chroma for colours, and counts the offset as a part of the picture"),
    ("tif-float-rgb*", "", "floating-point RGB is linear light, as for libvips, Photoshop and GIMP; others show it as it is"),
    ("rgb32f_*.tiff", "magick", "floating-point RGB is linear light, which it shows as it is"),
    ("cmyk_u8_*_case.tif", "", "colours by a profile of printing inks, not by 1 - ink"),
    ("tif-x-*", "", "an unspecified sample is no alpha (TIFF 6.0, ExtraSamples); others take a fourth one for it"),
    ("tif-ycc*", "ffmpeg", "it takes chroma for that of video"),
    ("tif-cmyk*", "", "colours by a profile of printing inks, not by 1 - ink"),
    ("tif-signed-gray-i2*", "magick", "it adds 32,768 to 16 bits, but not to 8 or 32"),
    ("tif-signed-gray-below-i2*", "", "what is below zero is black; others show it as bright or shifted"),
    ("tif-float-gray*", "magick", "it clips at 1 what was made from 8 bits or measured"),
    ("tif-*", "ffmpeg", "it reads no tiles, no 32 bits, no floating point and no planes in tiles"),
    ("tif-*", "pillow", "it reads no 16-bit RGB, no 32 bits, no signed samples, no planes of more than 8 bits"),
    ("tif-u4*", "magick", "it takes alpha of 32 bits for its inverse"),
    ("gif-beside*", "", "what a frame does not cover is transparent, as in browsers; others paint it black"),
    ("border_touching_layers.gif", "", "what a frame does not cover is transparent, as in browsers; others paint it black"),
    ("issue_1455_undersized.gif", "", "what a frame does not cover is transparent, as in browsers; others paint it black"),
    ("png-exif*", "", "others do not turn a PNG by its eXIf chunk, or not by a late one"),
    ("gray-[24]-*tRNS.png", "", "the clear level has as many bits as the samples (PNG 11.3.1.1); others compare it with 8 bits"),
    ("V5_A1_R5_G5_B5.bmp", "", "the header names a mask for alpha of one bit, which others ignore"),
    ("jpeg-*", "ffmpeg", "it repeats chroma of fewer samples where others interpolate"),
    ("webp-*", "ffmpeg", "it repeats chroma of fewer samples where others interpolate"),
    ("avif-rgb-*", "ffmpeg", "it repeats chroma of fewer samples where others interpolate"),
    ("avif-rgba-*", "magick", "it reads no alpha"),
    ("avif-rgba-*", "ffmpeg", "it reads no alpha"),
    ("heic-rgba*", "magick", "it reads no alpha"),
    ("with-alpha-*.heic", "magick", "it reads no alpha"),
    ("multiple_entries_with_different_bit_depth.ico", "", "of equal sizes the one with the most colours is the best"),
    ("bmp_v5_with_icc.ico", "", "others take the profile behind the pixels for a mask, and show holes"),
    ("ico-*", "magick", "it takes luminance for alpha, or another of the icons"),
    ("svg-*", "magick", "its own drawing adds outlines, and knows no opacity and no style sheets"),
    ("svg-clear*", "ffmpeg", "it divides by alpha what lies half over nothing"),
    ("pdf-image*", "pdftoppm", "it stretches a picture by a pixel to each side"),
    ("*.hdr", "magick", "it shows linear light as it is"),
    ("*.exr", "magick", "it shows linear light as it is"),
    ("*.exr", "ffmpeg", "it shows linear light as it is"),
    ("ico-*", "ffmpeg", "it shows the first icon, not the largest"),
]


# Of this picture, as fine as its pixels, the filters of wavelets let far more through than Lanczos does.
MOST_OF_REDUCED = 13


# Programs beside Pillow: which files each one is asked about, and its command. SOURCE, TARGET, WIDTH and HEIGHT (of our
# result) are replaced.
PROGRAMS = [
    ("opj_decompress", "*.jp2 *.j2k *.jpx", "opj_decompress -i SOURCE -o TARGET -upsample"),
    ("avifdec", "*.avif", "avifdec --no-strict SOURCE TARGET"),
    ("djxl", "*.jxl", "djxl SOURCE TARGET"),
    ("heif-convert", "*.heic", "heif-convert SOURCE TARGET"),
    ("rsvg-convert", "*.svg", "rsvg-convert -w WIDTH -h HEIGHT SOURCE -o TARGET"),
    ("pdftoppm", "*.pdf", "pdftoppm -png -singlefile -r 72 SOURCE STEM"),
    ("gs", "*.pdf", "gs -q -dNOPAUSE -dBATCH -sDEVICE=png16m -r72 -o TARGET SOURCE"),
    ("magick", "*", "convert-im6.q16 SOURCE[0] -auto-orient -depth 8 TARGET"),
    ("ffmpeg", "*", "ffmpeg -v error -y -i SOURCE -frames:v 1 TARGET"),
]


def opinions(case, shape):
    """What other programs read: pairs of a name and an array of red, green and blue, or None."""
    yield "pillow", pillow(case.path)
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "read.png"
        words = {
            "SOURCE": case.path, "TARGET": target, "STEM": target.with_suffix(""), "HEIGHT": shape[0], "WIDTH": shape[1]
        }
        for name, patterns, command in PROGRAMS:
            command = command.split()
            if shutil.which(command[0]) is None or not any(fnmatch(case.name, part) for part in patterns.split()):
                continue
            for word, value in words.items():
                command = [part.replace(word, str(value)) for part in command]
            target.unlink(missing_ok=True)
            subprocess.run(command, capture_output=True, check=False)
            yield name, pillow(target) if target.exists() else None


def pillow(path):
    try:
        with Image.open(path) as image:
            return on_white(managed(image))
    except (OSError, ValueError, SyntaxError):
        return None


def managed(image):
    """The picture in sRGB, by its profile."""
    profile = image.info.get("icc_profile")
    if not profile or image.mode not in ("RGB", "RGBA", "CMYK", "L"):
        return image
    mode = "RGBA" if image.mode == "RGBA" else "RGB"
    try:
        shown = ImageCms.profileToProfile(
            image, ImageCms.ImageCmsProfile(io.BytesIO(profile)), ImageCms.createProfile("sRGB"), 1, mode)
    except (ImageCms.PyCMSError, OSError):
        return image
    shown.getexif().update(image.getexif())
    return shown


def convert(thumbs, cases, target, size="9000x9000"):
    """The results by source: a path, or the error's message. A drawing is made at its own size."""
    found = {}
    for drawn in (False, True):
        paths = [str(case.path) for case in cases if (case.path.suffix.lower() in (".svg", ".pdf")) == drawn]
        box = "151x151" if drawn and size == "9000x9000" else size
        command = [thumbs, "convert", *paths, "--size", box, "--format", "png", "-o", f"{target}-{drawn}", "--json"]
        run = subprocess.run(command, capture_output=True, text=True, check=False) if paths else None
        for line in run.stdout.splitlines() if run else []:
            entry = json.loads(line)
            if "source" in entry:
                outputs = entry["outputs"]
                found[entry["source"]] = Path(outputs[0]["path"]) if outputs else entry["error"]["message"]
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


def judge(case, first, second, small, asks_all):
    """The failures of one file, and how many opinions were listed as wrong."""
    made = first.get(str(case.path), "no result")
    if case.refusal:
        refused = case.refusal in str(made)
        return [] if refused else [f"{case.name}: {made} instead of a refusal: {case.refusal}"], 0
    if isinstance(made, str):
        return [f"{case.name}: {made}"], 0
    failures = []
    if case.expected is not None and made.read_bytes() != Path(str(second[str(case.path)])).read_bytes():
        failures.append(f"{case.name}: two conversions give two pictures")
    ours = pillow(made)
    if case.expected is not None:
        found = difference(ours, case.expected)
        if found is None or found > case.tolerance:
            failures.append(f"{case.name}: differs from the picture by {found}, {ours.shape}")
        if ours.shape[1] > 80:
            failures += check_reduced(case, small.get(str(case.path), "no result"))
    wrong = []
    for program, theirs in opinions(case, ours.shape):
        found = difference(ours, theirs)
        if theirs is None:
            continue
        if found is None or found > max(case.tolerance, 1):
            wrong.append((program, found))
        elif not asks_all:
            return failures, 0
    listed = 0
    for program, found in wrong:
        if any(fnmatch(case.name, pattern) and name in ("", program) for pattern, name, _ in LISTED):
            listed += 1
        else:
            failures.append(f"{case.name}: {program} reads another picture, {found}")
    return failures, listed


def main():
    warnings.simplefilter("ignore")
    Image.MAX_IMAGE_PIXELS = None
    thumbs = sys.argv[1]
    asks_all = "--all" in sys.argv
    groups = [name for name in sys.argv[2:] if name != "--all"] or list(GROUPS)
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        (folder / "made").mkdir()
        cases = [case for name in groups for case in GROUPS[name](folder / "made")]
        made = [case for case in cases if case.expected is not None]
        first = convert(thumbs, cases, folder / "one")
        second = convert(thumbs, made, folder / "two") if asks_all else first
        small = convert(thumbs, made, folder / "small", "16x16")
        judged = [judge(case, first, second, small, asks_all) for case in cases]
    failures = [failure for found, _ in judged for failure in found]
    print("\n".join(failures))
    listed = sum(count for _, count in judged)
    print(f"{len(cases)} files, {len(failures)} failures, {listed} opinions that are listed as wrong")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
