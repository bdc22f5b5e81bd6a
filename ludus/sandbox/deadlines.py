"""`Deadlines`: how long an environment in a process of its own may take for each thing that is asked of it."""

import msgspec

from ludus.errors import InvalidArgument, shorten

__all__ = ["STEP_DEADLINE_S", "Deadlines"]

STEP_DEADLINE_S = 30.0


class Deadlines(msgspec.Struct, frozen=True, kw_only=True):
    """Seconds, or None for no deadline. Past one, the process is killed. The defaults of all of Ludus are here.

    >>> Deadlines(step=0.5).reset
    60.0
    """

    start: float | None = 60.0
    """Until the environment is made: interpreter, imports and constructor."""
    reset: float | None = 60.0
    step: float | None = STEP_DEADLINE_S
    other: float | None = STEP_DEADLINE_S
    """Rendering, attributes, snapshots."""
    close: float | None = 5.0

    def __post_init__(self) -> None:
        for name in self.__struct_fields__:
            value: object = getattr(self, name)
            if value is not None and (isinstance(value, bool) or not isinstance(value, int | float) or not value > 0):
                raise InvalidArgument(f"deadlines.{name}: expected seconds above 0, or None, got {shorten(value)}")

    @staticmethod
    def of(given: "Deadlines | float | None") -> "Deadlines":
        """Deadlines as they are; a number is the one of a step; None is the defaults.

        >>> Deadlines.of(5) == Deadlines(step=5), Deadlines.of(None) == Deadlines()
        (True, True)
        """
        if given is None:
            return Deadlines()
        return given if isinstance(given, Deadlines) else Deadlines(step=given)
