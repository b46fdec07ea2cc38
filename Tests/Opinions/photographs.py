"""The formats of photographs, by Pillow and their own tools. All but the lossless ones may differ by what they lose."""

import shutil
import subprocess

import numpy as np
from PIL import Image

from picture import Case, alpha, colours, gray, on_white, shown


def cases(folder):
    return [*jpegs(folder), *webps(folder), *by_tools(folder)]


def jpegs(folder):
    found = []
    picture = Image.fromarray(colours())
    for quality in (50, 75, 95):
        for sampling, name in enumerate(("444", "422", "420")):
            for progressive in (False, True):
                kind = "progressive" if progressive else "baseline"
                path = folder / f"jpeg-{quality}-{name}-{kind}.jpg"
                picture.save(path, quality=quality, subsampling=sampling, progressive=progressive)
                # Chroma may be repeated or interpolated; what shows is compared with the program that wrote it.
                found.append(Case(path, on_white(Image.open(path)), 3 if sampling else 0.6))
        path = folder / f"jpeg-{quality}-gray.jpg"
        Image.fromarray(gray()).save(path, quality=quality)
        found.append(Case(path, on_white(Image.open(path))))
    return found


def webps(folder):
    found = []
    clear = Image.fromarray(np.dstack([colours(), alpha()]))
    for name, image, options in (
        ("lossy", Image.fromarray(colours()), {"quality": 80}),
        ("lossy-alpha", clear, {"quality": 80}),
        ("lossless", Image.fromarray(colours()), {"lossless": True}),
        ("lossless-alpha", clear, {"lossless": True, "exact": True}),
    ):
        path = folder / f"webp-{name}.webp"
        image.save(path, **options)
        found.append(Case(path, on_white(Image.open(path)), 2 if name == "lossy" else 0.6))
    return found


def by_tools(folder):
    """AVIF, HEIC and JPEG XL, where their tools are."""
    found = []
    clear = np.dstack([colours(), alpha()])
    sources = {
        "rgb": (colours(), shown(colours())),
        "gray": (gray(), shown(gray())),
        "rgba": (clear, shown(clear[:, :, :3], alpha())),
    }
    for name, (samples, expected) in sources.items():
        source = folder.parent / f"{name}.png"
        Image.fromarray(samples).save(source)
        commands = {}
        if shutil.which("avifenc"):
            for sampling in ("444", "420"):
                for depth in ("8", "10"):
                    commands[f"avif-{name}-{sampling}-{depth}.avif"] = [
                        "avifenc", "-s", "8", "--min", "0", "--max", "8", "-y", sampling, "-d", depth, source,
                    ]
        if shutil.which("cjxl"):
            commands[f"jxl-{name}-lossless.jxl"] = ["cjxl", "-d", "0", source]
            commands[f"jxl-{name}-lossy.jxl"] = ["cjxl", "-d", "1", source]
        for file, command in commands.items():
            path = folder / file
            subprocess.run([*command, path], check=True, capture_output=True)
            lossless = file.endswith("lossless.jxl")
            found.append(Case(path, expected, 0.6 if lossless else 4))
        if shutil.which("heif-enc") and name != "gray":
            path = folder / f"heic-{name}.heic"
            subprocess.run(["heif-enc", "-q", "95", "-o", path, source], check=True, capture_output=True)
            found.append(Case(path, expected, 4))
    return found
