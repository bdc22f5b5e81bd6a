"""Frames: pictures as arrays of bytes, `(height, width, 3)`, the form in which everybody exchanges them."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ludus.errors import InvalidArgument, shorten

__all__ = ["Floats", "Frame", "as_frame"]

Frame = NDArray[np.uint8]
Floats = NDArray[np.float64]


def as_frame(value: object, where: str = "frame") -> Frame:
    """`value` as an RGB frame: gray becomes three equal channels, alpha is dropped; everything else is refused.

    >>> as_frame(np.zeros((2, 4), np.uint8)).shape
    (2, 4, 3)
    """
    frame = np.asarray(value)
    if frame.dtype != np.uint8 or frame.ndim not in (2, 3) or frame.size == 0:
        raise InvalidArgument(
            f"{where}: expected uint8 pixels of shape (height, width, 3), got {_described(value, frame)}"
        )
    if frame.ndim == 2:
        frame = frame[:, :, np.newaxis]
    if frame.shape[2] == 1:
        return np.repeat(frame, 3, axis=2)
    if frame.shape[2] not in (3, 4):
        raise InvalidArgument(f"{where}: expected 1, 3 or 4 channels in the last axis, got shape {frame.shape}")
    return frame[:, :, :3]


def _described(value: object, frame: NDArray[Any]) -> str:
    if frame.dtype == object or frame.ndim == 0:
        return shorten(value)
    return f"{frame.dtype} of shape {frame.shape}"
