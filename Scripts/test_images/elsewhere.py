"""Mountains, deserts, woods, coasts, fields and nights: what a search for "lake" is not to find."""

import numpy as np

from . import foreground as fg
from . import plants
from .landscape import Sky, Terrain, View, Water, render
from .noise import fractal, mix, rgb, sample, smoothstep
from .scene import overlay_water, scene


@scene("alps/alpenglow.jpg", 5000, 3333, progressive=True)
def alpenglow(size):
    picture = render(
        size,
        71,
        View(horizon=0.72, field=0.6, eye=0.5, light=(-0.9, 0.22, -0.4), light_colour="#ff9a6a"),
        Sky("#41548c", "#f3b9a4", 0.7, clouds=0.28, cloud_light="#ffc9b0", cloud_dark="#7d6a92"),
        Terrain(
            relief=1.9,
            near=3,
            rise=6,
            sharpness=1.0,
            snowline=0.35,
            treeline=0.2,
            rock="#a0796a",
            snow="#ffe9e0",
            meadow="#3a4040",
            forest="#262e34",
            haze="#a88fa8",
            haze_distance=24,
            ambient=0.3,
        ),
    )
    return picture


@scene("alps/spring-meadow.jpg", 3000, 2000, detail=1, grain=3.0, quality=46)
def spring_meadow(size):
    picture = render(
        size,
        73,
        View(horizon=0.42, light=(-0.4, 0.8, -0.3)),
        Sky("#3b86d6", "#e3f0f8", clouds=0.42),
        Terrain(
            relief=1.9, near=2.5, rise=5, sharpness=1.0, front=2.2, front_height=0.012, snowline=1.0, haze_distance=18
        ),
    )
    plants.bank(picture, 11, 0.52, 0.01, "#4d7a2c", 0.2)
    plants.grass(
        picture, 12, 42000, lambda x: 0.535, 0.10, ("#6fa33a", "#4f8a2e", "#8fb84a", "#3d6e25", "#b5c95a"), drop=0.56
    )
    rng = np.random.default_rng(5)
    for colour in ("#f4d23a", "#ffffff", "#c65ab0"):

        def draw(pen, w, h):
            for x, d in zip(rng.random(420), rng.random(420)):
                y, r = (0.53 + 0.5 * d**1.3) * h, w * (0.0012 + 0.0046 * d**1.3)
                for turn in np.linspace(0, 2 * np.pi, 5, endpoint=False):
                    px, py = x * w + r * 0.8 * np.cos(turn), y + r * 0.6 * np.sin(turn)
                    pen.ellipse([px - r * 0.6, py - r * 0.45, px + r * 0.6, py + r * 0.45], fill=255)

        fg.stamp(picture, colour, draw)
    return picture


@scene("desert/dunes-at-sunset.jpg", 5400, 3600, progressive=True, separate_dc=True)
def dunes(size):
    return render(
        size,
        79,
        View(eye=0.085, horizon=0.38, field=0.95, light=(0.9, 0.42, 0.1), light_colour="#ffc080", far=14),
        Sky("#5a6fb0", "#ffc58a", 0.7, (0.27, 0.06), "#fff0c8", 0.016, 0.8, 0.25, "#ffd8b0", "#c08a90"),
        Terrain(
            relief=0.075,
            period=3.2,
            shape="dunes",
            sharpness=1.0,
            near=0.12,
            rise=0.5,
            grit=0.3,
            meadow="#d9904a",
            forest="#d9904a",
            rock="#d9904a",
            beach="#d9904a",
            treeline=9,
            snowline=9,
            haze="#f0b98c",
            haze_distance=5,
            ambient=0.25,
        ),
    )


@scene("desert/red-canyon.jpg", 3600, 4800)
def red_canyon(size):
    return render(
        size,
        83,
        View(eye=0.55, horizon=0.40, field=0.8, light=(-0.7, 0.45, -0.35), light_colour="#ffdca8", far=30),
        Sky("#2a78c8", "#d8ebf4", clouds=0.33),
        Terrain(
            relief=0.50,
            period=5.5,
            shape="mesas",
            near=0.02,
            rise=0.3,
            strata=("#a8472a", "#c8693c", "#d98a54", "#8f3a26", "#e0a878", "#b55430"),
            haze="#dcc8c0",
            haze_distance=13,
            beach="#b5683c",
            ambient=0.35,
        ),
    )


