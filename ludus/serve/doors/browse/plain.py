"""Plain: any value as JSON that a browser reads without loss or harm; what JSON lacks becomes text."""

from base64 import b64encode
from collections.abc import Mapping
from math import isfinite, isnan
from typing import Any

import numpy as np

from ludus.errors import shorten

__all__ = ["observed", "plain"]

DEPTH = 24
LARGEST = 16_384
"""Numbers in an array: what is larger is told by its type and shape."""
LONGEST = 1 << 20
"""Characters of one text."""
EXACT = 1 << 53
"""Whole numbers beyond it are rounded by a browser, so they travel as text."""


def plain(value: Any, depth: int = DEPTH) -> Any:
    """A value as JSON. Never raises: what a stranger put into an info is shown as far as it can be.

    >>> plain({"at": (1, float("inf")), "seen": np.zeros(2, np.int8), 3: b"a"})
    {'at': [1, 'Infinity'], 'seen': [0, 0], '3': 'YQ=='}
    >>> plain(np.zeros((210, 160, 3), np.uint8))
    'uint8 array of 210×160×3'
    """
    if value is None or isinstance(value, bool | np.bool_):
        return None if value is None else bool(value)
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, int | np.integer):
        return int(value) if -EXACT <= value <= EXACT else shorten(int(value))
    if isinstance(value, float | np.floating):
        return _number(float(value))
    if isinstance(value, bytes | bytearray):
        return b64encode(value[:LONGEST]).decode()
    if depth <= 0:
        return "…"
    return _container(value, depth - 1)


def _text(value: str) -> str:
    """Text without halves of characters, which no JSON holds, and of bounded length."""
    whole = str(value).encode("utf8", "replace").decode()
    return whole if len(whole) <= LONGEST else f"{whole[:LONGEST]}…"


def _number(value: float) -> Any:
    if isfinite(value):
        return value
    return "NaN" if isnan(value) else "Infinity" if value > 0 else "-Infinity"


def _container(value: Any, depth: int) -> Any:
    if isinstance(value, np.ndarray):
        if value.size > LARGEST:
            return f"{value.dtype} array of {'×'.join(map(str, value.shape))}"
        return plain(value.tolist(), depth + 1)
    if isinstance(value, Mapping):
        return {_text(str(key)): plain(one, depth) for key, one in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(one, depth) for one in value]
    try:
        return _text(shorten(value))
    except Exception:  # its own __repr__
        return f"a {type(value).__name__}"


def observed(space: Any, value: Any) -> Any:
    """A value of a space as the space writes it; one that is too large, or not in the space, as `plain` does.

    >>> from ludus.spaces import Discrete
    >>> observed(Discrete(3), np.int64(2)), observed(Discrete(3), "two")
    (2, 'two')
    """
    if _numbers(value) > LARGEST:
        return plain(value)
    try:
        return plain(space.encode(value, binary=False))
    except Exception:  # the environment's own fault, which is to be seen and not to stop the page
        return plain(value)


def _numbers(value: Any) -> int:
    if isinstance(value, np.ndarray):
        return value.size
    if isinstance(value, Mapping):
        return sum(_numbers(one) for one in value.values())
    return sum(_numbers(one) for one in value) if isinstance(value, list | tuple) else 1
