"""Palettes: the few colours that stand for the many of a frame; exact when there are few to begin with."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ludus.rendering.frame import Frame

__all__ = ["to_palette"]

Colors = NDArray[np.int64]


def to_palette(pixels: Frame, limit: int = 255) -> tuple[Frame, Frame]:
    """At most `limit` colours as rows of three bytes, and for each pixel the number of its colour.

    >>> colors, indices = to_palette(np.array([[[1, 2, 3], [9, 9, 9]]], dtype=np.uint8))
    >>> colors.tolist(), indices.tolist()
    ([[1, 2, 3], [9, 9, 9]], [[0, 1]])
    """
    wide = pixels.astype(np.int64)
    packed = (wide[..., 0] << 16) | (wide[..., 1] << 8) | wide[..., 2]
    found, inverse, counts = np.unique(packed, return_inverse=True, return_counts=True)
    colors = np.stack((found >> 16, (found >> 8) & 255, found & 255), axis=1)
    numbers = np.arange(len(colors))
    if len(colors) > limit:
        colors, numbers = _median_cut(colors, counts, limit)
    return colors.astype(np.uint8), numbers[inverse].reshape(packed.shape).astype(np.uint8)


def _median_cut(colors: Colors, counts: Colors, limit: int) -> tuple[Colors, Colors]:
    """Split the box of colours that is worst served, in the middle of its pixels, until there are enough boxes."""
    boxes = [np.arange(len(colors))]
    losses = [_loss(colors, counts, boxes[0])]
    while len(boxes) < limit:
        worst = int(np.argmax(losses))
        halves = _split(colors, counts, boxes.pop(worst))
        losses.pop(worst)
        boxes += halves
        losses += [_loss(colors, counts, half) for half in halves]
    numbers = np.empty(len(colors), dtype=np.int64)
    means: list[Any] = []
    for number, box in enumerate(boxes):
        numbers[box] = number
        weight = counts[box][:, np.newaxis]
        means.append((2 * (colors[box] * weight).sum(axis=0) + weight.sum()) // (2 * weight.sum()))
    return np.array(means), numbers


def _loss(colors: Colors, counts: Colors, box: Colors) -> float:
    """How badly one colour serves a box; nothing to win where there is only one."""
    spread = np.ptp(colors[box], axis=0).max()
    return float(spread) ** 2 * float(counts[box].sum())


def _split(colors: Colors, counts: Colors, box: Colors) -> list[Colors]:
    channel = int(np.argmax(np.ptp(colors[box], axis=0)))
    ordered = box[np.argsort(colors[box, channel], kind="stable")]
    weight = np.cumsum(counts[ordered])
    middle = int(np.searchsorted(weight, weight[-1] / 2.0)) + 1
    middle = min(middle, len(ordered) - 1)
    return [ordered[:middle], ordered[middle:]]