@scene("forest/birch-wood-in-fog.jpg", 2500, 3200, detail=0.6, quality=40, progressive=True)
def birch_wood(size):
    picture = np.broadcast_to(rgb("#c9d2d0"), (size[1], size[0], 3)).copy()
    plants.birches(picture, 89, 6, "#c9d2d0", "#7a6238")
    return picture


@scene("forest/autumn-leaves.jpg", 3000, 2000, detail=1, grain=3.0, quality=46)
def autumn_leaves(size):
    picture = np.zeros((size[1], size[0], 3), np.float32) + rgb("#2a1c10")
    plants.leaves(
        picture, 97, 2600, ("#d9651e", "#c23a1a", "#e8a22a", "#8f4a1c", "#b8781f", "#7a2a16", "#c9b03a"), 0.045
    )
    height, width = picture.shape[:2]
    y, x = np.mgrid[0:height, 0:width].astype(np.float32) / width
    picture *= (1 + 0.07 * sample(fractal(5, 0.9), x * 3.5, y * 3.5) + 0.14 * sample(fractal(6, 2.2), x, y))[..., None]
    return picture


@scene("sea/sunset-over-the-sea.jpg", 4800, 3200)
def sunset_sea(size):
    picture = render(
        size,
        101,
        View(horizon=0.56, light=(0, 0.2, 0.9)),
        Sky("#3d4a8a", "#ff9a52", 0.55, (-0.08, 0.045), "#fff2b8", 0.03, 0.85, 0.52, "#ffb27a", "#7d4a6a"),
        None,
        Water(deep="#2a2a4a", clarity=0.12, ripple=0.022, wave=0.03, glint=0.14),
    )
    plants.palm(picture, 3, 0.86, 1.02, 0.66, -0.07)
    plants.palm(picture, 4, 0.95, 1.02, 0.50, 0.03)
    return picture


@scene("sea/lighthouse.webp", 3000, 4000, quality=70)
def lighthouse(size):
    picture = render(
        size,
        103,
        View(horizon=0.66, light=(0.6, 0.4, -0.3)),
        Sky("#35527f", "#f0c0b0", 0.7, clouds=0.55, cloud_light="#f6d2c4", cloud_dark="#5d6788"),
        None,
        Water(deep="#1f4458", clarity=0.4, ripple=0.02, wave=0.03, glint=0.15, foam=0.35),
    )
    ground = plants.bank(picture, 14, 0.80, 0.045, "#3d3a36", 0.35, "#6b7340", 0.010)
    fg.lighthouse(picture, 0.36, ground(0.36) + 0.012, 0.42)
    return picture


@scene("sea/wild-coast.jpg", 3300, 2200, detail=1, grain=3.5, quality=50, progressive=True)
def wild_coast(size):
    return render(
        size,
        107,
        View(eye=0.07, horizon=0.34, light=(-0.6, 0.6, -0.3), far=20),
        Sky("#6f93b4", "#e6ecee", clouds=0.62, cloud_dark="#8795a5"),
        Terrain(
            relief=0.42,
            period=5,
            near=1.2,
            rise=1.4,
            sides=(0.35, 3.0),
            sharpness=0.8,
            meadow="#66803f",
            forest="#4a6033",
            rock="#5f564c",
            treeline=0.22,
            snowline=9,
            haze="#d2dde3",
            haze_distance=6,
        ),
        Water(deep="#1d5668", clarity=0.6, ripple=0.02, wave=0.02, glint=0.2, foam=0.7),
    )


@scene("night/city-skyline.jpg", 4500, 2700, sampling="1x1", quality=46)
def city_skyline(size):
    picture = render(
        size,
        109,
        View(horizon=0.64),
        Sky("#0d1436", "#c47a86", 0.62, clouds=0.4, cloud_light="#8a6490", cloud_dark="#1a1a3a", stars=200),
        None,
        None,
    )
    fg.city(picture, 110, 0.645)
    overlay_water(picture, 111, 0.64, Water(deep="#070a1c", clarity=0.1, ripple=0.016, glint=0.05))
    return picture


