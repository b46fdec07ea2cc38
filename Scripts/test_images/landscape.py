"""A small renderer of landscapes: sky, height field, still or rippled water, haze.

Distances are kilometres, the eye looks north over a flat earth, and water lies at height 0. Each column
of the picture is one direction; its terrain is walked outwards once, and the running minimum of the
projected heights gives, for every pixel, the first step that hides it.
"""

from dataclasses import dataclass
from typing import Optional, Tuple

import numpy as np

from .noise import fractal, mix, rgb, ridged, sample, smoothstep


@dataclass(frozen=True)
class Sky:
    zenith: str = "#2f6db5"
    horizon: str = "#cfe3f2"
    curve: float = 0.6  # below 1 the horizon's colour stays low
    sun: Optional[Tuple[float, float]] = None  # azimuth and elevation, in picture widths
    sun_colour: str = "#fff3d6"
    sun_size: float = 0.012
    glow: float = 0.5
    clouds: float = 0.0  # cover, 0 to 1
    cloud_light: str = "#ffffff"
    cloud_dark: str = "#9fb0c4"
    stars: int = 0
    milky_way: bool = False
    aurora: bool = False
    crescent: bool = False  # the sun's disc is a moon with a shadow


@dataclass(frozen=True)
class Terrain:
    relief: float = 1.6  # height of the highest ground
    period: float = 14.0  # the noise repeats after this distance
    shape: str = "ridged"  # ridged | hills | dunes | mesas | cone
    sharpness: float = 1.4
    near: float = 3.0  # mountains begin to rise here
    rise: float = 7.0
    sides: Optional[Tuple[float, float]] = None  # half-width of the valley to the left and right
    front: float = 0.0  # ground before the water, to this distance
    front_height: float = 0.004
    meadow: str = "#6c8a3f"
    forest: str = "#2c4a2c"
    rock: str = "#7d7669"
    snow: str = "#f6f9ff"
    beach: str = "#b9a888"
    treeline: float = 0.6
    snowline: float = 1.1
    wooded: float = 0.6  # share of the ground below the treeline
    strata: Tuple[str, ...] = ()  # bands of colour by height
    rows: Tuple[str, str] = ("", "")  # planted rows: crop and soil
    haze: str = "#c4d6e6"
    haze_distance: float = 22.0
    ambient: float = 0.45
    grit: float = 1.0  # strength of the ground's fine pattern


@dataclass(frozen=True)
class Water:
    deep: str = "#16404f"
    clarity: float = 0.25  # how much of its own colour shows at the horizon
    ripple: float = 0.006  # displacement of the mirror image, in heights
    wave: float = 0.02  # wavelength near the eye
    glint: float = 0.05  # light and dark of the waves themselves
    foam: float = 0.0


@dataclass(frozen=True)
class View:
    eye: float = 0.03  # height above the water
    field: float = 1.0  # width of the view, in radians
    horizon: float = 0.45  # where it lies, as a share of the height
    light: Tuple[float, float, float] = (-0.6, 0.6, -0.5)  # towards the light: east, up, north
    light_colour: str = "#fff6e6"
    far: float = 45.0
    steps: int = 1300


def render(size, seed, view, sky, terrain=None, water=None):
    """The scene as a float32 picture of height × width × 3, from 0 to 1."""
    width, height = size
    horizon = int(view.horizon * height)
    above = max(0, height - 2 * horizon)  # rows above the frame that the water mirrors
    frame = paint_sky(width, height + above, horizon + above, view, sky, seed)
    wet = None
    if terrain is not None:
        wet = paint_terrain(frame, horizon + above, view, terrain, seed)
    if water is not None:
        paint_water(frame, horizon + above, view, water, wet, seed)
    return frame[above:]


