"""The scenes that a search for "lake" is to find."""

import numpy as np

from . import foreground as fg
from . import plants
from .landscape import Sky, Terrain, View, Water, render
from .scene import overlay_water, scene


@scene("lake-at-dawn.jpg", 6000, 4000, progressive=True)
def lake_at_dawn(size):
    return render(
        size,
        7,
        View(horizon=0.52, light=(0.7, 0.35, 0.3), light_colour="#ffd0a0"),
        Sky("#4a6aa5", "#ffd2a8", 0.75, (0.16, 0.035), "#fff0d0", 0.011, 0.75, 0.42, "#ffe0c4", "#a58aa0"),
        Terrain(
            relief=0.9,
            near=3.5,
            sharpness=1.0,
            meadow="#5b6b46",
            forest="#33453a",
            haze="#eac6b0",
            haze_distance=7,
            snowline=2,
        ),
        Water(ripple=0.004, deep="#38506b", clarity=0.08),
    )


@scene("mountain lake with pines.jpg", 3000, 4000, detail=1, grain=2.5, quality=46)
def mountain_lake_with_pines(size):
    picture = render(
        size,
        12,
        View(horizon=0.5, field=0.75, light=(-0.7, 0.5, -0.35)),
        Sky("#2463b8", "#d5e9f7", sun=(-0.7, 0.6), clouds=0.40),
        Terrain(relief=1.9, near=3, sharpness=0.95, treeline=0.6, snowline=0.85, haze_distance=26),
        Water(deep="#0f4a52", ripple=0.005),
    )
    ground = plants.bank(picture, 5, 0.93, 0.018, "#2a3a1c", 0.30, "#5d7a35", 0.014)
    plants.conifers(picture, 6, 9, ground, 0.40, "#142216", (0.0, 0.34))
    plants.conifers(picture, 7, 6, ground, 0.52, "#0e1a11", (0.82, 1.03))
    return picture


@scene("lac-léman-été.jpg", 4800, 3200, sampling="1x1")
def lac_leman(size):
    picture = render(
        size,
        19,
        View(horizon=0.46, light=(-0.3, 0.8, -0.5)),
        Sky("#3f8fd6", "#e4f1f8", clouds=0.36),
        Terrain(
            relief=1.5, near=7, rise=9, sharpness=1.2, haze_distance=12, meadow="#8aa35a", snowline=1.05, treeline=0.75
        ),
        Water(deep="#2c86a8", clarity=0.45, ripple=0.008, glint=0.07),
    )
    for x, y, s in ((0.30, 0.58, 0.022), (0.52, 0.525, 0.010), (0.67, 0.535, 0.012), (0.80, 0.64, 0.030)):
        fg.boat(picture, x, y, s)
    return picture


@scene("alps/lake-oeschinen.jpg", 5400, 3600, quality=40, progressive=True, separate_dc=True)
def lake_oeschinen(size):
    return render(
        size,
        23,
        View(horizon=0.42, eye=0.22, light=(0.6, 0.6, -0.4)),
        Sky("#2a6ec2", "#dceaf6", clouds=0.48),
        Terrain(
            relief=2.3,
            near=2.4,
            rise=3.2,
            sides=(0.9, 1.1),
            sharpness=0.9,
            treeline=0.55,
            snowline=0.95,
            haze_distance=20,
        ),
        Water(deep="#0f7f8c", clarity=0.5, ripple=0.005),
    )


@scene("alps/lake-in-winter.jpg", 4000, 3000, progressive=True)
def lake_in_winter(size):
    picture = render(
        size,
        31,
        View(horizon=0.5, light=(-0.8, 0.3, -0.3), light_colour="#ffe4d0"),
        Sky("#7aa3d4", "#f3e3e2", 0.8, clouds=0.3),
        Terrain(
            relief=1.5,
            near=2.5,
            sharpness=1.0,
            meadow="#eef3fa",
            forest="#8a9aa8",
            rock="#7f8794",
            snowline=0.35,
            treeline=0.3,
            wooded=0.3,
            beach="#f2f6fc",
            haze="#e6e4ee",
            haze_distance=16,
        ),
        Water(deep="#7f9fb8", clarity=0.35, ripple=0.0012, glint=0.02),
    )
    ground = plants.bank(picture, 3, 0.9, 0.02, "#edf2fa", 0.03)
    plants.conifers(picture, 8, 16, ground, 0.20, "#3c4a55", (0.55, 1.02))
    fg.snowfall(picture, 4, 500)
    return picture


@scene("lake-reflections-autumn.jpg", 4500, 3000, detail=0.67, progressive=True, quality=46)
def lake_reflections_autumn(size):
    picture = render(
        size,
        37,
        View(horizon=0.5, light=(-0.6, 0.5, -0.5), light_colour="#fff0d0"),
        Sky("#5a8fc4", "#f5ead6", clouds=0.45),
        Terrain(
            relief=0.42,
            period=3,
            shape="hills",
            near=0.8,
            rise=1.5,
            sharpness=1.6,
            meadow="#d9962e",
            forest="#9c3d1c",
            treeline=9,
            snowline=9,
            wooded=0.5,
            beach="#a08a5a",
            haze="#e3dccb",
        ),
        Water(ripple=0.005, deep="#2a3a3a", clarity=0.08),
    )
    return picture


