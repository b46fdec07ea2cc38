"""Fields of repeatable noise: the raw material of the painted scenes.

Every field is a square float32 array that repeats at its edges, so a scene may look it up at any
coordinate without a seam. The same seed always gives the same field.
"""

import functools

import numpy as np

SIDE = 1024


@functools.lru_cache(maxsize=24)
def fractal(seed, slope=2.0, low=1.0, high=SIDE / 2):
    """Noise of zero mean and unit deviation whose amplitude falls as frequency ** -slope.

    `low` and `high` bound the frequencies, in waves per side.
    """
    white = np.random.default_rng(seed).standard_normal((SIDE, SIDE), dtype=np.float32)
    spectrum = np.fft.rfft2(white)
    fy = np.fft.fftfreq(SIDE, 1 / SIDE)[:, None]
    fx = np.fft.rfftfreq(SIDE, 1 / SIDE)[None, :]
    frequency = np.hypot(fy, fx)
    with np.errstate(divide="ignore"):
        gain = np.where((frequency >= low) & (frequency <= high), frequency**-slope, 0)
    field = np.fft.irfft2(spectrum * gain, s=(SIDE, SIDE)).astype(np.float32)
    return (field - field.mean()) / field.std()


@functools.lru_cache(maxsize=8)
def ridged(seed, octaves=8, gain=0.52):
    """Sharp crests and smooth valleys, from 0 to 1: each octave is creased and sits on the crests before it."""
    total = np.zeros((SIDE, SIDE), np.float32)
    weight = np.ones((SIDE, SIDE), np.float32)
    amplitude = 1.0
    for octave in range(octaves):
        wave = 2.0**octave
        band = fractal(seed * 131 + octave, 1.0, 1.2 * wave, 3.4 * wave)
        crease = np.clip(1 - np.abs(band) * 0.75, 0, 1) ** 2
        total += amplitude * crease * weight
        weight = np.clip(crease * 1.6, 0.25, 1)
        amplitude *= gain
    return (total - total.min()) / (total.max() - total.min())


def sample(field, u, v):
    """The field at (u, v), in sides of the field, interpolated between its four neighbours."""
    x = np.asarray(u, np.float32) * SIDE
    y = np.asarray(v, np.float32) * SIDE
    x0, y0 = np.floor(x), np.floor(y)
    fx, fy = x - x0, y - y0
    mask = SIDE - 1
    x0 = x0.astype(np.int32) & mask
    y0 = y0.astype(np.int32) & mask
    x1, y1 = (x0 + 1) & mask, (y0 + 1) & mask
    flat = field.ravel()
    top = flat[y0 * SIDE + x0] * (1 - fx) + flat[y0 * SIDE + x1] * fx
    bottom = flat[y1 * SIDE + x0] * (1 - fx) + flat[y1 * SIDE + x1] * fx
    return top * (1 - fy) + bottom * fy


def pebbles(shape, cell, seed):
    """Voronoi cells of about `cell` pixels: (distance to the border in cells, a random number per cell)."""
    height, width = shape
    rows, columns = height // cell + 3, width // cell + 3
    rng = np.random.default_rng(seed)
    jitter = rng.random((rows, columns, 2), dtype=np.float32)
    tone = rng.random((rows, columns), dtype=np.float32)
    y = np.arange(height, dtype=np.float32)[:, None] / cell + 1
    x = np.arange(width, dtype=np.float32)[None, :] / cell + 1
    wave = fractal(seed + 1, 1.8)
    y, x = y + 0.16 * sample(wave, x / 23, y / 23), x + 0.16 * sample(wave, x / 23 + 0.5, y / 23)
    cy = np.clip(y.astype(np.int32), 1, rows - 2)
    cx = np.clip(x.astype(np.int32), 1, columns - 2)
    nearest = np.full((height, width), 9, np.float32)
    second = nearest.copy()
    value = np.zeros((height, width), np.float32)
    for dy in (-1, 0, 1):
        for dx in (-1, 0, 1):
            py, px = cy + dy, cx + dx
            distance = np.hypot(py + jitter[py, px, 0] - y, px + jitter[py, px, 1] - x)
            closer = distance < nearest
            second = np.where(closer, nearest, np.minimum(second, distance))
            value = np.where(closer, tone[py, px], value)
            nearest = np.where(closer, distance, nearest)
    return second - nearest, value


def smoothstep(low, high, value):
    t = np.clip((value - low) / (high - low), 0, 1)
    return t * t * (3 - 2 * t)


def rgb(code):
    """'#rrggbb' as three floats from 0 to 1."""
    return np.array([int(code[i : i + 2], 16) for i in (1, 3, 5)], np.float32) / 255


def mix(a, b, t):
    """From `a` at t = 0 to `b` at t = 1; `t` is a plane, `a` and `b` are colours or pictures."""
    t = np.asarray(t, np.float32)[..., None]
    return a * (1 - t) + b * t
