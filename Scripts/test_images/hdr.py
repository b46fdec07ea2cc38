"""An AVIF of high dynamic range: PQ and the primaries of BT.2020 (ITU-R BT.2100)."""

import tempfile
from pathlib import Path

import numpy as np

from . import png, tools

# The light of the chart's white, in cd/m²: reference white.
WHITE = 203
FROM_BT709 = np.array([[0.627404, 0.329283, 0.043313], [0.069097, 0.919540, 0.011362], [0.016391, 0.088013, 0.895595]])


def pq(light):
    """The signal from 0 to 1 of light in cd/m² (SMPTE ST 2084)."""
    power = (light / 10_000) ** (2610 / 16384)
    return ((3424 / 4096 + 2413 / 128 * power) / (1 + 2392 / 128 * power)) ** (2523 / 32)


def avif(picture):
    """A picture in sRGB as an AVIF of 10 bits in PQ. SVT-AV1 writes it: Debian 12's libaom ends the program."""
    value = picture / 255
    light = np.where(value <= 0.04045, value / 12.92, ((value + 0.055) / 1.055) ** 2.4)
    signal = np.round(pq(light @ FROM_BT709.T * WHITE) * 65535).astype(np.uint16)
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder, "in.png"), Path(folder, "out.avif")
        source.write_bytes(png.encode(signal, png.RGB, depth=16))
        switches = ["-c", "svt", "-s", 4, "-d", 10, "-y", "420", "--cicp", "9/16/9", "--min", 10, "--max", 20]
        tools.run("avifenc", *switches, source, target)
        return target.read_bytes()