def paint_sky(width, height, horizon, view, sky, seed):
    y = np.arange(height, dtype=np.float32)[:, None]
    x = (np.arange(width, dtype=np.float32)[None, :] + 0.5) / width - 0.5
    up = np.clip((horizon - y) / horizon, 0, 1)
    elevation = (horizon - y) / width  # in picture widths, as the sun is given
    frame = mix(rgb(sky.horizon), rgb(sky.zenith), np.broadcast_to(up**sky.curve, (height, width)))
    if sky.stars or sky.milky_way:
        paint_stars(frame, horizon, sky, seed)
    if sky.aurora:
        paint_aurora(frame, x, up, seed)
    if sky.sun:
        away = np.hypot(x - sky.sun[0], elevation - sky.sun[1])
        colour = rgb(sky.sun_colour)
        frame[:] = mix(frame, colour, sky.glow * np.exp(-away / 0.22))
        frame[:] = mix(frame, colour, 0.8 * sky.glow * np.exp(-away / 0.05))
    if sky.clouds:
        # A flat layer of cloud overhead: its perspective is one over the elevation.
        reach = 1 / (np.maximum(elevation, 0) * 2.2 + 0.075)
        field = fractal(seed + 11, 1.75)
        u, v = (x * 2.0 * reach) / 16, reach / 9
        body = sample(field, u, np.broadcast_to(v, u.shape)) + 0.35 * sample(
            field, u * 5.3, np.broadcast_to(v * 5.3, u.shape)
        )
        lit = sample(field, u + 0.006, np.broadcast_to(v + 0.01, u.shape))
        cover = smoothstep(0.95 - 2.1 * sky.clouds, 2.0 - 2.1 * sky.clouds, body)
        tone = np.clip(0.62 + 0.75 * (body - lit) - 0.22 * np.maximum(body - 0.4, 0), 0, 1)
        cloud = mix(rgb(sky.cloud_dark), rgb(sky.cloud_light), tone)
        frame[:] = mix(frame, cloud, cover * smoothstep(0.0, 0.1, elevation) ** 0.7 * 0.92)
    if sky.sun and sky.sun_size:
        disc = smoothstep(sky.sun_size + 0.0012, sky.sun_size - 0.0012, away)
        if sky.crescent:
            bite = np.hypot(x - sky.sun[0] - sky.sun_size * 0.55, elevation - sky.sun[1] - sky.sun_size * 0.35)
            disc *= smoothstep(sky.sun_size * 0.86, sky.sun_size * 0.96, bite)
        frame[:] = mix(frame, np.minimum(colour * 1.15, 1), disc * (1 if sky.stars else 0.85))
    return frame


def paint_stars(frame, horizon, sky, seed):
    height, width = frame.shape[:2]
    rng = np.random.default_rng(seed + 21)
    if sky.milky_way:
        y = np.arange(height, dtype=np.float32)[:, None] / width
        x = np.arange(width, dtype=np.float32)[None, :] / width
        across = (x - 0.52) * 0.86 + (y - 0.28) * 0.5
        dust = sample(fractal(seed + 22, 1.6), x * 0.7, y * 0.7)
        band = np.exp(-((across / 0.11) ** 2)) * np.clip(0.75 + 0.28 * dust, 0, 1.4)
        lane = np.exp(-(((across - 0.015 + 0.02 * dust) / 0.03) ** 2)) * 0.75
        frame[:] = mix(frame, rgb("#b9a6c9"), np.clip(band * 0.62 * (1 - lane), 0, 0.75))
    count = sky.stars
    rows = rng.integers(0, max(1, horizon), count)
    columns = rng.integers(0, width - 3, count)
    bright = rng.power(0.35, count).astype(np.float32)[:, None]
    tint = mix(rgb("#ffd9b0"), rgb("#cfe0ff"), rng.random(count))
    for dy, dx, share in ((0, 0, 1), (0, 1, 0.7), (1, 0, 0.7), (1, 1, 0.5)):
        spot = frame[rows + dy, columns + dx]
        frame[rows + dy, columns + dx] = np.maximum(spot, tint * np.sqrt(bright) * share)


