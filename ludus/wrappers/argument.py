"""Arguments of wrappers, checked in one place."""

from typing import Any

import numpy as np

from ludus.errors import InvalidArgument, InvalidType, shorten

__all__ = ["positive"]


def positive(name: str, value: Any, least: int = 1) -> int:
    """`value` as an integer of at least `least`."""
    if not isinstance(value, int | np.integer) or isinstance(value, bool):
        raise InvalidType(f"{name}: expected an integer of at least {least}, got {shorten(value)}")
    if value < least:
        raise InvalidArgument(f"{name}: expected an integer of at least {least}, got {value}")
    return int(value)
