"""How like thumbnails are to the images. Runs in the environment of worker.py.

Usage: quality.py contain|cover <TASKS      prints, as JSON, for each tool and image the scores and the size.
       TASKS is {"photos": [path, ...], "folders": {tool: folder, ...}}; a thumbnail is a JPEG file of its image's name.

The reference is the whole image, decoded without shrinking, turned upright, taken to sRGB by its profile, and resized
by libvips with Lanczos3 to the thumbnail's own size, so that a tool which rounds 170.6 down is not punished for what
nobody sees; once as the values are stored (display light), once in linear light. For `cover` it is resized to cover the
box, and cropped at the centre: where the middle falls between two pixels, at whichever of them the thumbnail is nearer
to. A thumbnail is read as a viewer does: upright, to sRGB by its profile.

Against each reference: SSIM by scikit-image over the three channels of sRGB (a window of 7x7, L = 255); the mean of
dE2000 over all pixels; and SSIMULACRA2 of PyPI's `ssimulacra2`. PSNR is over the three channels, in display light.

SSIMULACRA2 looks at six scales, each half of the one before, and stops where a side is below 8 pixels. Its weights are
then given to the wrong channels, so that a thumbnail with a side below 225 pixels gets a score that means something
else. Such a pair is mirrored to the right and downwards until both sides are long enough.
"""

import io
import itertools
import json
import math
import multiprocessing
import os
import pathlib
import sys

import numpy
import pyvips
from PIL import Image
from skimage.color import deltaE_ciede2000, rgb2lab
from skimage.metrics import structural_similarity
from ssimulacra2 import compute_ssimulacra2

LIGHTS = ("display", "linear")
# The shortest side that still has 8 pixels after five halvings, each rounded up.
ALL_SCALES = 225


def in_srgb(image):
    image = image.autorot()
    if image.get_typeof("icc-profile-data") != 0:
        image = image.icc_transform("srgb", embedded=True, intent="relative")
    return image.colourspace("srgb").cast("uchar").extract_band(0, n=3)


def reference_base(path, width, height, light):
    """The whole image resized to at least the size given; the same pixels however often it is read."""
    image = in_srgb(pyvips.Image.new_from_file(path))
    image = image.colourspace("scrgb") if light == "linear" else image.cast("float")
    small = image.resize(width / image.width, vscale=height / image.height, kernel="lanczos3", gap=0.0)
    if light == "linear":
        small = small.colourspace("srgb")
    return numpy.clip(small.rint().numpy(), 0, 255).astype(numpy.uint8)


def psnr(one, other):
    error = numpy.mean((one.astype(float) - other) ** 2)
    return 99.0 if error == 0 else 10 * math.log10(255**2 / error)


def ssim(one, other):
    return float(structural_similarity(one, other, channel_axis=2, data_range=255))


def difference(one, other):
    return float(deltaE_ciede2000(rgb2lab(one), rgb2lab(other)).mean())


def ssimulacra2(reference, image):
    files = []
    for pixels in (reference, image):
        spare = [(0, max(0, ALL_SCALES - side)) for side in pixels.shape[:2]]
        file = io.BytesIO()
        Image.fromarray(numpy.pad(pixels, [*spare, (0, 0)], mode="symmetric")).save(file, "png", compress_level=0)
        files.append(file)
    return compute_ssimulacra2(*files)


def crops(base, width, height):
    """The crops of that size whose middle is within half a pixel of the base's."""
    spare = base.shape[0] - height, base.shape[1] - width
    for top, left in itertools.product(*({extra // 2, (extra + 1) // 2} for extra in spare)):
        yield base[top : top + height, left : left + width]


class Photo:
    """An image with the references that its thumbnails need, each made once."""

    def __init__(self, path, fit):
        self.path, self.fit, self.bases = path, fit, {}
        upright = pyvips.Image.new_from_file(path).autorot()
        self.width, self.height = upright.width, upright.height

    def base(self, width, height, light):
        if self.fit == "cover":
            scale = max(width / self.width, height / self.height)
            width, height = max(width, round(self.width * scale)), max(height, round(self.height * scale))
        key = width, height, light
        if key not in self.bases:
            self.bases[key] = reference_base(self.path, *key)
        return self.bases[key]

    def score(self, thumbnail):
        image = in_srgb(pyvips.Image.new_from_file(thumbnail)).numpy()
        height, width = image.shape[:2]
        scores = {"size": [width, height]}
        for light in LIGHTS:
            wanted = crops(self.base(width, height, light), width, height)
            likeness, reference = max(((ssim(image, crop), crop) for crop in wanted), key=lambda pair: pair[0])
            scores[light] = {
                "ssim": likeness,
                "de": difference(image, reference),
                "ssimulacra2": ssimulacra2(reference, image),
            }
            if light == "display":
                scores["psnr"] = psnr(image, reference)
        return scores


def score_all(task):
    path, fit, folders = task
    photo = Photo(path, fit)
    name = f"{pathlib.Path(path).stem}.jpg"
    return {tool: photo.score(os.path.join(folder, name)) for tool, folder in folders.items()}


def main():
    fit = sys.argv[1]
    tasks = json.load(sys.stdin)
    with multiprocessing.Pool(len(os.sched_getaffinity(0))) as pool:
        found = pool.map(score_all, [(path, fit, tasks["folders"]) for path in tasks["photos"]], chunksize=1)
    names = [os.path.basename(path) for path in tasks["photos"]]
    json.dump({tool: {name: one[tool] for name, one in zip(names, found)} for tool in tasks["folders"]}, sys.stdout)


if __name__ == "__main__":
    main()
