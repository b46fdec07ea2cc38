"""How like thumbnails are to the pictures. Runs in the environment of worker.py.

Usage: quality.py contain|cover <TASKS      prints, as JSON, for each tool and picture the PSNR, the SSIM and the size.
       TASKS is {"photos": [path, ...], "folders": {tool: folder, ...}}; a thumbnail has its photo's name.

The reference is the whole photograph, decoded without shrinking, turned upright, taken to sRGB by its profile, and
resized by libvips with Lanczos3 to the thumbnail's own size, so that a tool which rounds 170.6 down is not punished for
what nobody sees. For `cover` it is resized to cover the box, and cropped at the centre: where the middle falls between
two pixels, at whichever of them the thumbnail is nearer to. A thumbnail is read as a viewer does: upright, to sRGB by
its profile.

PSNR is over the three channels of sRGB. SSIM is over luma (0.299 R + 0.587 G + 0.114 B) with a Gaussian window of
11x11, sigma 1.5, K1 = 0.01, K2 = 0.03, L = 255, averaged over the windows that lie wholly within the picture.
"""

import itertools
import json
import math
import os
import sys

import numpy
import pyvips


def in_srgb(image):
    image = image.autorot()
    if image.get_typeof("icc-profile-data") != 0:
        image = image.icc_transform("srgb", embedded=True, intent="relative")
    return image.colourspace("srgb").extract_band(0, n=3)


def reference_base(path, width, height):
    """The whole photograph resized to at least the size given; the same pixels however often it is read."""
    image = in_srgb(pyvips.Image.new_from_file(path))
    return image.resize(width / image.width, vscale=height / image.height, kernel="lanczos3").numpy().astype(float)


def psnr(one, other):
    error = numpy.mean((one - other) ** 2)
    return 99.0 if error == 0 else 10 * math.log10(255**2 / error)


def blurred(plane):
    """A plane under the Gaussian window, without the border where the window would hang over."""
    steps = numpy.exp(-(numpy.arange(-5, 6) ** 2) / (2 * 1.5**2))
    steps /= steps.sum()
    rows = sum(weight * plane[index : plane.shape[0] - 10 + index] for index, weight in enumerate(steps))
    return sum(weight * rows[:, index : rows.shape[1] - 10 + index] for index, weight in enumerate(steps))


def ssim(one, other):
    luma = numpy.array([0.299, 0.587, 0.114])
    x, y = one @ luma, other @ luma
    c1, c2 = (0.01 * 255) ** 2, (0.03 * 255) ** 2
    mean_x, mean_y = blurred(x), blurred(y)
    var_x, var_y = blurred(x * x) - mean_x**2, blurred(y * y) - mean_y**2
    both = blurred(x * y) - mean_x * mean_y
    scores = ((2 * mean_x * mean_y + c1) * (2 * both + c2)) / ((mean_x**2 + mean_y**2 + c1) * (var_x + var_y + c2))
    return float(scores.mean())


def crops(base, width, height):
    """The crops of that size whose middle is within half a pixel of the base's."""
    spare = base.shape[0] - height, base.shape[1] - width
    for top, left in itertools.product(*({extra // 2, (extra + 1) // 2} for extra in spare)):
        yield base[top : top + height, left : left + width]


class Photo:
    """A photograph with the references that its thumbnails need, each made once."""

    def __init__(self, path, fit):
        self.path, self.fit, self.bases = path, fit, {}
        upright = pyvips.Image.new_from_file(path).autorot()
        self.width, self.height = upright.width, upright.height

    def base(self, width, height):
        if self.fit == "cover":
            scale = max(width / self.width, height / self.height)
            width, height = max(width, round(self.width * scale)), max(height, round(self.height * scale))
        if (width, height) not in self.bases:
            self.bases[width, height] = reference_base(self.path, width, height)
        return self.bases[width, height]

    def score(self, thumbnail):
        image = in_srgb(pyvips.Image.new_from_file(thumbnail)).numpy().astype(float)
        height, width = image.shape[:2]
        wanted = crops(self.base(width, height), width, height)
        best_ssim, best_psnr = max((ssim(image, reference), psnr(image, reference)) for reference in wanted)
        return {"ssim": best_ssim, "psnr": best_psnr, "size": [width, height]}


def main():
    fit = sys.argv[1]
    tasks = json.load(sys.stdin)
    scores = {tool: {} for tool in tasks["folders"]}
    for path in tasks["photos"]:
        photo = Photo(path, fit)
        name = os.path.basename(path)
        for tool, folder in tasks["folders"].items():
            scores[tool][name] = photo.score(os.path.join(folder, name))
    json.dump(scores, sys.stdout)


if __name__ == "__main__":
    main()
