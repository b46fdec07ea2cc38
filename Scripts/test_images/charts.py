"""The two small pictures that the format files hold: one to compare colours, one to see which way is up."""

import numpy as np
from PIL import Image, ImageDraw

from .noise import fractal

PATCHES = (
    "#ffffff",
    "#808080",
    "#000000",
    "#e02020",
    "#20b030",
    "#2040d0",
    "#f0d020",
    "#20b0c0",
    "#c030a0",
    "#e8b898",
    "#704020",
    "#f08020",
)


def chart(width=160, height=120):
    """Twelve colours above a grey ramp and a patch of texture: the same in every format, to compare."""
    image = Image.new("RGB", (width, height))
    pen = ImageDraw.Draw(image)
    for index, colour in enumerate(PATCHES):
        x, y = index % 4 * width // 4, index // 4 * height // 4
        pen.rectangle([x, y, x + width // 4 - 1, y + height // 4 - 1], fill=colour)
    pixels = np.array(image)
    top = height * 3 // 4
    pixels[top:, : width // 2] = np.linspace(0, 255, width // 2).astype(np.uint8)[None, :, None]
    texture = fractal(77, 1.2)[: height - top, : width - width // 2]
    tint = np.array([0.9, 1.0, 0.7])
    pixels[top:, width // 2 :] = np.clip((128 + 40 * texture)[..., None] * tint, 0, 255).astype(np.uint8)
    return pixels


def alpha(width=160, height=120):
    """Opaque in an ellipse, clear in the corners, a slope of a few pixels between them."""
    y, x = np.mgrid[0:height, 0:width]
    away = np.hypot((x - width / 2 + 0.5) / (width / 2), (y - height / 2 + 0.5) / (height / 2))
    return np.clip((1.05 - away) * 1020, 0, 255).astype(np.uint8)


def letter(width=96, height=144):
    """A black F on white; corners red, green (above), blue, yellow (below), from the left."""
    pixels = np.full((height, width, 3), 255, np.uint8)
    corner = 24
    pixels[:corner, :corner] = (220, 30, 30)
    pixels[:corner, -corner:] = (30, 160, 50)
    pixels[-corner:, :corner] = (30, 60, 210)
    pixels[-corner:, -corner:] = (240, 210, 30)
    pixels[32:112, 32:46] = 0
    pixels[32:46, 32:72] = 0
    pixels[64:78, 32:62] = 0
    return pixels