@scene("moonlit-lake.jpg", 4200, 2800, grain=3.0)
def moonlit_lake(size):
    picture = render(
        size,
        41,
        View(horizon=0.55, light=(0.3, 0.5, 0.3), light_colour="#9fb6e0"),
        Sky(
            "#0a1330",
            "#3a5282",
            0.6,
            (0.12, 0.22),
            "#f4f2e2",
            0.022,
            0.35,
            0.34,
            "#8fa3cc",
            "#1a2748",
            stars=900,
            crescent=False,
        ),
        Terrain(
            relief=1.1,
            near=3,
            sharpness=1.0,
            meadow="#1a2638",
            forest="#101a28",
            rock="#28344c",
            snow="#5c6f96",
            beach="#1c2638",
            haze="#3a5282",
            haze_distance=14,
        ),
        Water(deep="#081226", clarity=0.1, ripple=0.011),
    )
    plants.conifers(picture, 9, 14, 1.01, 0.30, "#04080f", (0.0, 0.35))
    return picture


@scene("Lake Storm Front.jpg", 5200, 2900, progressive=True, sampling="2x1")
def lake_storm(size):
    return render(
        size,
        43,
        View(horizon=0.62, light=(0.2, 0.4, 0.6), light_colour="#d8e0d8"),
        Sky("#27313c", "#b9c4bd", 0.45, (0.3, 0.03), "#e8ecd8", 0, 0.5, 0.86, "#8d9aa3", "#1c242e"),
        Terrain(
            relief=0.35,
            shape="hills",
            near=6,
            rise=5,
            meadow="#3c4a3a",
            forest="#26332c",
            treeline=9,
            snowline=9,
            haze="#8d9a9a",
            haze_distance=9,
        ),
        Water(deep="#22343a", clarity=0.4, ripple=0.02, wave=0.03, glint=0.16, foam=0.3),
    )


@scene("alps/lake panorama.jpg", 8800, 2400, quality=40)
def lake_panorama(size):
    return render(
        size,
        47,
        View(horizon=0.56, field=2.4, light=(-0.5, 0.6, -0.5)),
        Sky("#2f78c8", "#dbeaf5", sun=(-0.4, 0.3), clouds=0.44),
        Terrain(relief=1.8, near=2.5, rise=5, sharpness=1.0, snowline=0.8, treeline=0.55, haze_distance=20),
        Water(deep="#135a66", ripple=0.010),
    )


@scene("lakes/kayak.jpg", 3600, 2700, sampling="1x1", progressive=True)
def kayak(size):
    picture = render(
        size,
        53,
        View(horizon=0.36, eye=0.006, light=(0.5, 0.7, -0.4)),
        Sky("#4a8fd0", "#eaf2f4", clouds=0.3),
        Terrain(relief=0.8, near=1.2, rise=3, sharpness=1.1, treeline=0.65, snowline=9, wooded=0.75, haze_distance=12),
        Water(deep="#0d5f66", ripple=0.012, wave=0.004, glint=0.12),
    )
    fg.kayak(picture, 0.42, 0.66, 0.10)
    return picture


@scene("lakes/island church in the morning.jpg", 4000, 2667, orientation=6)
def island_church(size):
    picture = render(
        size,
        59,
        View(horizon=0.55, field=0.7, light=(-0.7, 0.4, -0.2), light_colour="#ffe2b8"),
        Sky("#6fa0d0", "#f8e0c4", 0.8, clouds=0.38, cloud_light="#fff0de", cloud_dark="#b59fb0"),
        Terrain(relief=1.3, near=3, sharpness=1.05, snowline=0.95, haze="#e6d2c4", haze_distance=11),
        None,
    )
    fg.stamp(picture, "#26401f", lambda pen, w, h: pen.ellipse([0.42 * w, 0.512 * h, 0.70 * w, 0.62 * h], fill=255))
    plants.conifers(picture, 3, 60, lambda x: 0.557 + 0 * x, 0.055, "#2f4a24", (0.44, 0.68))
    fg.church(picture, 0.565, 0.528, 0.085)
    plants.conifers(picture, 4, 46, 0.562, 0.040, "#1c3318", (0.425, 0.695))
    overlay_water(picture, 61, 0.55, Water(deep="#24505c", clarity=0.18, ripple=0.005))
    return picture


@scene("lake-shore-pebbles.jpg", 3000, 2000, detail=1, grain=3.0, quality=50)
def lake_shore_pebbles(size):
    picture = np.zeros((size[1], size[0], 3), np.float32)
    fg.stones(
        picture,
        67,
        0.034,
        ("#8f8a80", "#6d7378", "#a79a86", "#5a5f5e", "#b9b3a6", "#7f6a5a", "#94a09c"),
        -0.1,
        water=1.0,
    )
    return picture
