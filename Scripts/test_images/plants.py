"""Trees, grass and leaves before a landscape, drawn over the finished picture as in `foreground`."""

import numpy as np
from PIL import Image, ImageDraw

from .foreground import stamp
from .noise import fractal, mix, rgb, sample, smoothstep


def conifers(picture, seed, count, base, tall, colour, across=(0.0, 1.0), gap=None):
    """A row of firs standing on `base` (y, or a function of x), each about `tall` high."""
    rng = np.random.default_rng(seed)

    def draw(pen, width, height):
        for x in np.sort(rng.uniform(*across, count)):
            size = tall * rng.uniform(0.45, 1.15) * height
            lean = rng.normal(0, 0.012) * size
            foot = (base(x) if callable(base) else base) * height + 0.04 * size
            if gap and gap[0] < x < gap[1]:
                continue
            middle, spread = x * width, size * rng.uniform(0.15, 0.22)
            tiers = int(rng.integers(11, 17))
            left, right = [], []
            for tier in range(tiers):
                t = (tier + 0.4) / tiers
                reach = spread * t**0.85 * rng.uniform(0.75, 1.15)
                y, tip = foot - size * (1 - t), middle + lean * (1 - t)
                left += [(tip - reach, y + size * 0.02), (tip - reach * 0.5, y - size * 0.004)]
                right += [(tip + reach * rng.uniform(0.8, 1.1), y + size * 0.02), (tip + reach * 0.5, y - size * 0.004)]
            pen.polygon(
                [(middle + lean, foot - size)]
                + right
                + [(middle + spread * 0.1, foot)]
                + [(middle - spread * 0.1, foot)]
                + left[::-1],
                fill=255,
            )

    stamp(picture, colour, draw)


def bank(picture, seed, base, rough, colour, texture=0.0, blades="", blade_height=0.012):
    """Ground from an uneven line at `base` down to the lower edge, with grass along its crest."""
    height, width = picture.shape[:2]
    x = np.linspace(0, 1, width, dtype=np.float32)
    line = base + rough * sample(fractal(seed, 1.9), x * 0.6, np.full_like(x, 0.37))
    y = np.arange(height, dtype=np.float32)[:, None] / height
    cover = smoothstep(-0.0006, 0.0006, y - line[None, :])
    ground = np.broadcast_to(rgb(colour), picture.shape)
    if texture:
        stretch = width / height
        rug = sample(fractal(seed + 1, 1.2), x[None, :] * 2.2 * stretch, np.broadcast_to(y * 5, (height, width)))
        ground = np.clip(ground * (1 + texture * rug)[..., None], 0, 1)
    picture[:] = mix(picture, ground, cover)
    if blades:

        def edge(position):
            return float(np.interp(position, x, line))

        grass(picture, seed + 2, int(width * 0.9), lambda t: edge(t) + 0.003, blade_height, [colour, blades])
    return lambda position: float(np.interp(position, x, line))


def grass(picture, seed, count, foot, tall, colours, wind=0.4, drop=0.0):
    """Blades of grass that stand on `foot(x)`, or anywhere below it down to `drop` further."""
    height, width = picture.shape[:2]
    rng = np.random.default_rng(seed)
    canvas = Image.fromarray((np.clip(picture, 0, 1) * 255).astype(np.uint8))
    pen = ImageDraw.Draw(canvas)
    depth = np.sort(rng.random(count) ** 0.8)
    wave = fractal(seed + 1, 2.0)
    shades = np.stack([rgb(colour) for colour in colours])
    places = rng.uniform(-0.01, 1.01, count)
    gusts = sample(wave, places * 0.7, depth * 0.5)
    for x, d, gust in zip(places, depth, gusts):
        near = 0.35 + 0.65 * d if drop else 1.0
        size = tall * height * near * rng.uniform(0.5, 1.25)
        y = (foot(x) + d * drop) * height
        tip = x * width + size * (wind * (0.5 + 0.4 * gust) + rng.normal(0, 0.22))
        colour = shades[rng.integers(len(shades))] * rng.uniform(0.7, 1.12) * (0.8 + 0.2 * near)
        ink = tuple(int(v) for v in np.clip(colour * 255, 0, 255))
        bend = x * width + (tip - x * width) * 0.3
        pen.line([(x * width, y), (bend, y - size * 0.6), (tip, y - size)], fill=ink, width=max(1, round(size * 0.035)))
    picture[:] = np.asarray(canvas, np.float32) / 255


