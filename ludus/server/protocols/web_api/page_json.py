"""What a page shows of any value: JSON that a browser reads without loss or harm. It never fails."""

from base64 import b64encode
from collections.abc import Iterable, Mapping
from typing import overload

import numpy as np
import numpy.typing as npt

from ludus.errors import shorten
from ludus.spaces import Space
from ludus.spaces.kinds import is_array, is_list_or_tuple, is_mapping
from ludus.spaces.plain import MAX_EXACT_INTEGER, Dialect, Write
from ludus.spaces.shown import Shown

__all__ = ["observed", "plain"]

MAX_ARRAY_NUMBERS = 16_384
"""Numbers in an array: a larger one is shown by its type and shape."""
MAX_TEXT_CHARS = 1 << 20
"""Characters of one text."""


class ShownOnPage(Shown):
    """Values as far as they can be shown: what is no data as text, what is too large or too deep by a word of it."""

    def write(self, value: object, path: str = "value", around: int = 0) -> object:
        """A value as JSON, whatever its own code does."""
        try:
            return super().write(value, path, around)
        except Exception:  # of an author's keys
            return f"a {type(value).__name__}"

    def of_a_class(self, value: object, path: str, depth: int) -> object:
        """A value of a class of its own, whose code may fail."""
        try:
            return super().of_a_class(value, path, depth)
        except Exception:
            return self.unknown(value, path)

    def forms(self) -> dict[type, Write]:
        """Text and numbers are looked at too: a browser rounds what is beyond 53 bits, and JSON has no half letters."""
        odd: dict[type, Write] = {str: _write_text, int: _write_int, bytes: _write_bytes}
        return {**super().forms(), **odd, **dict.fromkeys((set, frozenset), _write_set)}

    def unknown(self, value: object, path: str) -> object:
        """Its own text."""
        del path
        try:
            return text(shorten(value))
        except Exception:  # its own __repr__
            return f"a {type(value).__name__}"

    def too_deep(self, path: str) -> object:
        """That there is more."""
        del path
        return "…"

    def key(self, key: object) -> str:
        """The key of an object."""
        return text(str(key))

    def numbers(self, array: npt.NDArray[np.generic], path: str, depth: int) -> object:
        """An array as lists, or in words."""
        if array.size > MAX_ARRAY_NUMBERS:
            return f"{array.dtype} array of {'×'.join(map(str, array.shape))}"
        return self.walk(array.tolist(), path, depth + 1)


def text(value: str) -> str:
    """Text without halves of characters, which no JSON holds, and of bounded length."""
    whole = value.encode("utf8", "replace").decode()
    return whole if len(whole) <= MAX_TEXT_CHARS else f"{whole[:MAX_TEXT_CHARS]}…"


def _write_text(dialect: Dialect, value: str, path: str, depth: int) -> object:
    del dialect, path, depth
    return text(value)


def _write_int(dialect: Dialect, value: int, path: str, depth: int) -> object:
    del dialect, path, depth
    return value if -MAX_EXACT_INTEGER <= value <= MAX_EXACT_INTEGER else shorten(value)


def _write_bytes(dialect: Dialect, value: bytes, path: str, depth: int) -> object:
    del dialect, path, depth
    return b64encode(value[:MAX_TEXT_CHARS]).decode()


def _write_set(dialect: Dialect, value: Iterable[object], path: str, depth: int) -> object:
    return dialect.items(value, path, depth)


_page = ShownOnPage()


@overload
def plain(value: str) -> str: ...
@overload
def plain(value: Mapping[str, object]) -> dict[str, object]: ...
@overload
def plain(value: object) -> object: ...
def plain(value: object) -> object:
    """A value as JSON for a page. Never raises: what a stranger put into an info is shown as far as it can be.

    >>> plain({"at": (1, float("inf")), "seen": np.zeros(2, np.int8), 3: b"a"})
    {'at': [1, 'Infinity'], 'seen': [0, 0], '3': 'YQ=='}
    >>> plain(np.zeros((210, 160, 3), np.uint8))
    'uint8 array of 210×160×3'
    """
    return _page.write(value)


def observed(space: Space[object], value: object) -> object:
    """A value of a space as the space writes it; one that is too large, or not in the space, as `plain` does.

    >>> from ludus.spaces import Discrete
    >>> observed(Discrete(3), np.int64(2)), observed(Discrete(3), "two")
    (2, 'two')
    """
    if _numbers(value) > MAX_ARRAY_NUMBERS:
        return plain(value)
    try:
        return plain(space.encode(value, binary=False))
    except Exception:  # the environment's own fault, which is to be seen and not to stop the page
        return plain(value)


def _numbers(value: object) -> int:
    if is_array(value):
        return value.size
    if is_mapping(value):
        return sum(_numbers(one) for one in value.values())
    return sum(_numbers(one) for one in value) if is_list_or_tuple(value) else 1
