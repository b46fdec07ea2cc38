"""What a scene of the gallery is: a name, a size, how it is stored, and what it shows.

A scene is painted at `detail` of its size and enlarged: 1 gives it texture down to the pixel, as a
photograph has. Names are what tests and examples search for, so at least eight must be found by "lake".
"""

from dataclasses import dataclass, field
from typing import Callable, Dict, Tuple

from .landscape import View, paint_water


@dataclass(frozen=True)
class Scene:
    name: str
    size: Tuple[int, int]  # as seen, upright
    paint: Callable  # (size in pixels) → float picture
    detail: float = 0.5
    grain: float = 2.0  # deviation of the sensor noise, of 255
    quality: int = 50
    store: Dict = field(default_factory=dict)  # see gallery.store


SCENES = []


def scene(name, width, height, detail=0.5, grain=2.0, quality=50, **store):
    def register(paint):
        SCENES.append(Scene(name, (width, height), paint, detail, grain, quality, store))
        return paint

    return register


def overlay_water(picture, seed, horizon, water):
    """Water over everything below the horizon, so that it mirrors what was drawn by hand."""
    view = View(horizon=horizon)
    paint_water(picture, int(horizon * picture.shape[0]), view, water, None, seed)
