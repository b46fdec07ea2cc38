"""img2dataset's ways to resize, by requests to the worker and, where a canvas is filled or an image grows, Pillow."""

from __future__ import annotations

import io
from typing import Any

from thumbs_worker.img2dataset.settings import SettingError, Settings
from thumbs_worker.protocol import Result

# The longest side that the worker takes: with it nothing is made smaller.
_WHOLE = 16383
# A size of which nobody wants the thumbnail.
_LEAST = "16x16"
_WHITE = (255, 255, 255)
_FORMATS = {"jpg": "jpeg", "png": "png", "webp": "webp"}
_PILLOW_FORMATS = {"jpg": "JPEG", "png": "PNG", "webp": "WEBP"}
# Where PNG and WebP say that they are transparent.
_PNG_COLOUR_TYPE = 25
_PNG_WITH_ALPHA = frozenset({4, 6})
_WEBP_FLAGS = 20
_WEBP_ALPHA = 0x10
# img2dataset's quality of a PNG is zlib's level; the worker has its own.
_PNG_QUALITY = 80


class Resizer:
    """What is requested of the worker for an image, and what is made of its result."""

    def __init__(self, settings: Settings) -> None:
        self._mode = settings.resize_mode
        self._side = settings.image_size
        self._grows = not settings.resize_only_if_bigger and self._mode != "no"
        self._end = settings.encode_format
        self._quality = settings.encode_quality
        self._upscale = settings.upscale_interpolation
        self._passes_on = settings.disable_all_reencoding
        self._keeps_untouched = settings.skip_reencode
        self._limits = (settings.min_image_size, settings.max_image_area, settings.max_aspect_ratio)
        if (self._mode == "border" or self._grows) and not self._passes_on:
            _pillow()

    def item(self, url: str) -> dict[str, Any]:
        """The request for a row."""
        if self._mode == "border":
            # Without loss, since Pillow encodes it anew on its canvas.
            return {"url": url, "format": "png"}
        return {"url": url}

    def sizes(self) -> list[str]:
        """The sizes to request. `keep_ratio` means the shorter side: one of the two boxes has it at that length."""
        if self._passes_on:
            return [_LEAST]
        if self._mode == "keep_ratio":
            return [f"{self._side}x", f"x{self._side}"]
        return [f"{_WHOLE}x{_WHOLE}" if self._mode == "no" else f"{self._side}x{self._side}"]

    @property
    def fit(self) -> str:
        """How the image is laid into its box."""
        return "cover" if self._mode == "center_crop" else "contain"

    @property
    def format(self) -> str:
        """The worker's name of the format."""
        return _FORMATS[self._end]

    @property
    def quality(self) -> int:
        """The worker's quality."""
        return _PNG_QUALITY if self._end == "png" else max(1, min(100, self._quality))

    def refusal(self, result: Result) -> str | None:
        """What img2dataset says of an image that is too small, too large or too long."""
        if result.source is None or self._passes_on:
            return None
        width, height = result.source.width, result.source.height
        smallest, area, ratio = self._limits
        if min(width, height) < smallest:
            return "image too small"
        if width * height > area:
            return "image area too large"
        return "aspect ratio too large" if max(width, height) / min(width, height) > ratio else None

    def again(self, result: Result, url: str) -> dict[str, Any] | None:
        """A second request, without loss and whole, for an image that Pillow has to finish; None for the others."""
        if result.source is None or self._mode == "border" or self._passes_on or self._is_untouched(result):
            return None
        width, height = result.source.width, result.source.height
        reaches = (max if self._mode in ("keep_ratio_largest", "no") else min)(width, height) >= self._side
        data = result.data or b""
        if (reaches or not self._grows and self._mode != "center_crop") and not _is_transparent(data):
            return None
        if self._mode == "no" or reaches:
            return {"url": url, "format": "png"}
        return {"url": url, "format": "png", "fit": "contain", "sizes": f"{_WHOLE}x{_WHOLE}"}

    def _is_untouched(self, result: Result) -> bool:
        """Whether the source itself is written: it has the format, nothing has to be resized, and it is opaque."""
        source = result.source
        if not self._keeps_untouched or result.original is None or source is None or source.format != self.format:
            return False
        reached = (min if self._mode in ("keep_ratio", "center_crop") else max)(source.width, source.height)
        return not self._grows and (self._mode == "no" or reached <= self._side) and not _is_transparent(result.original)

    def image(self, result: Result, is_second: bool) -> tuple[bytes, int | None, int | None]:
        """The image to write, its width and its height, which are not known of what is passed on."""
        if self._passes_on:
            assert result.original is not None
            return result.original, None, None
        if self._is_untouched(result):
            assert result.original is not None and result.source is not None
            return result.original, result.source.width, result.source.height
        best = max(result.thumbnails, key=lambda each: each.width * each.height)
        assert best.data is not None
        if self._mode == "border" or is_second:
            return self._finished(best.data)
        return best.data, best.width, best.height

    def _finished(self, data: bytes) -> tuple[bytes, int, int]:
        pillow = _pillow()
        with pillow.open(io.BytesIO(data)) as opened:
            image = opened
            if image.mode not in ("RGB", "L"):
                image = image.convert("RGBA")
                canvas = pillow.new("RGB", image.size, _WHITE)
                canvas.paste(image, mask=image.getchannel("A"))
                image = canvas
            image = self._grown(image)
            if self._mode == "border" and (self._grows or max(image.size) >= self._side):
                canvas = pillow.new(image.mode, (self._side, self._side), _WHITE if image.mode == "RGB" else 255)
                canvas.paste(image, ((self._side - image.width) // 2, (self._side - image.height) // 2))
                image = canvas
            output = io.BytesIO()
            options = {"compress_level": min(9, self._quality)} if self._end == "png" else {"quality": self._quality}
            image.save(output, _PILLOW_FORMATS[self._end], **options)
            return output.getvalue(), image.width, image.height

    def _grown(self, image: Any) -> Any:
        """The image at the size that the mode asks for, where it is smaller and may grow."""
        if not self._grows:
            return image
        reached = min(image.size) if self._mode in ("keep_ratio", "center_crop") else max(image.size)
        if reached < self._side:
            scale = self._side / reached
            box = (max(1, round(image.width * scale)), max(1, round(image.height * scale)))
            image = image.resize(box, self._filter())
        if self._mode == "center_crop":
            left, top = (image.width - self._side) // 2, (image.height - self._side) // 2
            image = image.crop((left, top, left + self._side, top + self._side))
        return image

    def _filter(self) -> Any:
        resampling = _pillow().Resampling
        if self._upscale.startswith("lanczos"):
            return resampling.LANCZOS
        if self._upscale.endswith("cubic"):
            return resampling.BICUBIC
        return resampling.NEAREST if self._upscale in ("nearest", "area") else resampling.BILINEAR


def _is_transparent(data: bytes) -> bool:
    """Whether a PNG or WebP may have transparent parts, which img2dataset lays on white."""
    if data.startswith(b"\x89PNG"):
        return data[_PNG_COLOUR_TYPE] in _PNG_WITH_ALPHA
    return data[8:16] == b"WEBPVP8X" and bool(data[_WEBP_FLAGS] & _WEBP_ALPHA)


def _pillow() -> Any:
    try:
        from PIL import Image
    except ImportError as error:
        raise SettingError(
            "Pillow is missing, which fills the canvas of resize_mode=border and makes small images larger: "
            "pip install 'thumbs-worker[img2dataset]', or use resize_mode=keep_ratio_largest with resize_only_if_bigger"
        ) from error
    return Image
