"""Pictures as PNG on their way: lossless, and read only as they are written here, within bounds known beforehand.

An observation is a picture where its space is a Box of bytes of shape (height, width) or (height, width, 1, 3 or 4); a
batch of them is one tall picture. It travels as `{"$png": bytes, "shape": […]}`; all else, as it does without.
"""

import struct
import zlib
from math import prod
from typing import Any

import numpy as np

from ludus.errors import CodecError, shorten
from ludus.rendering.png import COLOR_TYPES, png_file
from ludus.spaces import Box, Space
from ludus.wire.space_codec import SpaceCodec
from ludus.wire.value import DEPTH, decode_value, encode_value

__all__ = ["PictureCodec", "is_picture", "read_png", "read_render", "write_png", "write_render"]

TAG = "$png"
MARK = b"\x89PNG\r\n\x1a\n"
CHANNELS = {color: channels for channels, color in COLOR_TYPES.items()}
HEADER = struct.Struct(">IIBBBBB")
CHUNK = struct.Struct(">I4s")
LEVEL = 1
DIMENSIONS = 4
LONGEST_SIDE = (1 << 31) - 1
UNFOLDING = 1100
"""More times than deflate can make anything smaller."""
LARGEST = 64 << 20
"""Bytes of pixels, where nothing else bounds them."""


def write_png(pixels: Any) -> bytes:
    r"""An array of bytes, of shape (height, width) or (height, width, channels), as a PNG file; quick before small.

    >>> write_png(np.zeros((2, 3, 3), np.uint8))[:4]
    b'\x89PNG'
    """
    if not is_picture(pixels):
        raise CodecError(f"picture: expected rows of bytes with 1, 3 or 4 channels, got {shorten(pixels)}")
    return png_file(pixels if pixels.ndim == 3 else pixels[:, :, np.newaxis], LEVEL)


def read_png(data: Any, most: int = LARGEST) -> Any:
    """The array in a PNG that `write_png` wrote, of shape (height, width, channels), of at most `most` bytes.

    CodecError, and nothing else, on any data: other kinds of PNG too.

    >>> read_png(write_png(np.full((2, 3), 7, np.uint8))).shape
    (2, 3, 1)
    """
    header, packed = _chunks(data)
    width, height, depth, color, *rest = HEADER.unpack(header)
    if depth != 8 or color not in CHANNELS or any(rest) or not width or not height:
        raise CodecError(f"picture: expected 8 bits, gray, RGB or RGBA, not interlaced, got {shorten(header)}")
    channels = CHANNELS[color]
    size = width * height * channels
    if size > most:
        raise CodecError(f"picture: expected at most {most} bytes of pixels, got {width}×{height}×{channels}")
    rows = np.frombuffer(_inflated(packed, size + height), np.uint8).reshape(height, 1 + width * channels)
    if rows[:, 0].any():
        raise CodecError("picture: expected rows without a filter, got others")
    return rows[:, 1:].copy().reshape(height, width, channels)


def is_picture(value: Any) -> bool:
    """Whether a value can be written as a PNG."""
    return type(value) is np.ndarray and value.dtype == np.uint8 and _is_shape(value.shape)


def _is_shape(shape: tuple[int, ...]) -> bool:
    flat = len(shape) == 2 or (len(shape) == 3 and shape[2] in COLOR_TYPES)
    return flat and 0 < shape[0] <= LONGEST_SIDE and 0 < shape[1] <= LONGEST_SIDE


def _chunks(data: Any) -> tuple[bytes, bytes]:
    """The header and the packed pixels of a file of exactly three chunks."""
    if type(data) is not bytes or data[:8] != MARK:
        raise CodecError(f"picture: expected the bytes of a PNG, got {shorten(data)}")
    found: list[bytes] = []
    at = len(MARK)
    for expected in (b"IHDR", b"IDAT", b"IEND"):
        if len(data) < at + 12:
            raise CodecError(f"picture: expected a chunk {expected.decode()}, got the end")
        length, kind = CHUNK.unpack_from(data, at)
        begin, end = at + CHUNK.size, at + CHUNK.size + length
        if kind != expected or end + 4 > len(data):
            raise CodecError(
                f"picture: expected a whole chunk {expected.decode()}, got {shorten(kind)} of {length} bytes"
            )
        if zlib.crc32(data[at + 4 : end]) != int.from_bytes(data[end : end + 4], "big"):
            raise CodecError(f"picture: expected the checksum of {expected.decode()}, got another")
        found.append(data[begin:end])
        at = end + 4
    if at != len(data) or len(found[0]) != HEADER.size or found[2]:
        raise CodecError("picture: expected three chunks and nothing more, got more")
    return found[0], found[1]