def paint_aurora(frame, x, up, seed):
    field = fractal(seed + 31, 1.9)
    rays = fractal(seed + 32, 1.1)
    for index, (base, reach, colour) in enumerate(
        ((0.30, 0.34, "#3df59a"), (0.46, 0.40, "#5ef0c0"), (0.38, 0.5, "#8a5be0"))
    ):
        line = base + 0.11 * sample(field, x * 0.5 + 0.31 * index, np.full_like(x, 0.13 * index))
        ray = 0.6 + 0.4 * sample(rays, x * 1.6 + 0.1 * index, np.full_like(x, 0.4 + 0.1 * index))
        height = up - line
        curtain = np.where(height > 0, np.exp(-height / (reach * 0.45)), np.exp(height / 0.03))
        frame[:] = 1 - (1 - frame) * (1 - np.clip(curtain * ray, 0, 1)[..., None] * rgb(colour) * 0.8)


def elevation_of(terrain, x, z, seed):
    """The ground's height at (x, z); below 0 it lies under water."""
    u, v = x / terrain.period, z / terrain.period
    if terrain.shape == "ridged":
        relief = sample(ridged(seed), u, v) ** terrain.sharpness
    elif terrain.shape == "dunes":
        bend = sample(fractal(seed + 1, 2.4), u * 0.7, v * 0.7)
        crest = np.hypot(sample(fractal(seed + 2, 2.2, 3, 20), u * 0.8 + 0.03 * bend, v * 1.5 + 0.05 * bend), 0.09)
        relief = np.clip(1 - crest * 0.75, 0, 1) ** terrain.sharpness
    elif terrain.shape == "mesas":
        plain = sample(fractal(seed + 1, 2.0), u, v)
        relief = (
            0.55 * smoothstep(0.25, 0.5, plain)
            + 0.25 * smoothstep(0.7, 0.85, plain)
            + 0.16 * smoothstep(-0.3, 0.3, plain)
        )
        relief += 0.03 * sample(fractal(seed + 3, 2.0), u * 2, v * 2)
    elif terrain.shape == "cone":
        away = np.hypot(x - 0.4, z - terrain.near - terrain.rise)
        relief = np.exp(-away / (0.34 * terrain.rise)) * 1.12 - 0.03
        relief = np.minimum(relief, 0.93 + 0.02 * sample(fractal(seed + 2, 1.6), u * 4, v * 4))
        relief += 0.018 * sample(fractal(seed + 1, 1.7), u * 2, v * 2) + 0.03 * sample(ridged(seed), u, v)
    else:
        relief = np.clip(0.5 + 0.24 * sample(fractal(seed + 1, 2.5), u, v), 0, 1) ** terrain.sharpness
    distance = np.hypot(x, z)
    bay = 0.25 * sample(fractal(seed + 4, 1.9), u * 0.8, v * 0.8)
    land = smoothstep(terrain.near, terrain.near + terrain.rise, distance * (1 + 0.5 * bay))
    if terrain.sides:
        left, right = terrain.sides
        land = np.maximum(land, smoothstep(1.0, 2.6, np.where(x < 0, -x / left, x / right) + bay))
    height = land * (relief * terrain.relief + 0.02) - 0.03 * (1 - np.minimum(land * 14, 1))
    if terrain.front:
        bank = sample(fractal(seed + 5, 1.6), x / 0.8, z / 0.8)
        ground = smoothstep(terrain.front * 1.25, terrain.front * 0.55, distance * (1 + 0.22 * bank))
        height = np.maximum(height, ground * terrain.front_height * (1.2 + 0.5 * bank) - 0.001)
    return height.astype(np.float32)