@scene("night/northern-lights.jpg", 4500, 3000, grain=3.0, progressive=True)
def northern_lights(size):
    return render(
        size,
        113,
        View(horizon=0.66, light=(0.2, 0.7, -0.2), light_colour="#8fe6c0"),
        Sky("#050b22", "#123048", 0.7, stars=1500, aurora=True),
        Terrain(
            relief=0.9,
            near=3,
            sharpness=1.0,
            meadow="#1a2a30",
            forest="#0c161c",
            rock="#22303a",
            snow="#6f9a9a",
            snowline=0.4,
            treeline=0.25,
            beach="#22303a",
            haze="#123048",
            haze_distance=18,
        ),
        Water(deep="#04101c", clarity=0.1, ripple=0.006),
    )


@scene("night/milky-way.webp", 2400, 3600, grain=3.0, quality=75)
def milky_way(size):
    picture = render(
        size,
        127,
        View(horizon=0.92, field=0.9),
        Sky("#0b1030", "#42385c", 0.4, stars=5200, milky_way=True),
        Terrain(
            relief=0.5,
            near=1.5,
            rise=2,
            sharpness=0.9,
            meadow="#0c0d16",
            forest="#0a0b13",
            rock="#12131d",
            snowline=9,
            beach="#0c0d16",
            haze="#1a1830",
            haze_distance=10,
        ),
    )
    plants.conifers(picture, 15, 40, 1.01, 0.11, "#05060c")
    return picture


@scene("fields/lavender.jpg", 4200, 2800, detail=0.75, progressive=True, quality=46)
def lavender(size):
    return render(
        size,
        131,
        View(eye=0.007, horizon=0.36, field=0.9, light=(-0.6, 0.5, -0.3), light_colour="#ffe6c4"),
        Sky("#5f8fd0", "#fde6cc", clouds=0.45, cloud_light="#fff2e0", cloud_dark="#c0a8b8"),
        Terrain(
            relief=0.10,
            period=3.5,
            shape="hills",
            near=0.6,
            rise=2,
            front=0.9,
            front_height=0.0015,
            rows=("#7a4fb0", "#6b7a3a"),
            haze="#dcc6d6",
            haze_distance=3,
            beach="#7a4fb0",
        ),
    )


@scene("fields/balloons-over-the-valley.jpg", 4000, 3000, orientation=8)
def balloons(size):
    picture = render(
        size,
        137,
        View(eye=0.42, horizon=0.56, light=(0.8, 0.35, -0.2), light_colour="#ffe0b0"),
        Sky("#5f9bd8", "#fce2c0", 0.8, (0.6, 0.1), clouds=0.3, glow=0.5),
        Terrain(
            relief=0.5,
            period=5,
            shape="hills",
            near=0.6,
            rise=3,
            sharpness=1.8,
            meadow="#b5a85a",
            forest="#6b7a3f",
            treeline=9,
            snowline=9,
            wooded=0.45,
            haze="#f0d8c0",
            haze_distance=7,
            beach="#a89a58",
        ),
    )
    for x, y, s, colours in (
        (0.28, 0.26, 0.17, ("#d9362b", "#f4c430")),
        (0.66, 0.20, 0.10, ("#2a6fc4", "#f4f0e2")),
        (0.80, 0.40, 0.065, ("#6a3fa0", "#f08a3c")),
        (0.50, 0.44, 0.045, ("#1f8f6a", "#f6e27a")),
        (0.12, 0.48, 0.035, ("#d95f9a", "#ffffff")),
        (0.91, 0.14, 0.05, ("#e8752a", "#40302a")),
    ):
        fg.balloon(picture, x, y, s, colours)
    return picture


@scene("volcano-above-the-clouds.jpg", 4000, 4000)
def volcano(size):
    picture = render(
        size,
        139,
        View(horizon=0.60, field=0.8, eye=0.5, light=(-0.7, 0.4, -0.3), light_colour="#ffe6cc"),
        Sky("#3f78c0", "#f6dcd0", 0.7, clouds=0.22),
        Terrain(
            relief=3.3,
            shape="cone",
            near=6,
            rise=6,
            rock="#5d5560",
            snow="#fbfbff",
            meadow="#4a5a40",
            forest="#33443a",
            treeline=1.0,
            snowline=2.1,
            haze="#d9d2dc",
            haze_distance=26,
            beach="#4a5a40",
        ),
    )
    height, width = picture.shape[:2]
    y = np.arange(height, dtype=np.float32)[:, None] / height
    x = np.arange(width, dtype=np.float32)[None, :] / width
    depth = np.clip((y - 0.50) / 0.5, 0.001, 1)
    field = fractal(140, 1.7)
    body = sample(field, x * 0.35 / (depth + 0.25), 0.35 / (depth + 0.12) + 0 * x)
    lit = sample(field, x * 0.35 / (depth + 0.25) - 0.01, 0.35 / (depth + 0.12) - 0.008 + 0 * x)
    cover = smoothstep(0.55, 0.68, y + 0.035 * body)
    picture[:] = mix(picture, mix(rgb("#b8bccf"), rgb("#fff6ee"), np.clip(0.7 + 0.9 * (body - lit), 0, 1)), cover)
    return picture


