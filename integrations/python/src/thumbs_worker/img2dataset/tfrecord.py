"""TensorFlow's records: `Example` messages as Protocol Buffers, each with its length and CRC-32C. Needs google-crc32c."""

from __future__ import annotations

import math
import struct
from collections.abc import Mapping
from typing import IO, Any

from thumbs_worker.img2dataset.settings import SettingError

# The numbers of the fields of `Feature`, and what a checksum is masked with.
_BYTES, _FLOATS, _INTEGERS = 1, 2, 3
_MASK = 0xA282EAD8


class Records:
    """Writes records into a file."""

    def __init__(self, stream: IO[bytes]) -> None:
        try:
            from google_crc32c import value
        except ImportError as error:
            raise SettingError("output_format=tfrecord needs google-crc32c: pip install google-crc32c") from error
        self._stream = stream
        self._checksum = value

    def write(self, features: Mapping[str, Any]) -> None:
        """Adds an `Example` with these features: bytes, texts, numbers, lists of them; None is an empty text."""
        entries = [
            _field(1, _field(1, name.encode()) + _field(2, _feature(value))) for name, value in features.items()
        ]
        data = _field(1, b"".join(entries))
        length = struct.pack("<Q", len(data))
        self._stream.write(length + self._masked(length) + data + self._masked(data))

    def _masked(self, data: bytes) -> bytes:
        checksum = self._checksum(data)
        rotated = checksum >> 15 | checksum << 17
        return struct.pack("<I", rotated + _MASK & 0xFFFFFFFF)


def _feature(value: Any) -> bytes:
    values = value if isinstance(value, list) else [value]
    if values and all(isinstance(each, int) for each in values):
        return _field(_INTEGERS, _field(1, b"".join(_varint(each & 0xFFFFFFFFFFFFFFFF) for each in values)))
    if values and all(isinstance(each, float) for each in values):
        return _field(_FLOATS, _field(1, b"".join(map(_single, values))))
    return _field(_BYTES, b"".join(_field(1, _bytes(each)) for each in values))


def _single(value: float) -> bytes:
    """A number as 32 bits; infinity, as TensorFlow has it, for one that they cannot hold."""
    try:
        return struct.pack("<f", value)
    except OverflowError:
        return struct.pack("<f", math.copysign(math.inf, value))


def _bytes(value: Any) -> bytes:
    if isinstance(value, bytes):
        return value
    return b"" if value is None else str(value).encode()


def _field(number: int, data: bytes) -> bytes:
    """A field with a length."""
    return _varint(number << 3 | 2) + _varint(len(data)) + data


def _varint(value: int) -> bytes:
    result = bytearray()
    while value > 0x7F:
        result.append(value & 0x7F | 0x80)
        value >>= 7
    result.append(value)
    return bytes(result)