def birches(picture, seed, layers, fog, ground):
    """Trunks in fog, from the farthest and palest layer to the nearest."""
    height, width = picture.shape[:2]
    rng = np.random.default_rng(seed)
    y = np.arange(height, dtype=np.float32)[:, None] / height
    x = np.arange(width, dtype=np.float32)[None, :] / width
    bark = fractal(seed + 1, 1.0)
    marks = sample(bark, x * 1.2, y * 9.0 * height / width)
    for layer in range(layers):
        near = (layer + 1) / layers
        foot = 0.56 + 0.34 * near**1.7
        trunk = mix(rgb("#e8e4d8"), rgb("#2b2723"), smoothstep(0.7, 1.25, marks + 0.35 * (1 - y)))
        trunk = trunk * (0.86 + 0.2 * sample(bark, x * 4, np.broadcast_to(y, marks.shape)) * 0.4)[..., None]
        clear = 0.10 + 0.85 * near**1.6
        tone = mix(np.broadcast_to(rgb(fog), picture.shape), trunk, np.full(marks.shape, clear))

        def draw(pen, w, h):
            for _ in range(int(34 - 27 * near**0.7)):
                middle = rng.uniform(-0.02, 1.02) * w
                half = w * (0.0022 + 0.0135 * near**2.2) * rng.uniform(0.7, 1.3)
                lean = rng.normal(0, 0.022) * w
                base = (foot + rng.normal(0, 0.012)) * h
                pen.polygon(
                    [
                        (middle - half * 1.25, base),
                        (middle - half + lean, -9),
                        (middle + half * 0.7 + lean, -9),
                        (middle + half * 1.25, base),
                    ],
                    fill=255,
                )
                for _ in range(int(3 + 4 * near)):
                    start = rng.uniform(0.02, 0.6) * base
                    sx, side = middle + lean * (1 - start / base), rng.choice([-1, 1])
                    reach = half * rng.uniform(6, 16)
                    pen.line(
                        [
                            (sx, start),
                            (sx + side * reach * 0.55, start - reach * 0.5),
                            (sx + side * reach, start - reach * 1.3),
                        ],
                        fill=255,
                        width=max(1, int(half * 0.28)),
                    )

        floor = smoothstep(
            foot - 0.03, foot + 0.10, y + 0.02 * sample(bark, x * 0.6 + near, np.broadcast_to(y * 0, marks.shape))
        )
        rug = sample(bark, x * 3.1 / near, y * 7 / near) * 0.22 * near
        earth = mix(
            np.broadcast_to(rgb(fog), picture.shape),
            np.clip(rgb(ground) * (1 + rug)[..., None], 0, 1),
            np.full(marks.shape, clear),
        )
        picture[:] = mix(picture, earth, floor * 0.75)
        stamp(picture, tone, draw)


def leaves(picture, seed, count, colours, size=0.04):
    """A floor of fallen leaves, the lower ones darker."""
    height, width = picture.shape[:2]
    rng = np.random.default_rng(seed)
    canvas = Image.fromarray((np.clip(picture, 0, 1) * 255).astype(np.uint8))
    pen = ImageDraw.Draw(canvas)
    shades = np.stack([rgb(colour) for colour in colours])
    outline = np.linspace(0, 2 * np.pi, 28, endpoint=False)
    for index in range(count):
        depth = 0.45 + 0.55 * index / count
        reach = size * width * rng.uniform(0.6, 1.2)
        x, y = rng.uniform(-0.03, 1.03) * width, rng.uniform(-0.03, 1.03) * height
        turn, squeeze = rng.uniform(0, 2 * np.pi), rng.uniform(0.55, 0.85)
        lobes = 0.72 + 0.28 * np.abs(np.cos(outline * 2.5)) - 0.25 * np.exp(-(((outline - np.pi) / 0.25) ** 2))
        lobes *= rng.uniform(0.93, 1.07, outline.size)
        px, py = lobes * reach * np.cos(outline), lobes * reach * squeeze * np.sin(outline)
        c, s = np.cos(turn), np.sin(turn)

        def place(dx, dy):
            return (x + c * dx - s * dy, y + s * dx + c * dy)

        tone = shades[rng.integers(len(shades))] * depth * rng.uniform(0.8, 1.15)
        shape = [place(a, b) for a, b in zip(px, py)]
        shade = reach * 0.07
        pen.polygon([(a + shade, b + shade) for a, b in shape], fill=tuple(int(v * 60) for v in tone * 0.5))
        pen.polygon(shape, fill=tuple(int(v) for v in np.clip(tone * 255, 0, 255)))
        vein = tuple(int(v) for v in np.clip(tone * 255 * 1.25 + 12, 0, 255))
        for angle in (0.0, 0.62, -0.62, 1.3, -1.3):
            end = place(0.8 * reach * np.cos(angle), 0.8 * reach * squeeze * np.sin(angle))
            pen.line(
                [place(-0.5 * reach if angle == 0 else -0.1 * reach, 0), end],
                fill=vein,
                width=max(1, int(reach * 0.018)),
            )
    picture[:] = np.asarray(canvas, np.float32) / 255


def palm(picture, seed, x, foot, tall, lean, colour="#14130f"):
    rng = np.random.default_rng(seed)

    def draw(pen, w, h):
        t = np.linspace(0, 1, 30)
        trunk = np.stack([(x + lean * t**1.6) * w, (foot - tall * t) * h], axis=1)
        half = 0.0075 * h * (1.4 - 0.8 * t)
        pen.polygon(
            [(a - d, b) for (a, b), d in zip(trunk, half)] + [(a + d, b) for (a, b), d in zip(trunk[::-1], half[::-1])],
            fill=255,
        )
        cx, cy = trunk[-1]
        for angle in np.linspace(-0.35, np.pi + 0.35, 13) + rng.normal(0, 0.08, 13):
            reach = tall * h * rng.uniform(0.36, 0.48)
            s = np.linspace(0, 1, 22)
            fx = cx + np.cos(angle) * reach * s
            fy = cy - np.sin(angle) * reach * 0.75 * s + reach * 0.62 * s**2.2
            pen.line(list(zip(fx, fy)), fill=255, width=max(2, int(0.004 * h)))
            for a, b, k in zip(fx[2:], fy[2:], s[2:]):
                length = reach * 0.2 * (1.05 - k) + reach * 0.03
                pen.line([a, b, a + np.cos(angle) * length * 0.7, b + length], fill=255, width=max(2, int(0.0028 * h)))
                pen.line(
                    [a, b, a + np.cos(angle) * length * 0.9, b + length * 0.35], fill=255, width=max(2, int(0.0022 * h))
                )

    stamp(picture, colour, draw)
