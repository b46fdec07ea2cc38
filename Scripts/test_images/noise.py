"""Repeatable noise: the same seed always gives the same field, a square that repeats at its edges."""

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
