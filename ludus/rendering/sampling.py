"""Sampling: an image stretched, turned and put anywhere, as pixels with alpha."""

import math
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from ludus.rendering.coverage import coverage
from ludus.rendering.drawing import Picture
from ludus.rendering.frame import Floats, Frame
from ludus.rendering.matrix import Matrix
from ludus.rendering.resize import resample

__all__ = ["sampled"]

Reals = NDArray[np.floating]

MAX_CACHED_BYTES = 1 << 16
"""Bytes: an image, or its pixels on the frame, is remembered only up to this size."""


def sampled(picture: Picture, unit: Matrix, size: tuple[int, int]) -> Frame:
    """The RGBA pixels of a (width, height) window in which `unit` maps the unit square to the image's place.

    Sprites are remembered, since they come back in every frame; whole screens are new each time, and too large to keep.
    """
    small = len(picture.data) <= MAX_CACHED_BYTES and 4 * size[0] * size[1] <= MAX_CACHED_BYTES
    return _remembered(picture, unit, size) if small else _sampled(picture, unit, size)


def _sampled(picture: Picture, unit: Matrix, size: tuple[int, int]) -> Frame:
    image = _premultiplied(picture)
    across, down = math.hypot(unit.a, unit.b), math.hypot(unit.c, unit.d)
    if picture.smooth:
        shorter = max(1, min(picture.columns, round(across))), max(1, min(picture.rows, round(down)))
        image = resample(image, shorter)
        if _on_pixels(unit):
            return _bytes(resample(image, (round(across), round(down)))[: size[1], : size[0]])
    width, height = size
    row, column = np.divmod(np.arange(width * height, dtype=np.float64), width)
    place = unit.inverse().map_points(np.stack((column + 0.5, row + 0.5), axis=1))
    pick = _bilinear if picture.smooth else _nearest
    found = pick(image, place[:, 0] * image.shape[1], place[:, 1] * image.shape[0]).reshape(height, width, 4)
    return _bytes(found * _covered(unit, size))


_remembered = lru_cache(maxsize=256)(_sampled)


def _premultiplied(picture: Picture) -> Reals:
    """The image as floats with alpha multiplied in: averages then weigh colours by how much of them is there."""
    source = np.frombuffer(picture.data, dtype=np.uint8).reshape(picture.rows, picture.columns, picture.channels)
    image = np.full((picture.rows, picture.columns, 4), 255.0, dtype=np.float32)
    image[:, :, : picture.channels] = source
    image[:, :, :3] *= image[:, :, 3:] / np.float32(255.0)
    return image


def _on_pixels(unit: Matrix) -> bool:
    """Whether the image starts at the window's corner and ends on whole pixels."""
    return unit.is_upright and unit.e == unit.f == 0.0 and unit.a == round(unit.a) and unit.d == round(unit.d)


def _bilinear(image: Reals, x: Floats, y: Floats) -> Reals:
    x, y = np.clip(x - 0.5, 0.0, image.shape[1] - 1), np.clip(y - 0.5, 0.0, image.shape[0] - 1)
    left, top = x.astype(np.int64), y.astype(np.int64)
    right, bottom = np.minimum(left + 1, image.shape[1] - 1), np.minimum(top + 1, image.shape[0] - 1)
    aside, below = (x - left).astype(np.float32)[:, np.newaxis], (y - top).astype(np.float32)[:, np.newaxis]
    upper = image[top, left] + (image[top, right] - image[top, left]) * aside
    lower = image[bottom, left] + (image[bottom, right] - image[bottom, left]) * aside
    return upper + (lower - upper) * below


def _nearest(image: Reals, x: Floats, y: Floats) -> Reals:
    column = np.clip(np.floor(x).astype(np.int64), 0, image.shape[1] - 1)
    row = np.clip(np.floor(y).astype(np.int64), 0, image.shape[0] - 1)
    return image[row, column]


def _covered(unit: Matrix, size: tuple[int, int]) -> Reals:
    """How much of each pixel the image's outline covers, as a last axis of one."""
    corners = np.array([unit.map(*corner) for corner in ((0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0))])
    return coverage(corners, np.array([1, 2, 3, 0]), size).astype(np.float32)[:, :, np.newaxis]


def _bytes(image: Reals) -> Frame:
    """Premultiplied floats as RGBA bytes."""
    alpha = image[:, :, 3:]
    colors = image[:, :, :3] * (np.float32(255.0) / np.maximum(alpha, np.float32(1e-6)))
    return np.clip(np.concatenate((colors, alpha), axis=2) + np.float32(0.5), 0, 255).astype(np.uint8)
