"""Makes images of other sizes and formats from photographs. Runs in the environment of worker.py.

Usage: inputs.py PHOTOS OUTPUT      makes the folders of MADE in OUTPUT; those that are there already are left.

The web-size JPEGs are different parts of the photographs, as a photo service sends them; the other formats are whole
photographs of 3000 px (GIF: 1200 px).
"""

import random
import sys
from pathlib import Path

import pyvips

# Of which folder, how many images there are.
MADE = {"1000x750": 200, "500x375": 200, "96x72": 400, "png": 8, "gif": 8, "tiff": 8, "webp": 8, "avif": 8}
FORMATS = {
    "png": ("png", {"compression": 6}),
    "tiff": ("tif", {"compression": "lzw", "predictor": "horizontal"}),
    "webp": ("webp", {"Q": 80}),
    "avif": ("avif", {"Q": 60, "compression": "av1", "effort": 0}),
    "gif": ("gif", {}),
}


def in_srgb(image):
    return image.colourspace("srgb")[0:3].copy_memory()


def web_size(photos, folder, number):
    """A part of a photograph, from a place that the number alone decides."""
    width, height = map(int, folder.name.split("x"))
    place = random.Random(number)
    photo = str(photos[number % len(photos)])
    larger = in_srgb(pyvips.Image.thumbnail(photo, int(width * 1.5), height=int(height * 1.5), crop="centre"))
    left, top = place.randrange(larger.width - width), place.randrange(larger.height - height)
    larger.crop(left, top, width, height).jpegsave(f"{folder}/{number:03}.jpg", Q=85, strip=True)


def other_format(photos, folder, number):
    end, options = FORMATS[folder.name]
    photo = str(photos[number * len(photos) // MADE[folder.name]])
    side = 1200 if end == "gif" else 3000
    image = in_srgb(pyvips.Image.thumbnail(photo, side, height=side, size="down"))
    image.write_to_file(f"{folder}/{number}.{end}", strip=True, **options)


def main():
    photos = sorted(Path(sys.argv[1]).glob("*.jpg"))
    for name, count in MADE.items():
        folder = Path(sys.argv[2], name)
        if folder.exists():
            continue
        partial = folder.with_name(f"{name}.partial") / name
        partial.mkdir(parents=True, exist_ok=True)
        for number in range(count):
            (other_format if name in FORMATS else web_size)(photos, partial, number)
        partial.rename(folder)
        partial.parent.rmdir()


if __name__ == "__main__":
    main()
