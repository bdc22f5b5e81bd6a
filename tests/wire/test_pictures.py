"""Pictures as PNG: lossless, readable by others, and nothing but our own is read."""

import struct
import tracemalloc
import zlib
from contextlib import suppress
from random import Random
from typing import Any

import imageio.v3 as imageio
import numpy as np
import pytest

from ludus.errors import CodecError, InvalidValue
from ludus.spaces import Box, Discrete
from ludus.wire import SpaceCodec
from ludus.wire.pictures import PictureCodec, is_picture, read_png, read_render, write_png, write_render

SHAPES = [(1, 1), (5, 7), (5, 7, 1), (5, 7, 3), (5, 7, 4), (210, 160, 3)]


def picture(shape: tuple[int, ...], seed: int = 0) -> Any:
    return np.random.default_rng(seed).integers(0, 256, shape, np.uint8)


def image(shape: tuple[int, ...]) -> Any:
    return Box(0, 255, shape, np.uint8)


@pytest.mark.parametrize("shape", SHAPES)
def test_pictures_come_out_bit_for_bit(shape: tuple[int, ...]) -> None:
    codec = PictureCodec(image(shape), "observation")
    assert codec.pictures
    pixels = picture(shape)
    data = codec.write(pixels)
    for found in (codec.read(data), codec.take(data)):
        assert found.shape == shape
        assert found.dtype == np.uint8
        assert (found == pixels).all()
        found[...] = 0  # the caller's own


@pytest.mark.parametrize("shape", [(5, 7), (5, 7, 3), (5, 7, 4)])
def test_others_read_what_we_write(shape: tuple[int, ...]) -> None:
    pixels = picture(shape)
    assert (imageio.imread(write_png(pixels), extension=".png") == pixels).all()


@pytest.mark.parametrize("shape", [(4, 6), (4, 6, 3)])
def test_a_batch_is_one_tall_picture(shape: tuple[int, ...]) -> None:
    single = image(shape)
    codec = PictureCodec(single.batch(8), "observation", single)
    pixels = picture((8, *shape))
    data = codec.write(pixels)
    assert read_png(data["$png"]).shape[0] == 8 * shape[0]
    assert (codec.read(data) == pixels).all()


def test_what_is_no_picture_travels_as_without() -> None:
    for space in (Discrete(3), Box(0, 1, (4, 4)), Box(0, 255, (4, 4, 2), np.uint8), Box(0, 255, (9,), np.uint8)):
        codec = PictureCodec(space, "observation")
        assert not codec.pictures
        value = space.sample()
        assert codec.write(value) == SpaceCodec(space).write(value)
    codec = PictureCodec(image((4, 4)), "observation")
    assert codec.write(np.zeros((2, 2), np.uint8))["shape"] == [2, 2]  # a value outside the space, as it is
    assert (codec.read(SpaceCodec(image((4, 4))).write(np.ones((4, 4), np.uint8))) == 1).all()  # raw is read too


def test_pictures_are_held_to_their_space() -> None:
    dark = Box(0, 9, (2, 2), np.uint8)
    codec = PictureCodec(dark, "observation")
    data = codec.write(np.full((2, 2), 200, np.uint8))
    assert codec.take(data).max() == 200
    with pytest.raises(InvalidValue, match="expected 0 to 9, got 200"):
        codec.read(data)
    wide = PictureCodec(image((2, 8)), "observation").write(picture((2, 8)))
    with pytest.raises(CodecError, match=r"expected a picture of shape \(4, 4\), got one of \(2, 8\)"):
        PictureCodec(image((4, 4)), "observation").read(wide)


@pytest.mark.parametrize(
    "value",
    [
        picture((4, 4, 3)),
        picture((4, 4)),
        [picture((2, 3, 3)), picture((5, 5, 4))],
        (picture((2, 3)), None),
        "text",
        None,
        np.zeros((2, 2, 2), np.uint8),
        np.zeros((3, 3, 3), np.float32),
        [],
    ],
)
def test_renders_come_out_as_they_were(value: Any) -> None:
    found = read_render(write_render(value))
    assert type(found) is type(value)
    np.testing.assert_equal(found, value)