def paint_terrain(frame, horizon, view, terrain, seed):
    """Paints the ground over the sky and returns how wet each pixel is, 0 to 1."""
    height, width = frame.shape[:2]
    focal = width / view.field
    angle = (((np.arange(width) + 0.5) / width - 0.5) * view.field).astype(np.float32)
    nearest = 0.8 * view.eye * focal / (height - horizon)
    reach = np.geomspace(nearest, view.far, view.steps).astype(np.float32)
    x = reach[:, None] * np.sin(angle)[None, :]
    z = reach[:, None] * np.cos(angle)[None, :]
    ground = elevation_of(terrain, x, z, seed)
    solid = np.maximum(ground, 0)
    row = horizon - focal * (solid - view.eye) / reach[:, None]

    # The skyline so far; the first step whose skyline reaches a pixel is the one seen there.
    edge = np.clip(np.ceil(np.minimum.accumulate(row, axis=0) - 0.5), 0, height).astype(np.int64)
    count = np.bincount((edge * width + np.arange(width)).ravel(), minlength=(height + 1) * width)
    first = view.steps - np.cumsum(count.reshape(height + 1, width)[:height], axis=0)
    ys, xs = np.nonzero(first < view.steps)
    step = first[ys, xs]
    before = np.maximum(step - 1, 0)
    del count, edge, first

    tilt_x = np.gradient(solid, axis=1) / (reach[:, None] * view.field / width)
    tilt_z = np.gradient(solid, axis=0) / np.gradient(reach)[:, None]
    length = np.sqrt(1 + tilt_x**2 + tilt_z**2)
    light = np.array(view.light, np.float32) / np.linalg.norm(view.light)
    lit = np.clip((-tilt_x * light[0] + light[1] - tilt_z * light[2]) / length, 0, 1)

    low, high = row[before, xs], row[step, xs]
    t = np.clip((low - ys - 0.5) / np.maximum(low - high, 1e-3), 0, 1).astype(np.float32)

    def at_pixel(plane):
        return plane[before, xs] * (1 - t) + plane[step, xs] * t

    distance = reach[before] * (1 - t) + reach[step] * t
    px, pz = distance * np.sin(angle)[xs], distance * np.cos(angle)[xs]
    altitude, steep, lit = at_pixel(ground), 1 / at_pixel(length), at_pixel(lit)
    colour = ground_colour(terrain, px, pz, distance, altitude, steep, focal, seed)
    colour *= (terrain.ambient + (1.25 - terrain.ambient) * lit)[:, None] * mix(
        np.ones(3, np.float32), rgb(view.light_colour), 0.6 * lit + 0.2
    )
    fog = 1 - np.exp(
        -distance / terrain.haze_distance * np.exp(-np.maximum(altitude, 0) * 0.35 / max(terrain.relief, 0.3))
    )
    frame[ys, xs] = mix(colour, rgb(terrain.haze), fog)
    wet = np.zeros((height, width), np.float32)
    wet[ys, xs] = smoothstep(0.0005, -0.0015, altitude)
    return wet


