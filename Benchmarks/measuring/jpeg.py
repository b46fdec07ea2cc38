"""What the measurements must know of a JPEG file, read from its frame header, and how a size is laid into a box."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Frame:
    """The stored size in pixels, and whether the file is progressive."""

    width: int
    height: int
    is_progressive: bool


def frame(path):
    """The frame of a JPEG file."""
    with open(path, "rb") as file:
        if file.read(2) != b"\xff\xd8":
            raise ValueError(f"{path} is no JPEG file")
        while True:
            byte = file.read(1)
            while byte == b"\xff":
                byte = file.read(1)
            if not byte:
                raise ValueError(f"{path} has no frame")
            marker = byte[0]
            if marker == 0 or 0xD0 <= marker <= 0xD8:
                continue
            length = int.from_bytes(file.read(2), "big")
            body = file.read(length - 2)
            if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
                height, width = int.from_bytes(body[1:3], "big"), int.from_bytes(body[3:5], "big")
                return Frame(width, height, marker in (0xC2, 0xC6, 0xCA, 0xCE))


def fitted(width, height, box, fit):
    """The size that a picture is resized to: within the box for `contain`, around it for `cover`."""
    choose = min if fit == "contain" else max
    scale = choose(box[0] / width, box[1] / height)
    return max(1, round(width * scale)), max(1, round(height * scale))


def reduction(width, height, box, fit):
    """By how much libjpeg may shrink a picture as it decodes, so that it is still at least what it is resized to."""
    target = fitted(width, height, box, fit)
    enough = [by for by in (8, 4, 2) if -(-width // by) >= target[0] and -(-height // by) >= target[1]]
    return enough[0] if enough else 1
