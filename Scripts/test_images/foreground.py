"""What stands before a landscape: stones, houses, boats, balloons. All are drawn over the finished picture.

Positions and sizes are shares of the picture (x of its width, y of its height), so a scene looks the
same at any size.
"""

import numpy as np
from PIL import Image, ImageDraw, ImageFilter

from .noise import fractal, mix, pebbles, rgb, sample, smoothstep


def stamp(picture, colour, draw, opacity=1.0, blur=0.0):
    """Lays `colour` (or a picture) over `picture` where `draw(pen, width, height)` draws, anti-aliased."""
    height, width = picture.shape[:2]
    mask = Image.new("L", (width * 2, height * 2), 0)
    draw(ImageDraw.Draw(mask), width * 2, height * 2)
    mask = mask.reduce(2)
    box = mask.getbbox()
    if box is None:
        return
    if blur:
        reach = int(blur * width * 3)
        box = (max(0, box[0] - reach), max(0, box[1] - reach), min(width, box[2] + reach), min(height, box[3] + reach))
        mask = mask.crop(box).filter(ImageFilter.GaussianBlur(blur * width))
    else:
        mask = mask.crop(box)
    cover = np.asarray(mask, np.float32) / 255 * opacity
    region = np.s_[box[1] : box[3], box[0] : box[2]]
    if isinstance(colour, str):
        colour = rgb(colour)
    elif np.ndim(colour) == 3:
        colour = colour[region]
    picture[region] = mix(picture[region], colour, cover)


def stones(picture, seed, cell, colours, top=0.0, water=0.0):
    """Pebbles over the picture below `top`; with `water`, as seen through a rippled surface."""
    height, width = picture.shape[:2]
    gap, value = pebbles((height, width), int(cell * width), seed)
    shades = np.stack([rgb(colour) for colour in colours])
    colour = shades[np.minimum((value * len(shades)).astype(np.int32), len(shades) - 1)]
    x = np.arange(width, dtype=np.float32)[None, :] / width
    y = np.arange(height, dtype=np.float32)[:, None] / width
    speck = sample(fractal(seed + 7, 0.7), x * 3, y * 3)
    dome = np.clip(gap / 0.42, 0, 1) ** 0.6
    light = np.gradient(dome, axis=1) + np.gradient(dome, axis=0)
    tone = (0.35 + 0.65 * dome) * (0.75 + 0.4 * ((value * 7.3) % 1)) + np.clip(
        light * -cell * width * 0.12, -0.25, 0.35
    )
    colour = np.clip(colour * (tone * (1 + 0.09 * speck))[..., None], 0, 1)
    if water:
        web = sample(fractal(seed + 8, 1.7, 3, 60), x * 1.6, y * 2.4)
        caustic = np.exp(-((web / 0.16) ** 2)) * 0.4 + np.exp(-(((web - 1) / 0.12) ** 2)) * 0.25
        colour = mix(
            colour * rgb("#b8dedb"), rgb("#1f7f86"), np.broadcast_to(water * 0.55 * (1 - y * width / height), web.shape)
        )
        colour = np.clip(colour * (0.85 + caustic)[..., None], 0, 1)
    line = top + 0.008 * sample(fractal(seed + 9, 1.8), x, y * 0)
    picture[:] = mix(picture, colour, smoothstep(-0.02, 0.02, y * width / height - line))