def ground_colour(terrain, x, z, distance, altitude, steep, focal, seed):
    grain = fractal(seed + 41, 1.15)
    coarse = sample(grain, x / 6, z / 6)
    # The finest pattern keeps the size of a few pixels at any distance, by powers of two.
    level = np.exp2(np.floor(np.log2(distance * 260 / focal)))
    fine = sample(grain, x / level / 1.7, z / level / 1.7)
    if terrain.strata:
        bands = np.stack([rgb(code) for code in terrain.strata])
        place = (altitude / terrain.relief * 9 + 0.12 * coarse) % len(bands)
        index = place.astype(np.int32) % len(bands)
        colour = mix(bands[index], bands[(index + 1) % len(bands)], smoothstep(0.7, 1, place % 1))
    elif terrain.rows[0]:
        phase = np.sin((x + 0.25 * z) * 2 * np.pi / 0.0024)
        crisp = np.clip(0.0024 * focal / distance / 6, 0, 1)
        colour = mix(
            rgb(terrain.rows[1]),
            rgb(terrain.rows[0]),
            0.62 + crisp * (smoothstep(-0.5, 0.3, phase + 0.5 * fine) - 0.62),
        )
    else:
        wood = smoothstep(-0.25, 0.25, coarse + 0.5 * fine + 2.4 * (terrain.wooded - 0.5) + 0.4 * (steep < 0.8))
        colour = mix(rgb(terrain.meadow), rgb(terrain.forest), wood)
        colour *= (1 + terrain.grit * (0.10 + 0.16 * wood) * fine)[:, None]
        bare = smoothstep(
            -0.12, 0.12, (altitude - terrain.treeline) / max(terrain.relief, 0.2) + 0.06 * coarse + 0.05 * fine
        )
        bare = np.maximum(bare, smoothstep(0.62, 0.45, steep))
        colour = mix(colour, rgb(terrain.rock), bare)
        white = smoothstep(
            -0.06, 0.08, (altitude - terrain.snowline) / max(terrain.relief, 0.2) + 0.05 * coarse + 0.03 * fine
        )
        colour = mix(colour, rgb(terrain.snow), white * smoothstep(0.30, 0.52, steep + 0.05 * fine))
    colour *= (1 + terrain.grit * (0.09 * fine + 0.05 * coarse))[:, None]
    if terrain.rows[0]:
        return np.maximum(colour, 0)
    shore = smoothstep(0.008, 0.002, altitude) * (altitude > -0.004)
    return np.maximum(mix(colour, rgb(terrain.beach) * (1 + 0.12 * fine)[:, None], shore * (distance < 6)), 0)


def paint_water(frame, horizon, view, water, wet, seed):
    """Mirrors what stands above the horizon, bent by the waves, where the picture is wet."""
    height, width = frame.shape[:2]
    focal = width / view.field
    y = np.arange(horizon + 1, height, dtype=np.float32)[:, None]
    distance = view.eye * focal / (y - horizon)
    angle = (((np.arange(width) + 0.5) / width - 0.5) * view.field).astype(np.float32)[None, :]
    scale = 0.6
    u = angle * distance / (water.wave * (1 + distance / scale)) / 24
    v = np.broadcast_to(scale / water.wave * np.log1p(distance / scale) / 24 * 1.6, u.shape)
    swell = fractal(seed + 51, 1.35, 2)
    wave = sample(swell, u, v) + 0.5 * sample(swell, u * 3.1 + 0.3, v * 3.1)
    slope = wave - sample(swell, u, v + 0.004)
    depth = (y - horizon) / (height - horizon)
    calm = np.clip((y - horizon) / (0.05 * height), 0.12, 1)
    shift = wave * water.ripple * height * calm
    rows = np.clip(2 * horizon - y + shift - np.abs(shift) * 0.6, 0, horizon - 1).astype(np.int32)
    columns = np.clip(np.arange(width)[None, :] + shift * 0.35, 0, width - 1).astype(np.int32)
    mirror = frame[rows, columns]
    own = water.clarity + (1 - water.clarity) * 0.55 * depth
    surface = mix(mirror * 0.94, rgb(water.deep), np.broadcast_to(own, wave.shape))
    surface *= (1 + water.glint * np.clip(slope, -2.5, 2.5) * (0.4 + 0.6 * calm))[..., None]
    if water.foam:
        froth = 0.7 * wave + 0.55 * sample(swell, u * 5.7, v * 5.7) + 0.4 * sample(swell, u * 23, v * 23)
        crest = smoothstep(2.0 - water.foam, 2.8 - water.foam, froth) * smoothstep(0.03, 0.25, depth)
        surface = mix(surface, rgb("#eef4f5"), crest * 0.8)
    below = frame[horizon + 1 :]
    below[:] = surface if wet is None else mix(below, surface, wet[horizon + 1 :])