@scene("misty-hills-black-and-white.jpg", 4500, 3000, gray=True, grain=4.0)
def misty_hills(size):
    return render(
        size,
        149,
        View(eye=0.48, horizon=0.34, field=0.6, light=(-0.5, 0.5, 0.3), far=30),
        Sky("#6a7078", "#e8eaec", 0.7, clouds=0.3),
        Terrain(
            relief=0.62,
            period=4.5,
            sharpness=1.1,
            near=0.3,
            rise=3,
            grit=0.5,
            meadow="#3a3f3a",
            forest="#20241f",
            treeline=9,
            snowline=9,
            beach="#3a3f3a",
            haze="#e2e5e8",
            haze_distance=3.6,
        ),
    )


@scene("paper-mountains.png", 3600, 2400, detail=1, grain=0, palette=24)
def paper_mountains(size):
    """Layers of cut paper: flat colours, for which PNG is the right format."""
    picture = np.broadcast_to(rgb("#fbe3c8"), (size[1], size[0], 3)).copy()
    fg.stamp(
        picture, "#f58f5a", lambda pen, w, h: pen.ellipse([0.60 * w, 0.14 * h, 0.60 * w + 0.26 * h, 0.40 * h], fill=255)
    )
    for index, colour in enumerate(("#f2c3a2", "#d99a94", "#b3748c", "#84557f", "#573c6c", "#332a55")):
        line = plants.bank(picture, 150 + index, 0.42 + 0.10 * index, 0.055 - 0.004 * index, colour)
        if index > 2:
            plants.conifers(picture, 160 + index, 26, line, 0.05 + 0.025 * (index - 2), colour, gap=(0.3, 0.62))
    return picture


@scene("富士山.jpg", 4800, 3200, progressive=True, separate_dc=True, sampling="1x1", quality=48)
def fuji(size):
    picture = render(
        size,
        151,
        View(horizon=0.60, field=0.75, eye=0.02, light=(-0.6, 0.5, -0.4), light_colour="#ffe8e0"),
        Sky("#6f9fd8", "#fbdfe2", 0.8, clouds=0.26),
        Terrain(
            relief=2.7,
            shape="cone",
            near=6,
            rise=7,
            rock="#5f6a86",
            snow="#ffffff",
            meadow="#6b7f86",
            forest="#4a6070",
            treeline=0.5,
            snowline=1.55,
            haze="#dcd6e4",
            haze_distance=20,
        ),
        Water(deep="#4f7f9a", clarity=0.2, ripple=0.004),
    )
    rng = np.random.default_rng(8)
    for reach, y0 in ((0.52, 0.10), (0.40, 0.03), (0.30, 0.17)):
        t = np.linspace(0, 1, 60)
        bx, by = 1.02 - reach * t, y0 + 0.05 * np.sin(t * 3) + 0.05 * t
        fg.stamp(
            picture, "#4a3030", lambda pen, w, h: pen.line(list(zip(bx * w, by * h)), fill=255, width=int(0.006 * w))
        )
        for colour in ("#f7b7c8", "#fbd6de", "#ee94b0"):

            def draw(pen, w, h):
                for _ in range(150):
                    k = rng.integers(4, 60)
                    x, y, r = (
                        (bx[k] + rng.normal(0, 0.016)) * w,
                        (by[k] + rng.normal(0, 0.022)) * h,
                        rng.uniform(0.003, 0.0075) * w,
                    )
                    for turn in np.linspace(0, 2 * np.pi, 5, endpoint=False) + rng.random():
                        px, py = x + r * 0.8 * np.cos(turn), y + r * 0.8 * np.sin(turn)
                        pen.ellipse([px - r * 0.62, py - r * 0.62, px + r * 0.62, py + r * 0.62], fill=255)

            fg.stamp(picture, colour, draw)
    return picture