def city(picture, seed, horizon):
    """Three rows of towers with lit windows above `horizon`."""
    rng = np.random.default_rng(seed)
    for depth, (tone, tall, count) in enumerate((("#26304f", 0.30, 46), ("#1a2140", 0.24, 34), ("#0d1126", 0.15, 28))):
        towers = []
        for x in np.linspace(-0.02, 1.0, count):
            heap = 0.45 + 0.55 * np.exp(-(((x - 0.45) / 0.2) ** 2))
            towers.append(
                (x + rng.normal(0, 0.006), rng.uniform(0.6, 1.3) / count, tall * heap * rng.uniform(0.5, 1.3))
            )

        def draw_towers(pen, width, height):
            for x, w, h in towers:
                top = (horizon - h) * height
                pen.rectangle([x * width, top, (x + w) * width, horizon * height], fill=255)
                if w * width < h * width * 0.12 or h > tall * 1.0:
                    middle = (x + w / 2) * width
                    pen.rectangle([(x + w * 0.2) * width, top - 0.012 * height, (x + w * 0.8) * width, top], fill=255)
                    pen.line([middle, top - 0.05 * height, middle, top], fill=255, width=max(2, width // 1400))

        stamp(picture, tone, draw_towers)
        for colour, share in (("#ffd98a", 0.22), ("#fff1cf", 0.08), ("#9fd0ff", 0.02)):

            def draw_windows(pen, width, height):
                pane, floor = 0.0021 * width, 0.0056 * width
                for x, w, h in towers:
                    rows, columns = int(h * height / floor), int(w * width / (pane * 1.9))
                    lit = rng.random((rows, columns)) < share * rng.uniform(0.2, 1.3)
                    for row, column in zip(*np.nonzero(lit)):
                        left, up = x * width + pane * (0.6 + 1.9 * column), (horizon - h) * height + floor * (row + 0.5)
                        pen.rectangle([left, up, left + pane, up + floor * 0.5], fill=255)

            stamp(picture, colour, draw_windows, 0.55 + 0.15 * depth)


def boat(picture, x, y, size, sail="#fbf6ea", hull="#5b3524"):
    stamp(
        picture,
        hull,
        lambda pen, w, h: pen.polygon(
            [
                ((x - size) * w, y * h),
                ((x + size) * w, y * h),
                ((x + size * 0.7) * w, y * h + size * 0.35 * w),
                ((x - size * 0.75) * w, y * h + size * 0.35 * w),
            ],
            fill=255,
        ),
    )
    if sail:
        stamp(
            picture,
            sail,
            lambda pen, w, h: pen.polygon(
                [
                    ((x - size * 0.05) * w, y * h - size * 2.9 * w),
                    ((x - size * 0.05) * w, y * h - size * 0.15 * w),
                    ((x - size * 0.95) * w, y * h - size * 0.15 * w),
                ],
                fill=255,
            ),
        )
        stamp(
            picture,
            "#e2d7bf",
            lambda pen, w, h: pen.polygon(
                [
                    ((x + size * 0.04) * w, y * h - size * 2.5 * w),
                    ((x + size * 0.04) * w, y * h - size * 0.15 * w),
                    ((x + size * 0.8) * w, y * h - size * 0.15 * w),
                ],
                fill=255,
            ),
        )
        stamp(
            picture,
            sail,
            lambda pen, w, h: pen.polygon(
                [
                    ((x - size * 0.7) * w, y * h + size * 0.45 * w),
                    (x * w, y * h + size * 2.0 * w),
                    ((x + size * 0.6) * w, y * h + size * 0.45 * w),
                ],
                fill=255,
            ),
            0.25,
            blur=0.002,
        )


def kayak(picture, x, y, size):
    stamp(
        picture,
        "#0d2730",
        lambda pen, w, h: pen.ellipse([(x - size) * w, y * h, (x + size) * w, y * h + size * 0.34 * w], fill=255),
        0.5,
        blur=0.003,
    )
    stamp(
        picture,
        "#d8452b",
        lambda pen, w, h: pen.polygon(
            [
                ((x - size) * w, y * h - size * 0.02 * w),
                (x * w, y * h - size * 0.10 * w),
                ((x + size) * w, y * h - size * 0.02 * w),
                ((x + size * 0.5) * w, y * h + size * 0.11 * w),
                ((x - size * 0.5) * w, y * h + size * 0.11 * w),
            ],
            fill=255,
        ),
    )
    stamp(
        picture,
        "#243447",
        lambda pen, w, h: pen.polygon(
            [
                ((x - size * 0.11) * w, y * h - size * 0.07 * w),
                ((x - size * 0.08) * w, y * h - size * 0.36 * w),
                ((x + size * 0.08) * w, y * h - size * 0.36 * w),
                ((x + size * 0.11) * w, y * h - size * 0.07 * w),
            ],
            fill=255,
        ),
    )
    stamp(
        picture,
        "#e3b08a",
        lambda pen, w, h: pen.ellipse(
            [(x - size * 0.065) * w, y * h - size * 0.50 * w, (x + size * 0.065) * w, y * h - size * 0.37 * w], fill=255
        ),
    )
    stamp(
        picture,
        "#f2d16b",
        lambda pen, w, h: pen.line(
            [((x - size * 0.55) * w, y * h - size * 0.02 * w), ((x + size * 0.5) * w, y * h - size * 0.40 * w)],
            fill=255,
            width=max(2, int(size * 0.05 * w)),
        ),
    )


def church(picture, x, y, size):
    """A chapel with a spire; `size` is its height as a share of the picture's width."""

    def box(left, top, right, bottom):
        return lambda pen, w, h: pen.rectangle(
            [(x + left * size) * w, y * h - top * size * w, (x + right * size) * w, y * h - bottom * size * w], fill=255
        )

    def gable(points):
        return lambda pen, w, h: pen.polygon([((x + a * size) * w, y * h - b * size * w) for a, b in points], fill=255)

    stamp(picture, "#efe6d2", box(-0.55, 0.36, 0.1, 0))
    stamp(picture, "#d9cdb4", box(0.1, 0.66, 0.34, 0))
    stamp(picture, "#9a4a32", gable([(-0.6, 0.35), (-0.5, 0.55), (0.1, 0.55), (0.1, 0.35)]))
    stamp(picture, "#7b3a2a", gable([(0.07, 0.65), (0.22, 1.15), (0.37, 0.65)]))
    for left in (-0.44, -0.26, -0.08):
        stamp(picture, "#4a5560", box(left, 0.27, left + 0.07, 0.09))
    stamp(picture, "#4a5560", box(0.19, 0.56, 0.26, 0.42))


def lighthouse(picture, x, y, size):
    def part(points, colour, opacity=1.0, blur=0.0):
        stamp(
            picture,
            colour,
            lambda pen, w, h: pen.polygon([(x * w + a * size * h, (y - b * size) * h) for a, b in points], fill=255),
            opacity,
            blur,
        )

    part([(0.05, 1.03), (3.4, 1.42), (3.4, 0.98)], "#fff3c4", 0.35, 0.006)
    part([(-0.13, 0), (-0.08, 0.92), (0.08, 0.92), (0.13, 0)], "#f4f1ea")
    for low in (0.12, 0.40, 0.68):
        a, b = 0.13 - 0.054 * low, 0.13 - 0.054 * (low + 0.14)
        part([(-a, low), (-b, low + 0.14), (b, low + 0.14), (a, low)], "#c23a30")
    part([(0.03, 0), (0.02, 0.92), (0.08, 0.92), (0.13, 0)], "#3a3a4a", 0.28)
    part([(-0.11, 0.92), (-0.11, 0.95), (0.11, 0.95), (0.11, 0.92)], "#2d2f38")
    part([(-0.06, 0.95), (-0.06, 1.09), (0.06, 1.09), (0.06, 0.95)], "#ffefb0")
    part([(-0.09, 1.09), (0, 1.2), (0.09, 1.09)], "#a52f27")


def balloon(picture, x, y, size, colours):
    """A hot-air balloon of `size` widths across, striped from its crown to the basket."""
    for index in range(9):
        left, right = -1 + 2 * index / 9, -1 + 2 * (index + 1) / 9

        def gore(pen, w, h):
            t = np.linspace(0, np.pi, 26)
            reach = np.sin(t) * np.where(t > np.pi / 2, 0.42 + 0.58 * np.sin(t) ** 0.7, 1)
            up = np.cos(t) * np.where(t > np.pi / 2, 1.28, 1)
            edge = [
                ((x + size / 2 * np.sin(left * np.pi / 2) * r) * w, y * h - size / 2 * w * u) for r, u in zip(reach, up)
            ]
            back = [
                ((x + size / 2 * np.sin(right * np.pi / 2) * r) * w, y * h - size / 2 * w * u)
                for r, u in zip(reach, up)
            ]
            pen.polygon(edge + back[::-1], fill=255)

        stamp(picture, rgb(colours[index % len(colours)]) * (0.72 + 0.34 * np.cos((index - 3) / 5.2)), gore)
    for side in (-1, 1):
        stamp(
            picture,
            "#4b3a2a",
            lambda pen, w, h: pen.line(
                [
                    ((x + side * size * 0.07) * w, y * h + size * 0.60 * w),
                    ((x + side * size * 0.05) * w, y * h + size * 0.76 * w),
                ],
                fill=255,
                width=max(2, w // 1500),
            ),
        )
    stamp(
        picture,
        "#6b4527",
        lambda pen, w, h: pen.rectangle(
            [(x - size * 0.06) * w, y * h + size * 0.75 * w, (x + size * 0.06) * w, y * h + size * 0.84 * w], fill=255
        ),
    )


def snowfall(picture, seed, count):
    rng = np.random.default_rng(seed)

    def draw(pen, w, h):
        for x, y, r in zip(rng.random(count), rng.random(count), rng.power(0.5, count)):
            radius = w * (0.0005 + 0.0022 * r)
            pen.ellipse([x * w - radius, y * h - radius, x * w + radius, y * h + radius], fill=255)

    stamp(picture, "#ffffff", draw, 0.8, blur=0.0006)
