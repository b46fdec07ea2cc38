"""What stands before a landscape: trees, grass, boats, houses. All are drawn over the finished picture.

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
    region = np.s_[box[1]:box[3], box[0]:box[2]]
    if isinstance(colour, str):
        colour = rgb(colour)
    elif np.ndim(colour) == 3:
        colour = colour[region]
    picture[region] = mix(picture[region], colour, cover)


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
                reach = spread * t ** 0.85 * rng.uniform(0.75, 1.15)
                y, tip = foot - size * (1 - t), middle + lean * (1 - t)
                left += [(tip - reach, y + size * 0.02), (tip - reach * 0.5, y - size * 0.004)]
                right += [(tip + reach * rng.uniform(0.8, 1.1), y + size * 0.02), (tip + reach * 0.5, y - size * 0.004)]
            pen.polygon([(middle + lean, foot - size)] + right + [(middle + spread * 0.1, foot)]
                        + [(middle - spread * 0.1, foot)] + left[::-1], fill=255)
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
        foot = 0.56 + 0.34 * near ** 1.7
        trunk = mix(rgb("#e8e4d8"), rgb("#2b2723"), smoothstep(0.7, 1.25, marks + 0.35 * (1 - y)))
        trunk = trunk * (0.86 + 0.2 * sample(bark, x * 4, np.broadcast_to(y, marks.shape)) * 0.4)[..., None]
        clear = 0.10 + 0.85 * near ** 1.6
        tone = mix(np.broadcast_to(rgb(fog), picture.shape), trunk, np.full(marks.shape, clear))

        def draw(pen, w, h):
            for _ in range(int(34 - 27 * near ** 0.7)):
                middle = rng.uniform(-0.02, 1.02) * w
                half = w * (0.0022 + 0.0135 * near ** 2.2) * rng.uniform(0.7, 1.3)
                lean = rng.normal(0, 0.022) * w
                base = (foot + rng.normal(0, 0.012)) * h
                pen.polygon([(middle - half * 1.25, base), (middle - half + lean, -9), (middle + half * 0.7 + lean, -9), (middle + half * 1.25, base)], fill=255)
                for _ in range(int(3 + 4 * near)):
                    start = rng.uniform(0.02, 0.6) * base
                    sx, side = middle + lean * (1 - start / base), rng.choice([-1, 1])
                    reach = half * rng.uniform(6, 16)
                    pen.line([(sx, start), (sx + side * reach * 0.55, start - reach * 0.5), (sx + side * reach, start - reach * 1.3)],
                             fill=255, width=max(1, int(half * 0.28)))
        floor = smoothstep(foot - 0.03, foot + 0.10, y + 0.02 * sample(bark, x * 0.6 + near, np.broadcast_to(y * 0, marks.shape)))
        rug = sample(bark, x * 3.1 / near, y * 7 / near) * 0.22 * near
        earth = mix(np.broadcast_to(rgb(fog), picture.shape), np.clip(rgb(ground) * (1 + rug)[..., None], 0, 1), np.full(marks.shape, clear))
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
        lobes = 0.72 + 0.28 * np.abs(np.cos(outline * 2.5)) - 0.25 * np.exp(-((outline - np.pi) / 0.25) ** 2)
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
            pen.line([place(-0.5 * reach if angle == 0 else -0.1 * reach, 0), end], fill=vein, width=max(1, int(reach * 0.018)))
    picture[:] = np.asarray(canvas, np.float32) / 255


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
    tone = (0.35 + 0.65 * dome) * (0.75 + 0.4 * ((value * 7.3) % 1)) + np.clip(light * -cell * width * 0.12, -0.25, 0.35)
    colour = np.clip(colour * (tone * (1 + 0.09 * speck))[..., None], 0, 1)
    if water:
        web = sample(fractal(seed + 8, 1.7, 3, 60), x * 1.6, y * 2.4)
        caustic = np.exp(-(web / 0.16) ** 2) * 0.4 + np.exp(-((web - 1) / 0.12) ** 2) * 0.25
        colour = mix(colour * rgb("#b8dedb"), rgb("#1f7f86"), np.broadcast_to(water * 0.55 * (1 - y * width / height), web.shape))
        colour = np.clip(colour * (0.85 + caustic)[..., None], 0, 1)
    line = top + 0.008 * sample(fractal(seed + 9, 1.8), x, y * 0)
    picture[:] = mix(picture, colour, smoothstep(-0.02, 0.02, y * width / height - line))


def city(picture, seed, horizon):
    """Three rows of towers with lit windows above `horizon`."""
    rng = np.random.default_rng(seed)
    for depth, (tone, tall, count) in enumerate((("#26304f", 0.30, 46), ("#1a2140", 0.24, 34), ("#0d1126", 0.15, 28))):
        towers = []
        for x in np.linspace(-0.02, 1.0, count):
            heap = 0.45 + 0.55 * np.exp(-((x - 0.45) / 0.2) ** 2)
            towers.append((x + rng.normal(0, 0.006), rng.uniform(0.6, 1.3) / count, tall * heap * rng.uniform(0.5, 1.3)))

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
    stamp(picture, hull, lambda pen, w, h: pen.polygon(
        [((x - size) * w, y * h), ((x + size) * w, y * h), ((x + size * 0.7) * w, y * h + size * 0.35 * w),
         ((x - size * 0.75) * w, y * h + size * 0.35 * w)], fill=255))
    if sail:
        stamp(picture, sail, lambda pen, w, h: pen.polygon(
            [((x - size * 0.05) * w, y * h - size * 2.9 * w), ((x - size * 0.05) * w, y * h - size * 0.15 * w),
             ((x - size * 0.95) * w, y * h - size * 0.15 * w)], fill=255))
        stamp(picture, "#e2d7bf", lambda pen, w, h: pen.polygon(
            [((x + size * 0.04) * w, y * h - size * 2.5 * w), ((x + size * 0.04) * w, y * h - size * 0.15 * w),
             ((x + size * 0.8) * w, y * h - size * 0.15 * w)], fill=255))
        stamp(picture, sail, lambda pen, w, h: pen.polygon(
            [((x - size * 0.7) * w, y * h + size * 0.45 * w), (x * w, y * h + size * 2.0 * w), ((x + size * 0.6) * w, y * h + size * 0.45 * w)],
            fill=255), 0.25, blur=0.002)


def kayak(picture, x, y, size):
    stamp(picture, "#0d2730", lambda pen, w, h: pen.ellipse(
        [(x - size) * w, y * h, (x + size) * w, y * h + size * 0.34 * w], fill=255), 0.5, blur=0.003)
    stamp(picture, "#d8452b", lambda pen, w, h: pen.polygon(
        [((x - size) * w, y * h - size * 0.02 * w), (x * w, y * h - size * 0.10 * w), ((x + size) * w, y * h - size * 0.02 * w),
         ((x + size * 0.5) * w, y * h + size * 0.11 * w), ((x - size * 0.5) * w, y * h + size * 0.11 * w)], fill=255))
    stamp(picture, "#243447", lambda pen, w, h: pen.polygon(
        [((x - size * 0.11) * w, y * h - size * 0.07 * w), ((x - size * 0.08) * w, y * h - size * 0.36 * w),
         ((x + size * 0.08) * w, y * h - size * 0.36 * w), ((x + size * 0.11) * w, y * h - size * 0.07 * w)], fill=255))
    stamp(picture, "#e3b08a", lambda pen, w, h: pen.ellipse(
        [(x - size * 0.065) * w, y * h - size * 0.50 * w, (x + size * 0.065) * w, y * h - size * 0.37 * w], fill=255))
    stamp(picture, "#f2d16b", lambda pen, w, h: pen.line(
        [((x - size * 0.55) * w, y * h - size * 0.02 * w), ((x + size * 0.5) * w, y * h - size * 0.40 * w)], fill=255, width=max(2, int(size * 0.05 * w))))


def church(picture, x, y, size):
    """A chapel with a spire; `size` is its height as a share of the picture's width."""
    def box(left, top, right, bottom):
        return lambda pen, w, h: pen.rectangle([(x + left * size) * w, y * h - top * size * w, (x + right * size) * w, y * h - bottom * size * w], fill=255)

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
        stamp(picture, colour, lambda pen, w, h: pen.polygon([(x * w + a * size * h, (y - b * size) * h) for a, b in points], fill=255), opacity, blur)
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
            edge = [((x + size / 2 * np.sin(left * np.pi / 2) * r) * w, y * h - size / 2 * w * u) for r, u in zip(reach, up)]
            back = [((x + size / 2 * np.sin(right * np.pi / 2) * r) * w, y * h - size / 2 * w * u) for r, u in zip(reach, up)]
            pen.polygon(edge + back[::-1], fill=255)
        stamp(picture, rgb(colours[index % len(colours)]) * (0.72 + 0.34 * np.cos((index - 3) / 5.2)), gore)
    for side in (-1, 1):
        stamp(picture, "#4b3a2a", lambda pen, w, h: pen.line(
            [((x + side * size * 0.07) * w, y * h + size * 0.60 * w), ((x + side * size * 0.05) * w, y * h + size * 0.76 * w)], fill=255, width=max(2, w // 1500)))
    stamp(picture, "#6b4527", lambda pen, w, h: pen.rectangle(
        [(x - size * 0.06) * w, y * h + size * 0.75 * w, (x + size * 0.06) * w, y * h + size * 0.84 * w], fill=255))


def palm(picture, seed, x, foot, tall, lean, colour="#14130f"):
    rng = np.random.default_rng(seed)

    def draw(pen, w, h):
        t = np.linspace(0, 1, 30)
        trunk = np.stack([(x + lean * t ** 1.6) * w, (foot - tall * t) * h], axis=1)
        half = 0.0075 * h * (1.4 - 0.8 * t)
        pen.polygon([(a - d, b) for (a, b), d in zip(trunk, half)] + [(a + d, b) for (a, b), d in zip(trunk[::-1], half[::-1])], fill=255)
        cx, cy = trunk[-1]
        for angle in np.linspace(-0.35, np.pi + 0.35, 13) + rng.normal(0, 0.08, 13):
            reach = tall * h * rng.uniform(0.36, 0.48)
            s = np.linspace(0, 1, 22)
            fx = cx + np.cos(angle) * reach * s
            fy = cy - np.sin(angle) * reach * 0.75 * s + reach * 0.62 * s ** 2.2
            pen.line(list(zip(fx, fy)), fill=255, width=max(2, int(0.004 * h)))
            for a, b, k in zip(fx[2:], fy[2:], s[2:]):
                length = reach * 0.2 * (1.05 - k) + reach * 0.03
                pen.line([a, b, a + np.cos(angle) * length * 0.7, b + length], fill=255, width=max(2, int(0.0028 * h)))
                pen.line([a, b, a + np.cos(angle) * length * 0.9, b + length * 0.35], fill=255, width=max(2, int(0.0022 * h)))
    stamp(picture, colour, draw)


def snowfall(picture, seed, count):
    rng = np.random.default_rng(seed)

    def draw(pen, w, h):
        for x, y, r in zip(rng.random(count), rng.random(count), rng.power(0.5, count)):
            radius = w * (0.0005 + 0.0022 * r)
            pen.ellipse([x * w - radius, y * h - radius, x * w + radius, y * h + radius], fill=255)
    stamp(picture, "#ffffff", draw, 0.8, blur=0.0006)
