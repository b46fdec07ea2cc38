"""Paints the scenes and stores each as its format asks."""

import io

import numpy as np
from PIL import Image

from . import jpeg
from . import lakes, elsewhere  # noqa: F401: each adds its scenes to SCENES, in this order
from .scene import SCENES

BAND = 256


def develop(picture, size, grain, seed):
    """A float picture as uint8 at full size, with the grain of a sensor; band by band, for its memory."""
    width, height = size
    image = Image.fromarray((np.clip(picture, 0, 1) * 255 + 0.5).astype(np.uint8))
    if image.size != (width, height):
        image = image.resize((width, height), Image.Resampling.BICUBIC)
    pixels = np.array(image)
    if grain == 0:
        return pixels
    rng = np.random.default_rng(seed)
    for top in range(0, height, BAND):
        band = pixels[top : top + BAND].astype(np.float32)
        # Sensors are noisier in the shadows, and luma and chroma differ.
        noise = rng.standard_normal(band.shape[:2], dtype=np.float32)[..., None]
        noise = noise + 0.3 * rng.standard_normal(band.shape, dtype=np.float32)
        band += noise * grain * (1.15 - 0.5 * band.mean(axis=2, keepdims=True) / 255)
        pixels[top : top + BAND] = np.clip(band + 0.5, 0, 255).astype(np.uint8)
    return pixels


def store(scene, pixels):
    """The bytes of the scene's file, in the format its name says."""
    options = dict(scene.store)
    if scene.name.endswith(".webp"):
        out = io.BytesIO()
        Image.fromarray(pixels).save(out, "WEBP", quality=scene.quality, method=4)
        return out.getvalue()
    if scene.name.endswith(".png"):
        out = io.BytesIO()
        flat = Image.fromarray(pixels).quantize(options["palette"], dither=Image.Dither.NONE)
        flat.save(out, "PNG", optimize=True)
        return out.getvalue()
    orientation = options.pop("orientation", None)
    if options.pop("gray", False):
        pixels = np.asarray(Image.fromarray(pixels).convert("L"))
    if orientation:
        pixels = jpeg.stored_for(pixels, orientation)
    if options.pop("separate_dc", False):
        options["scans"] = jpeg.SEPARATE_DC
    data = jpeg.encode(pixels, scene.quality, **options)
    return jpeg.with_exif(data, orientation=orientation) if orientation else data


def make(folder, wanted=""):
    for index, scene in enumerate(SCENES):
        if wanted not in scene.name:
            continue
        width, height = scene.size
        work = (round(width * scene.detail), round(height * scene.detail))
        pixels = develop(scene.paint(work), scene.size, scene.grain, 1000 + index)
        path = folder / scene.name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(store(scene, pixels))
        print(f"{path.stat().st_size / 1000:8.0f} kB  {width}×{height}  {scene.name}", flush=True)