def _inflated(packed: bytes, size: int) -> bytes:
    """What is packed, which has to be `size` bytes; not more than one is unpacked beyond that."""
    if size > UNFOLDING * len(packed):  # more than deflate can pack: nothing is set aside for it
        raise CodecError(f"picture: expected {size} bytes of rows, got too few for that")
    unpacker = zlib.decompressobj()
    try:
        rows = unpacker.decompress(packed, size + 1)
    except zlib.error as error:
        raise CodecError(f"picture: expected packed rows, got {error}") from error
    if len(rows) != size or not unpacker.eof or unpacker.unused_data:
        raise CodecError(f"picture: expected {size} bytes of rows, got {'more' if len(rows) > size else 'others'}")
    return rows


class PictureCodec(SpaceCodec):
    """A `SpaceCodec` that writes pictures as PNG where its space holds some, and is like any other where not.

    `single` is the space of one lane, where `space` is that of a batch.

    >>> codec = PictureCodec(Box(0, 255, (4, 6, 3), np.uint8), "observation")
    >>> data = codec.write(np.zeros((4, 6, 3), np.uint8))
    >>> list(data), codec.read(data).shape
    (['$png', 'shape'], (4, 6, 3))
    """

    def __init__(self, space: Space[Any], name: str = "value", single: Space[Any] | None = None) -> None:
        super().__init__(space, name)
        one = space if single is None else single
        self.pictures = type(one) is Box and type(space) is Box and one.dtype == np.uint8 and _is_shape(one.shape)
        """Whether there are any."""
        if self.pictures:
            self._shape: Any = space.shape
            self._tall: Any = (-1, *(one.shape or ())[1:])
            self._plain_write, self._plain_take, self._plain_read = self.write, self.take, self.read
            self.write, self.take, self.read = self._write_picture, self._take_picture, self._read_picture

    def _write_picture(self, value: Any) -> Any:
        if type(value) is np.ndarray and value.dtype == np.uint8 and value.shape == self._shape:
            return _tagged(value, self._tall)
        return self._plain_write(value)

    def _take_picture(self, data: Any) -> Any:
        if not _is_tagged(data):
            return self._plain_take(data)
        pixels = _untagged(data, _Allowance(prod(self._shape)))
        if pixels.shape != self._shape:
            raise CodecError(f"{self.name}: expected a picture of shape {self._shape}, got one of {pixels.shape}")
        return pixels

    def _read_picture(self, data: Any) -> Any:
        if not _is_tagged(data):
            return self._plain_read(data)
        pixels = self._take_picture(data)
        self.space.check(pixels, self.name)
        return pixels


class _Allowance:
    """Bytes of pixels that may still be unpacked."""

    def __init__(self, left: int) -> None:
        self.left = left


def _tagged(pixels: Any, tall: Any) -> dict[str, Any]:
    return {TAG: write_png(pixels.reshape(tall)), "shape": list(pixels.shape)}


def _is_tagged(data: Any) -> bool:
    return type(data) is dict and TAG in data


def _untagged(data: Any, allowance: _Allowance) -> Any:
    shape = data.get("shape")
    if (
        list(data) != [TAG, "shape"]
        or type(shape) is not list
        or not all(type(one) is int and one > 0 for one in shape)
    ):
        raise CodecError(f"picture: expected its bytes and its shape, got {shorten(list(data))} and {shorten(shape)}")
    pixels = read_png(data[TAG], allowance.left)
    allowance.left -= pixels.size
    if len(shape) > DIMENSIONS or prod(shape) != pixels.size:
        raise CodecError(f"picture: expected a shape of {pixels.size} bytes, got {shorten(shape)}")
    return pixels.reshape(shape)


# --- what render() gives ---


def write_render(value: Any) -> Any:
    """What `render` gave as data, pictures as PNG: one, or a list or tuple of them; CodecError where it is no data.

    >>> list(write_render(np.zeros((2, 2, 3), np.uint8)))
    ['$png', 'shape']
    """
    if is_picture(value):
        return _tagged(value, value.shape)
    if type(value) is list or type(value) is tuple:
        each = [write_render(one) for one in value]
        return each if type(value) is list else {"$tuple": each}
    return encode_value(value, "render")


def read_render(data: Any, most: int = LARGEST) -> Any:
    """What `write_render` wrote, pictures of at most `most` bytes in all; CodecError, and nothing else, on any data.

    >>> read_render(write_render((np.zeros((2, 2), np.uint8), None)))[0].shape
    (2, 2)
    """
    return _render(data, _Allowance(most), DEPTH)


def _render(data: Any, allowance: _Allowance, depth: int) -> Any:
    if depth <= 0:
        raise CodecError(f"render: expected at most {DEPTH} levels, got more")
    if _is_tagged(data):
        return _untagged(data, allowance)
    if type(data) is list:
        return [_render(one, allowance, depth - 1) for one in data]
    if type(data) is dict and list(data) == ["$tuple"] and type(data["$tuple"]) is list:
        return tuple(_render(one, allowance, depth - 1) for one in data["$tuple"])
    return decode_value(data, "render")
