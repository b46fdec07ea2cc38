"""The picture that all files show, and what a case is."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PIL import Image, ImageOps

SIZE = (151, 103)


@dataclass
class Case:
    """A file, and the picture that it shows as an array of red, green and blue on white; None if only others know."""

    path: Path
    expected: np.ndarray | None
    tolerance: float = 0.6
    # What the error says, for files that no reader supports.
    refusal: str = ""

    @property
    def name(self):
        return self.path.name


def colours():
    """Red, green and blue from 0 to 255: smooth and detailed parts, saturated colours, black and white."""
    across, down = np.meshgrid(np.linspace(0, 1, SIZE[0]), np.linspace(0, 1, SIZE[1]))
    waves = 0.5 + 0.5 * np.sin(40 * across**2 + 25 * down)
    picture = np.dstack([across, waves * down, 1 - across * down])
    picture[10:30, 20:50] = (1, 0, 0)
    picture[40:60, 70:100] = (0, 0, 0)
    picture[70:95, 110:140] = (1, 1, 1)
    return np.round(picture * 255).astype(np.uint8)


def gray():
    return np.asarray(Image.fromarray(colours()).convert("L"))


def alpha():
    return np.tile(np.linspace(0, 255, SIZE[0]).round().astype(np.uint8), (SIZE[1], 1))


def shown(samples, opacity=None):
    """Samples from 0 to 255, gray or colours, on white."""
    samples = np.asarray(samples, dtype=float)
    if samples.ndim == 2:
        samples = np.repeat(samples[:, :, None], 3, axis=2)
    if opacity is None:
        return samples
    part = np.asarray(opacity, dtype=float)[:, :, None] / 255
    return samples * part + 255 * (1 - part)


def on_white(image):
    """A picture as it is seen: upright, red, green and blue from 0 to 255, on white."""
    image = ImageOps.exif_transpose(image)
    if image.mode in ("I;16", "I;16B", "I"):
        return shown(np.asarray(image).astype(float) / 257)
    image = image.convert("RGBA")
    white = Image.new("RGBA", image.size, (255, 255, 255, 255))
    white.alpha_composite(image)
    return np.asarray(white.convert("RGB")).astype(float)