def test_pictures_beyond_the_bound_are_refused_before_they_unfold() -> None:
    bomb = zlib.compress(bytes(1 << 22))
    vast = made(struct.pack(">IIBBBBB", 8192, 8192, 8, 2, 0, 0, 0), bytes(1000))
    tracemalloc.start()
    try:
        with pytest.raises(CodecError, match="at most 1000 bytes of pixels, got 8192×8192×3"):
            read_png(vast, 1000)
        with pytest.raises(CodecError, match="at most 67108864 bytes"):
            read_png(vast)
        header = struct.pack(">IIBBBBB", 8000, 8000, 8, 0, 0, 0, 0)
        with pytest.raises(CodecError, match="too few for that"):
            read_png(made(header, zlib.compress(b"")))
        with pytest.raises(CodecError, match="expected 12 bytes of rows, got more"):
            read_png(made(struct.pack(">IIBBBBB", 2, 4, 8, 0, 0, 0, 0), bomb))
        assert tracemalloc.get_traced_memory()[1] < 2 << 20
    finally:
        tracemalloc.stop()


def test_many_pictures_share_one_bound() -> None:
    frames = [np.zeros((100, 100), np.uint8)] * 10
    assert len(read_render(write_render(frames), 100_000)) == 10
    with pytest.raises(CodecError, match="at most 9999 bytes of pixels"):
        read_render(write_render(frames), 99_999)


def chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def made(header: bytes, packed: bytes, *more: bytes) -> bytes:
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + b"".join(more) + chunk(b"IDAT", packed) + chunk(b"IEND", b"")


GRAY = struct.pack(">IIBBBBB", 2, 2, 8, 0, 0, 0, 0)
ROWS = zlib.compress(bytes([0, 1, 2, 0, 3, 4]))


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "bytes of a PNG"),
        ("text", "bytes of a PNG"),
        (None, "bytes of a PNG"),
        (made(GRAY, ROWS)[:-1], "whole chunk IEND|chunk IEND, got the end"),
        (made(GRAY, ROWS) + b"x", "nothing more"),
        (made(GRAY, ROWS, chunk(b"tEXt", b"k\0v")), "whole chunk IDAT, got b'tEXt'"),
        (made(struct.pack(">IIBBBBB", 2, 2, 16, 0, 0, 0, 0), ROWS), "expected 8 bits"),
        (made(struct.pack(">IIBBBBB", 2, 2, 8, 3, 0, 0, 0), ROWS), "expected 8 bits"),
        (made(struct.pack(">IIBBBBB", 2, 2, 8, 0, 0, 0, 1), ROWS), "expected 8 bits"),
        (made(struct.pack(">IIBBBBB", 0, 2, 8, 0, 0, 0, 0), ROWS), "expected 8 bits"),
        (made(GRAY + b"\0", ROWS), "nothing more"),
        (made(GRAY, zlib.compress(bytes([1, 1, 2, 2, 3, 4]))), "without a filter"),
        (made(GRAY, zlib.compress(bytes(5))), "expected 6 bytes of rows, got others"),
        (made(GRAY, zlib.compress(bytes(7))), "expected 6 bytes of rows, got more"),
        (made(GRAY, ROWS + b"more"), "expected 6 bytes of rows"),
        (made(GRAY, b"not zlib"), "expected packed rows"),
        (made(GRAY, ROWS).replace(ROWS, bytes(len(ROWS))), "the checksum of IDAT"),
    ],
)
def test_other_files_are_refused(data: Any, why: str) -> None:
    with pytest.raises(CodecError, match=why):
        read_png(data)


@pytest.mark.parametrize(
    "data", [{"$png": b""}, {"$png": b"", "shape": None}, {"$png": write_png(picture((2, 2))), "shape": [3, 3]}, {1: 2}]
)
def test_torn_tags_are_refused(data: Any) -> None:
    with pytest.raises(CodecError):
        read_render(data)


def test_any_bytes_are_a_picture_or_a_codec_error() -> None:
    rng, good = Random(3), write_png(picture((6, 5, 3)))
    for _ in range(3000):
        torn = bytearray(good)
        for _ in range(rng.randint(1, 4)):
            torn[rng.randrange(len(torn))] = rng.randrange(256)
        with suppress(CodecError):
            read_png(bytes(torn[: rng.randint(0, len(torn))]) if rng.random() < 0.3 else bytes(torn), 1 << 16)


def test_only_bytes_of_the_right_shape_are_pictures() -> None:
    assert is_picture(np.zeros((1, 1), np.uint8))
    assert not any(map(is_picture, [np.zeros((0, 1), np.uint8), np.zeros(3, np.uint8), np.zeros((2, 2)), [[1]], None]))
    with pytest.raises(CodecError, match="expected rows of bytes"):
        write_png(np.zeros((2, 2)))
