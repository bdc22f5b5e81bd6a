"""Colours: four bytes (red, green, blue, alpha), written as a tuple, as `#rrggbb` or by name."""

import re
from collections.abc import Iterable
from functools import lru_cache
from operator import index
from typing import NamedTuple, SupportsIndex, cast

from ludus.errors import InvalidArgument, listing, shorten
from ludus.spaces.kinds import is_iterable

__all__ = ["NAMES", "RGBA", "Color", "parse_color"]

Color = str | tuple[int, int, int] | tuple[int, int, int, int]
"""What a drawing call accepts as a colour."""

NAMES = {
    "black": "#000000", "white": "#ffffff", "gray": "#808080", "silver": "#c0c0c0",
    "red": "#e03131", "orange": "#f08c00", "yellow": "#ffd43b", "green": "#2f9e44", "teal": "#0c8599",
    "blue": "#1971c2", "navy": "#1b2a49", "purple": "#7048e8", "pink": "#e64980", "brown": "#8d5b3a",
}  # fmt: skip
"""Names for a calm palette; black, white, gray and silver are CSS's own."""

HEX = re.compile("#([0-9a-fA-F]{3,4}|[0-9a-fA-F]{6}|[0-9a-fA-F]{8})")


class RGBA(NamedTuple):
    """A colour as it is stored: each channel from 0 to 255, alpha 255 for opaque.

    >>> parse_color("#ff000080")
    RGBA(red=255, green=0, blue=0, alpha=128)
    """

    red: int
    green: int
    blue: int
    alpha: int = 255


def parse_color(color: object, where: str = "color") -> RGBA:
    """The channels of a colour; `where` begins the message when it is none.

    >>> parse_color((10, 20, 30))
    RGBA(red=10, green=20, blue=30, alpha=255)
    """
    found = _from_text(color) if isinstance(color, str) else _from_channels(color)
    if found is None:
        raise InvalidArgument(
            f"{where}: expected (r, g, b) or (r, g, b, a) with integers from 0 to 255, '#rrggbb', '#rrggbbaa' "
            f"or one of {listing(NAMES)}, got {shorten(color)}"
        )
    return found


@lru_cache(maxsize=1024)
def _from_text(text: str) -> RGBA | None:
    found = HEX.fullmatch(NAMES.get(text.lower(), text))
    if found is None:
        return None
    digits = found[1] if len(found[1]) > 4 else "".join(digit * 2 for digit in found[1])
    return RGBA(*bytes.fromhex(digits))


def _from_channels(color: object) -> RGBA | None:
    if not is_iterable(color):
        return None
    try:
        channels = [index(channel) for channel in cast(Iterable[SupportsIndex], color)]
    except TypeError:
        return None
    if len(channels) not in (3, 4) or not all(0 <= channel <= 255 for channel in channels):
        return None
    return RGBA(*channels)
