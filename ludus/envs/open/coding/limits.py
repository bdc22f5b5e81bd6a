"""`CodingLimits`: what code of an agent may use up."""

import msgspec

from ludus.errors import InvalidArgument, shorten

__all__ = ["CodingLimits"]


class CodingLimits(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Limits of one cell, and of its interpreter; each that is reached is named in `info["limit"]`.

    >>> CodingLimits(seconds=2.0).memory
    268435456
    """

    seconds: float = 5.0
    """For a cell, and for each call of a function that is graded."""
    memory: int = 256 << 20
    """Bytes of the interpreter and all that it starts."""
    processes: int = 16
    output: int = 64 << 10
    """Bytes of stdout, and as many of stderr, that are kept."""
    disk: int = 16 << 20
    grading_seconds: float = 20.0
    """For all of a grading."""

    def __post_init__(self) -> None:
        for name in self.__struct_fields__:
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int | float) or not value > 0:
                raise InvalidArgument(f"Coding limits {name}: expected a number above 0, got {shorten(value)}")
