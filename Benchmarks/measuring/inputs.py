"""Makes images of other sizes and formats from photographs. Runs in the environment of worker.py.

Usage: inputs.py PHOTOS OUTPUT      makes the folders of MADE in OUTPUT; those that are there already are left.

The web-size JPEGs are different parts of the photographs, as a photo service sends them, with chroma halved or whole
(444); webp-1000 are such parts as WebP. camera are JPEGs as cameras write them: baseline, of 8 to 48 megapixels, mostly
4:2:0, with high quality and the noise of a sensor. The other formats are whole photographs of 3000 px (GIF: 1200 px); a HEIC is one
image without tiles.
"""

import random
import sys
from pathlib import Path

import pyvips

# Of which folder, how many images there are.
MADE = {"camera": 32, "1000x750": 200, "1000x750-444": 200, "500x375": 2000, "200x150": 2000, "96x72": 2000, "webp-1000": 100}
MADE |= {"png": 8, "gif": 8, "tiff": 8, "webp": 8, "webp-lossless": 8, "avif": 8, "heic": 8}
FORMATS = {
    "png": ("png", {"compression": 6}),
    "tiff": ("tif", {"compression": "lzw", "predictor": "horizontal"}),
    "webp": ("webp", {"Q": 80}),
    "webp-lossless": ("webp", {"lossless": True}),
    "avif": ("avif", {"Q": 60, "compression": "av1", "effort": 0}),
    "heic": ("heic", {}),
    "gif": ("gif", {}),
}
PARTS = {
    "1000x750-444": (1000, 750, "jpg", {"Q": 92, "subsample_mode": "off"}),
    "webp-1000": (1000, 750, "webp", {"Q": 80}),
}


# Width and height, in turn.
CAMERAS = [(3264, 2448), (4032, 3024), (6000, 4000), (8064, 6048)]


def in_srgb(image):
    return image.colourspace("srgb")[0:3].copy_memory()


def web_size(photos, folder, number):
    """A part of a photograph, from a place that the number alone decides."""
    plain = (*map(int, folder.name.split("x")), "jpg", {"Q": 85}) if folder.name not in PARTS else None
    width, height, end, options = plain or PARTS[folder.name]
    place = random.Random(number)
    photo = str(photos[number % len(photos)])
    larger = in_srgb(pyvips.Image.thumbnail(photo, int(width * 1.5), height=int(height * 1.5), crop="centre"))
    left, top = place.randrange(larger.width - width), place.randrange(larger.height - height)
    larger.crop(left, top, width, height).write_to_file(f"{folder}/{number:04}.{end}", strip=True, **options)


def of_camera(photos, folder, number):
    width, height = CAMERAS[number % len(CAMERAS)]
    photo = str(photos[number % len(photos)])
    image = in_srgb(pyvips.Image.thumbnail(photo, width, height=height, crop="centre"))
    noise = pyvips.Image.gaussnoise(width, height, sigma=2 + number % 3, seed=number)
    options = {"Q": 90 + number % 7, "subsample_mode": "off" if number % 8 == 7 else "on"}
    (image + noise).cast("uchar").write_to_file(f"{folder}/{number:02}.jpg", strip=True, **options)


def other_format(photos, folder, number):
    end, options = FORMATS[folder.name]
    photo = str(photos[number * len(photos) // MADE[folder.name]])
    side = 1200 if end == "gif" else 3000
    image = in_srgb(pyvips.Image.thumbnail(photo, side, height=side, size="down"))
    if end == "heic":
        return write_heic(image, f"{folder}/{number}.{end}")
    image.write_to_file(f"{folder}/{number}.{end}", strip=True, **options)


def write_heic(image, path):
    """The libvips of PyPI writes no HEVC."""
    import pillow_heif

    data = (image.width, image.height), image.write_to_memory()
    pillow_heif.from_bytes("RGB", *data).save(path, quality=60)


def main():
    photos = sorted(Path(sys.argv[1]).glob("*.jpg"))
    for name, count in MADE.items():
        folder = Path(sys.argv[2], name)
        if folder.exists():
            continue
        partial = folder.with_name(f"{name}.partial") / name
        partial.mkdir(parents=True, exist_ok=True)
        for number in range(count):
            make = of_camera if name == "camera" else other_format if name in FORMATS else web_size
            make(photos, partial, number)
        partial.rename(folder)
        partial.parent.rmdir()


if __name__ == "__main__":
    main()
