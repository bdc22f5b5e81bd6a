"""Arguments of wrappers, checked in one place."""

from ludus.errors import InvalidArgument, InvalidType, shorten
from ludus.spaces.kinds import is_integer

__all__ = ["positive"]


def positive(name: str, value: object, least: int = 1) -> int:
    """`value` as an integer of at least `least`."""
    if not is_integer(value) or isinstance(value, bool):
        raise InvalidType(f"{name}: expected an integer of at least {least}, got {shorten(value)}")
    if value < least:
        raise InvalidArgument(f"{name}: expected an integer of at least {least}, got {value}")
    return int(value)
